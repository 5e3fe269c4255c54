"""Status, pages, planning and score table count the same ratings and slots."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.monitoring.stopping_rule import completed_queries
from annotate_ui.participants.invitation import list_links, open_slots
from annotate_ui.participants.withdrawal import leave
from annotate_ui.server.application import campaign_counts
from annotate_ui.tasks.assignments import items_of, values_done
from study import Study, study_status
from study.assignment.existing_assignments import existing_assignments
from study.facts.rating_progress import RatingProgress, read_records
from study.facts.ratings import ratings_that_count
from study.schema.tables import assignments, ratings
from tests.study.rating_fixtures import (
    Rated,
    add_assignment,
    add_rater,
    add_ratings,
    add_responses,
)

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


def progress_of(study: Study) -> RatingProgress:
    progress = study_status(study).rating
    assert progress is not None
    return progress


def asked_twice(study: Study, *, first: list[float | Rated]) -> tuple[int, int]:
    """A rater was given a response, lost it to another, and was given it again.

    Returns the response and the second assignment.
    """
    (response,) = add_responses(study)
    anna, ben = add_rater(study, "anna"), add_rater(study, "ben")
    lost = add_assignment(study, anna, response, ["QR"])
    taken = add_assignment(study, ben, response, ["QR"], replaces_id=lost)
    again = add_assignment(study, anna, response, ["QR"], replaces_id=taken)
    add_ratings(study, lost, "QR", first)
    return response, again


def test_what_a_rater_is_asked_for_twice_is_expected_once(any_study: Study) -> None:
    response, again = asked_twice(any_study, first=[10.0])
    add_ratings(any_study, again, "QR", [70.0])
    cara = add_rater(any_study, "cara")
    add_ratings(any_study, add_assignment(any_study, cara, response, ["QR"]), "QR", [30.0])
    progress, scores = progress_of(any_study), any_study.score_table()
    counted = int(scores["value"].notna().sum())
    assert (progress.values, progress.values_expected) == (counted, 2) == (2, 2)
    quality, *_ = campaign_progress(any_study).constructs
    assert (quality.values, quality.expected) == (2, 2)
    with any_study.read() as connection:
        versions = any_study.construct_versions(connection)
        # The query does not wait for the second rating, which never counts.
        assert completed_queries(read_records(connection, versions), "QR") == [1]
        of_response = ratings.c.assignment_id.in_(select(assignments.c.id))
        values = [rating.value for rating in ratings_that_count(connection, of_response)]
    assert values == scores["value"].dropna().tolist() == [10.0, 30.0]


def test_the_later_assignment_counts_where_the_rating_in_the_earlier_is_withdrawn(
    any_study: Study,
) -> None:
    _, again = asked_twice(any_study, first=[10.0, "withdrawn"])
    assert (progress_of(any_study).values, progress_of(any_study).values_expected) == (0, 1)
    add_ratings(any_study, again, "QR", [70.0])
    assert (progress_of(any_study).values, progress_of(any_study).values_expected) == (1, 1)
    with any_study.read() as connection:
        (rating,) = ratings_that_count(connection)
        records = read_records(connection, any_study.construct_versions(connection))
        assert completed_queries(records, "QR") == [1]
    assert rating.value == 70.0


def test_a_withdrawn_rating_is_asked_for_again_on_every_page(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    anna = add_rater(any_study, "anna")
    add_ratings(
        any_study,
        add_assignment(any_study, anna, response, ["QR", "CC"]),
        "QR",
        [10.0, "withdrawn"],
    )
    with any_study.read() as connection:
        (item,) = items_of(connection, any_study.config, anna)
        assert (item.rated, item.complete) == (frozenset(), False)
        assert values_done(connection, any_study.config, anna) == (0, 2)
    (rater,) = progress_of(any_study).raters
    assert (rater.values, rater.own_left) == (0, 2)


def test_a_construct_that_study_toml_no_longer_has_leaves_no_work(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    anna = add_rater(any_study, "anna")
    add_ratings(any_study, add_assignment(any_study, anna, response, ["QR", "gone"]), "QR", [10.0])
    assert progress_of(any_study).raters[0].own_left == 0
    assert campaign_counts(any_study).left == 0
    assert leave(any_study, anna, "withdrew") == 0
    with any_study.read() as connection:
        (assignment,) = existing_assignments(connection, any_study.config)
    assert (assignment.counts, assignment.vacant) == (True, False)


@pytest.mark.parametrize("ending", ["released", "handed on"])
def test_a_slot_that_is_not_live_is_nobodys_work(any_study: Study, ending: str) -> None:
    (response,) = add_responses(any_study)
    anna = add_rater(any_study, "anna")
    released_at = NOON if ending == "released" else None
    slot = add_assignment(any_study, anna, response, ["QR"], released_at=released_at)
    add_assignment(any_study, None, response, ["QR"], released_at=released_at)
    if ending == "handed on":
        add_assignment(any_study, add_rater(any_study, "ben"), response, ["QR"], replaces_id=slot)
    live = 0 if ending == "released" else 2
    assert campaign_counts(any_study).assignments == live
    assert progress_of(any_study).values_expected == live
    waiting = progress_of(any_study).open_slots
    assert open_slots(any_study) == waiting == (ending == "handed on")
    assert list_links(any_study)[0].assignments == progress_of(any_study).raters[0].responses == 0
