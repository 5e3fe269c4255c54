"""Raters leave: what is finished stays, what is not goes back, and nothing else changes."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from annotate_ui.participants.enrolment import enrol, make_link
from annotate_ui.participants.invitation import invite, list_links
from annotate_ui.participants.withdrawal import leave, readmit
from annotate_ui.participation import lock_slots
from annotate_ui.tasks.slot_queue import take_slots
from study import Study, StudyError
from study.facts.departures import departures, has_left
from study.schema import (
    now,
)
from study.schema.tables import (
    assignments as assignment_table,
    comparisons,
    departures as departure_table,
    invitations,
    rater_answers,
    ratings,
    responses,
)
from tests.annotate_ui.participants.enrolled_raters import assignments, rate
from tests.annotate_ui.rated_campaign import fill, give


def take(study: Study, rater_id: int) -> int:
    """Hand out slots to a rater; return how many they took."""
    before = len(assignments(study, rater_id))
    with study.write() as connection:
        lock_slots(connection)
        take_slots(connection, study, rater_id)
    return len(assignments(study, rater_id)) - before


def rater_of(study: Study, code: str) -> int:
    rater_id = give(study, code)
    assert rater_id is not None
    return rater_id


def joined(study: Study, quota: int = 9) -> tuple[int, int]:
    """Return two raters who enrolled by one link."""
    token = make_link(study, "spring", quota)[1].rpartition("/")[2]
    return enrol(study, token, "one").rater_id, enrol(study, token, "two").rater_id


@pytest.mark.parametrize("kind", ["withdrew", "removed"])
def test_finished_ratings_stay_and_the_rest_goes_back(any_study: Study, kind: str) -> None:
    fill(any_study, queries=2, systems=2)
    anna, ben = rater_of(any_study, "anna"), rater_of(any_study, "ben")
    invite(any_study)
    rate(any_study, anna, least=1, keys=2)
    assert leave(any_study, anna, kind) == 4
    assert all(row.released_at is not None for row in assignments(any_study, anna))
    assert all(row.released_at is None for row in assignments(any_study, ben))
    with any_study.read() as connection:
        values = connection.execute(select(ratings)).all()
        assert len(values) == 6, "what was saved in the three that are unfinished stays"
        assert has_left(connection, anna)
        assert not has_left(connection, ben)
        assert departures(connection) == {anna: kind}
    assert [link.live for link in list_links(any_study)] == [False, True]
    # Again: nothing more happens.
    assert leave(any_study, anna, "removed") is None
    with any_study.read() as connection:
        assert len(connection.execute(select(departure_table)).all()) == 1


def test_a_finished_assignment_is_not_released(any_study: Study) -> None:
    fill(any_study, queries=2, systems=1)
    anna = rater_of(any_study, "anna")
    rate(any_study, anna, least=1)
    assert leave(any_study, anna, "withdrew") == 1
    assert [row.released_at is None for row in assignments(any_study, anna)] == [False, True]


def test_comparisons_that_are_not_decided_go_back(any_study: Study) -> None:
    fill(any_study, queries=1, systems=3)
    anna = rater_of(any_study, "anna")
    with any_study.write() as connection:
        rows = connection.execute(
            select(responses.c.id, responses.c.query_id).order_by(responses.c.id)
        ).all()
        for a, b in ((0, 1), (0, 2)):
            connection.execute(
                insert(comparisons).values(
                    rater_id=anna,
                    query_id=rows[0].query_id,
                    response_a_id=rows[a].id,
                    response_b_id=rows[b].id,
                    construct_key="QR",
                    config_hash="x",
                )
            )
        decided = (
            connection.execute(select(comparisons.c.id).order_by(comparisons.c.id))
            .scalars()
            .first()
        )
        connection.execute(
            insert(rater_answers).values(
                comparison_id=decided,
                kind="choice",
                construct_key="QR",
                construct_version=1,
                revision=1,
                value=1.0,
                status="rated",
                revealed=[],
                config_hash="x",
            )
        )
    assert leave(any_study, anna, "withdrew") == 4
    with any_study.read() as connection:
        released = (
            connection.execute(select(comparisons.c.released_at).order_by(comparisons.c.id))
            .scalars()
            .all()
        )
    assert [at is None for at in released] == [True, False]
    readmit(any_study, "anna")
    with any_study.read() as connection:
        assert set(connection.execute(select(comparisons.c.released_at)).scalars()) == {None}


def test_slots_released_by_an_enrolled_rater_go_to_the_next(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    give(any_study, None)
    first, second = joined(any_study)
    assert take(any_study, first) == 2
    assert take(any_study, second) == 0
    rate(any_study, first, least=1)
    assert leave(any_study, first, "withdrew") == 1
    assert take(any_study, second) == 1
    (slot,) = assignments(any_study, second)
    assert slot.replaces_id == assignments(any_study, first)[0].id


def test_expired_slots_of_an_enrolled_rater_go_to_the_next(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    give(any_study, None)
    first, second = joined(any_study)
    take(any_study, first)
    with any_study.write() as connection:
        connection.execute(
            update(assignment_table)
            .where(assignment_table.c.rater_id == first)
            .values(leased_until=now() - timedelta(minutes=1))
        )
    assert take(any_study, second) == 2
    # What was handed on is not given back a second time.
    assert leave(any_study, first, "withdrew") == 0


def test_a_readmitted_rater_regains_free_slots_and_gets_a_new_link(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    give(any_study, None)
    first, second = joined(any_study)
    take(any_study, first)
    leave(any_study, first, "withdrew")
    with pytest.raises(StudyError, match=r"'rater-1' left the study.*--readmit rater-1"):
        invite(any_study, ["rater-1"])
    assert [made.rater for made in invite(any_study)] == [], "whoever left is not invited unasked"
    assert readmit(any_study, "rater-1") == first
    assert {row.released_at for row in assignments(any_study, first)} == {None}
    with any_study.read() as connection:
        assert departures(connection) == {}
    (again,) = invite(any_study, ["rater-1"])
    assert again.assignments == 2
    leave(any_study, first, "removed")
    take(any_study, second)
    readmit(any_study, "rater-1")
    assert all(row.released_at is not None for row in assignments(any_study, first))


def test_a_session_ends_with_its_rater(study: Study) -> None:
    token = make_link(study, "spring", 1)[1].rpartition("/")[2]
    made = enrol(study, token)
    leave(study, made.rater_id, "withdrew")
    with study.read() as connection:
        revoked_at = select(invitations.c.revoked_at).where(invitations.c.id == made.invitation_id)
        assert connection.execute(revoked_at).scalar() is not None


def test_slots_released_before_a_rater_left_are_not_regained(
    study: Study,
) -> None:
    fill(study)
    anna = rater_of(study, "anna")
    earlier = now() - timedelta(hours=1)
    first = assignments(study, anna)[0].id
    with study.write() as connection:
        connection.execute(
            update(assignment_table)
            .where(assignment_table.c.id == first)
            .values(released_at=earlier)
        )
    assert leave(study, anna, "withdrew") == 3
    readmit(study, "anna")
    released = {row.id: row.released_at for row in assignments(study, anna) if row.released_at}
    assert released == {first: earlier}


def test_an_unknown_rater_is_not_readmitted(study: Study) -> None:
    fill(study)
    rater_of(study, "anna")
    with pytest.raises(StudyError, match="Did you mean 'anna'"):
        readmit(study, "ana")
