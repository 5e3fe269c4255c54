"""Which of a rater's values counts in the score table."""

from itertools import count

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from study import Study
from study.errors import StudyError
from study.facts.rating_progress import rating_progress
from study.facts.ratings import Edits
from study.schema import Output
from tests.conftest import examples
from tests.study.rating_fixtures import (
    Rated,
    add,
    add_assignment,
    add_rater,
    add_ratings,
    add_responses,
)

TOO_LATE = "first given after a later stage was shown"
AGAIN = "given to a response a second time by the same rater"

revision = st.builds(
    Rated,
    st.one_of(
        st.integers(0, 3).map(float), st.sampled_from(["cannot_judge", "skipped", "withdrawn"])
    ),
    st.booleans(),
    st.booleans(),
)
histories = st.dictionaries(
    st.sampled_from(["QR", "CC", "ID", "AC", "IR"]),
    st.lists(revision, min_size=1, max_size=4),
    min_size=1,
)


def answers_of(
    study: Study, code: str, edits: Edits = "before_reveal"
) -> dict[tuple[str, int], float | str]:
    """What a rater's rows say, by construct and repeat: the value or why there is none."""
    rows = study.score_table(edits)
    rows = rows[rows["scorer"] == code]
    answers = rows["value"].astype("object").where(rows["value"].notna(), rows["missing_reason"])
    return dict(zip(zip(rows["construct"], rows["repeat"], strict=True), answers, strict=True))


def counts(study: Study) -> tuple[int, dict[str, int]]:
    scores = study.score_table()
    return scores.attrs["edited"], scores.attrs["left_out"]


def expected(history: list[Rated]) -> tuple[float | str | None, bool]:
    """What counts of a rating (None: nothing) and whether it was changed later."""
    last = history[-1].answer
    in_time = [entry.answer for entry in history if not entry.after_reveal]
    if last == "withdrawn":
        return "withdrawn", False
    if not in_time:
        return None, False
    first = in_time[-1]
    if isinstance(first, str) and isinstance(last, str):
        return first, False
    return first, first != last


def test_the_last_value_before_the_reveal_counts(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    numbers = count()

    @settings(
        max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(histories)
    @example({"QR": [Rated("withdrawn"), Rated(0.0, after_reveal=True)]})
    def holds(by_construct: dict[str, list[Rated]]) -> None:
        edited, left_out = counts(any_study)
        code = f"rater {next(numbers)}"
        rated = add_assignment(any_study, add_rater(any_study, code), response, by_construct)
        for key, history in by_construct.items():
            add_ratings(any_study, rated, key, history)
        wanted = {key: expected(history) for key, history in by_construct.items()}
        assert answers_of(any_study, code) == {
            (key, 0): value for key, (value, _) in wanted.items() if value is not None
        }
        assert answers_of(any_study, code, "last") == {
            (key, 0): history[-1].answer for key, history in by_construct.items()
        }
        now_edited, now_left_out = counts(any_study)
        assert now_edited - edited == sum(changed for _, changed in wanted.values())
        nothing = sum(value is None for value, _ in wanted.values())
        assert now_left_out.get(TOO_LATE, 0) - left_out.get(TOO_LATE, 0) == nothing

    holds()


def test_a_slot_that_came_back_to_its_rater_gives_one_value(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    anna, ben = add_rater(any_study, "anna"), add_rater(any_study, "ben")
    first = add_assignment(any_study, anna, response, ["QR", "CC"])
    handed_on = add_assignment(any_study, ben, response, ["QR"], replaces_id=first)
    again = add_assignment(any_study, anna, response, ["QR", "CC"], replaces_id=handed_on)
    repeat = add_assignment(any_study, anna, response, ["QR"], purpose="repeat", repeat=1)
    add_ratings(any_study, again, "QR", [90.0])
    add_ratings(any_study, again, "CC", [70.0])
    add_ratings(any_study, first, "QR", [Rated(10.0, late=True)])
    add_ratings(any_study, handed_on, "QR", [40.0])
    add_ratings(any_study, repeat, "QR", [20.0])
    # The earliest assignment with a rating, however late that was saved; a repeat is another.
    assert answers_of(any_study, "anna") == {("CC", 0): 70.0, ("QR", 0): 10.0, ("QR", 1): 20.0}
    assert answers_of(any_study, "ben") == {("QR", 0): 40.0}
    assert counts(any_study) == (0, {AGAIN: 1})
    assert any_study.score_table("last").attrs["left_out"] == {AGAIN: 1}
    with any_study.read() as connection:
        progress = rating_progress(connection, any_study.construct_versions(connection))
    assert progress is not None
    counted = sum(any_study.score_table()["value"].notna())
    assert progress.as_json()["values"] == counted


def test_nothing_that_is_no_measurement_is_counted_as_left_out(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    anna = add_rater(any_study, "anna")
    for purpose in ("training", "calibration", "check"):
        learning = add_assignment(any_study, anna, response, ["QR"], purpose=purpose)
        add_ratings(any_study, learning, "QR", [Rated(5.0, after_reveal=True)])
    add_assignment(any_study, None, response, ["QR"])
    assert answers_of(any_study, "anna") == {}
    assert counts(any_study) == (0, {})


def test_a_response_of_several_systems_is_one_edited_value(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    add(any_study, Output, {"query_id": 1, "system": "B", "revision": 1, "response_id": response})
    rated = add_assignment(any_study, add_rater(any_study, "anna"), response, ["QR"])
    add_ratings(any_study, rated, "QR", [10.0, Rated(30.0, after_reveal=True)])
    assert counts(any_study) == (1, {})
    pd.testing.assert_frame_equal(
        any_study.score_table().assign(value=30.0), any_study.score_table("last")
    )


def test_an_unknown_choice_of_edits_is_refused(study: Study) -> None:
    with pytest.raises(StudyError, match="before_reveal, last"):
        study.score_table("first")


def test_a_raters_values_have_their_places_in_the_order_of_committing(study: Study) -> None:
    first, second = add_responses(study, queries=2)
    rater = add_rater(study, "anna")
    for response in (second, first):
        assignment = add_assignment(study, rater, response, ["QR"])
        add_ratings(study, assignment, "QR", [40.0, 45.0])
    table = study.score_table()
    assert table.set_index("response_id")["position"].to_dict() == {"r0": 2.0, "r1": 1.0}


def test_an_adjudicator_is_a_scorer_of_another_kind(any_study: Study) -> None:
    first, second = add_responses(any_study, 2)
    dora = add_rater(any_study, "dora")
    main = add_assignment(any_study, dora, first, ["QR"], layout="side_by_side")
    add_ratings(any_study, main, "QR", [50.0])
    drawn = {"purpose": "adjudication", "inclusion_prob": 0.25, "stratum": "random"}
    adjudicated = add_assignment(any_study, dora, second, ["QR"], **drawn)
    add_ratings(any_study, adjudicated, "QR", [80.0, Rated(60.0, after_reveal=True)])
    blind, informed = any_study.score_table(), any_study.score_table("last")
    shown = ["scorer", "scorer_kind", "value", "inclusion_prob", "stratum", "layout"]
    assert blind[shown].to_numpy().tolist() == [
        ["dora", "human", 50.0, 1.0, None, "side_by_side"],
        ["dora (adjudicated)", "adjudicated", 80.0, 0.25, "random", "single"],
    ]
    assert informed["value"].tolist() == [50.0, 60.0]
