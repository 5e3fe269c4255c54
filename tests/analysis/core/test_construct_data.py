import numpy as np
import pandas as pd

from analysis.core.construct_data import construct_data, mean_over
from tests.analysis.scores import rows, simulated, table


def test_arrays_hold_each_response_once_with_the_systems_that_gave_it() -> None:
    frame = rows(
        {"system": "A", "value": 10},
        {"system": "B", "value": 10},
        {"response_id": "r2", "query_id": "q2", "system": "A", "value": 30},
        {"scorer": "bob", "value": 20},
        {"scorer": "gpt", "scorer_kind": "judge", "response_id": "r2", "query_id": "q2"},
    )
    data = construct_data(table(frame), "QR")
    assert data.responses == ("r1", "r2")
    assert data.raters == ("ann", "bob")
    np.testing.assert_array_equal(data.ratings, [[10, 20], [30, np.nan]])
    np.testing.assert_array_equal(data.produced, [[True, True], [True, False]])
    np.testing.assert_array_equal(data.reference, [15, 30])
    np.testing.assert_array_equal(data.scorers["gpt"], [np.nan, 50])
    assert data.query.tolist() == [0, 1]
    assert not data.several_a_query


def test_ratings_are_kept_of_rated_responses_only() -> None:
    judged = [
        {"scorer": "gpt", "scorer_kind": "judge", "response_id": f"r{i}", "query_id": f"q{i}"}
        for i in range(1, 6)
    ]
    rated = {"response_id": "r3", "query_id": "q3", "value": 20}
    data = construct_data(
        table(rows(*judged, rated, {**rated, "scorer": "bob", "value": 40})), "QR"
    )
    assert data.rated.tolist() == [2]
    assert data.ratings_given.tolist() == [[20, 40]]
    np.testing.assert_array_equal(data.ratings_by("bob"), [np.nan, np.nan, 40, np.nan, np.nan])
    np.testing.assert_array_equal(data.reference, [np.nan, np.nan, 30, np.nan, np.nan])
    assert data.ratings.shape == (5, 2)


def test_only_first_scores_enter() -> None:
    frame = rows({"value": 10}, {"value": 90, "repeat": 1})
    assert construct_data(table(frame), "QR").ratings.tolist() == [[10]]


def test_a_rater_without_a_rating_on_the_construct_is_none() -> None:
    frame = rows(
        {"value": 10},
        {"scorer": "bob", "value": None},
        {"scorer": "bob", "construct": "AC", "value": 20},
    )
    scores = table(frame)
    assert construct_data(scores, "QR").raters == ("ann",)
    assert construct_data(scores, "AC").raters == ("bob",)


def test_the_adjudicated_reference_is_never_mixed_with_raters() -> None:
    frame = rows(
        {"value": 10},
        {"response_id": "r2", "value": 20},
        {"scorer": "final", "scorer_kind": "adjudicated", "value": 80},
    )
    by_raters = construct_data(table(frame), "QR")
    adjudicated = construct_data(table(frame), "QR", "adjudicated")
    np.testing.assert_array_equal(by_raters.reference, [10, 20])
    np.testing.assert_array_equal(adjudicated.reference, [80, np.nan])


def test_a_missing_reference_says_why() -> None:
    judge = rows({"scorer": "gpt", "scorer_kind": "judge"})
    assert construct_data(table(judge), "QR").reference_missing == "no human rating on QR"
    two = pd.concat([rows({"scorer": name, "scorer_kind": "adjudicated"}) for name in ("x", "y")])
    assert "several adjudicated scorers (x, y)" in str(
        construct_data(table(two), "QR", "adjudicated").reference_missing
    )


def test_queries_can_be_restricted_and_keep_their_codes() -> None:
    scores = table(simulated(queries=4, systems=2))
    data = construct_data(scores, "QR", queries=("q2", "q0"))
    assert data.n_queries == 2
    assert sorted(data.responses) == ["r0", "r1", "r4", "r5"]
    assert dict(zip(data.responses, data.query, strict=True))["r4"] == 0


def test_the_mean_of_no_ratings_is_missing() -> None:
    np.testing.assert_array_equal(
        mean_over(np.array([[1.0, np.nan], [np.nan, np.nan]])), [1, np.nan]
    )
    assert np.isnan(mean_over(np.empty((2, 0)))).all()
