"""Two scorers beside each other: shifts, moves, order, and systems that change places."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from analysis.core.errors import AnalysisError
from analysis.statistics.agreement.scorer_comparison import shift_lines, two_scorers


def table(scores: dict[str, np.ndarray], repeat: int = 0) -> pd.DataFrame:
    """Return a score table of scores (queries, systems), NaN where missing."""
    return pd.DataFrame(
        [
            {
                "response_id": f"q{query}-{system}",
                "query_id": f"q{query}",
                "system": "ABCDEFGH"[system],
                "construct": "QR",
                "scorer": scorer,
                "repeat": repeat,
                "value": value,
            }
            for scorer, values in scores.items()
            for (query, system), value in np.ndenumerate(values)
        ]
    )


def test_the_shift_is_the_mean_difference_with_the_interval_of_a_paired_t() -> None:
    rng = np.random.default_rng(1)
    first = rng.uniform(20, 80, (40, 1))
    second = first + rng.normal(3, 5, first.shape)
    (comparison,) = two_scorers(table({"a": first, "b": second}), "a", "b")
    apart = (second - first)[:, 0]
    assert comparison.shift.value == pytest.approx(apart.mean())
    assert comparison.moved.value == pytest.approx(np.abs(apart).mean())
    assert comparison.shift.low is not None
    assert comparison.shift.high is not None
    # One response a query: but for the degrees of freedom, which follow the tails, it is the
    # textbook's interval.
    half = t.ppf(0.975, 39) * apart.std(ddof=1) / np.sqrt(40)
    assert (comparison.shift.high - comparison.shift.low) / 2 == pytest.approx(half, rel=0.1)
    back = two_scorers(table({"a": first, "b": second}), "b", "a")[0]
    assert back.shift.value == pytest.approx(-comparison.shift.value)


def test_the_largest_moves_come_first_and_what_stays_is_counted() -> None:
    first = np.full((6, 2), 50.0)
    second = first.copy()
    second[2, 1], second[4, 0], second[5, 0] = 90, 40, 51
    (comparison,) = two_scorers(table({"a": first, "b": second}), "a", "b")
    assert comparison.equal == pytest.approx(9 / 12)
    assert [(m.response_id, m.first, m.second) for m in comparison.largest] == [
        ("q2-1", 50, 90),
        ("q4-0", 50, 40),
        ("q5-0", 50, 51),
    ]


def test_what_one_alone_has_scored_is_counted_and_enters_nothing() -> None:
    first = np.arange(20.0).reshape(10, 2)
    second = first + 1
    first[0, 0] = second[1, 0] = second[2, 0] = np.nan
    (comparison,) = two_scorers(table({"a": first, "b": second}), "a", "b")
    assert (comparison.n_both, comparison.n_first_only, comparison.n_second_only) == (17, 2, 1)
    assert comparison.shift.value == 1
    assert "17 responses scored by both; 2 only by the first, 1 only by the second" in "\n".join(
        shift_lines([comparison])
    )


def test_systems_that_change_their_order_are_named_with_both_differences() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 2, (30, 3))
    first = np.array([40.0, 60.0, 80.0]) + noise
    second = np.array([60.0, 40.0, 80.0]) + noise
    (comparison,) = two_scorers(table({"a": first, "b": second}), "a", "b")
    assert comparison.n_pairs == 3
    (pair,) = comparison.turned
    assert pair.systems == ("A", "B")
    assert pair.decision == "opposite"
    assert pair.first.value == pytest.approx((first[:, 0] - first[:, 1]).mean())
    assert pair.second.value == pytest.approx((second[:, 0] - second[:, 1]).mean())
    assert pair.first.high is not None
    assert pair.first.high < 0
    lines = shift_lines([comparison])
    assert any("1 of 3 pairs change their order" in line for line in lines)
    assert any("A minus B: -" in line and "both intervals exclude 0" in line for line in lines)


def test_equal_means_change_no_order_by_rounding() -> None:
    # 0.1 + 0.2 and 0.3 are equal means that floats tell apart.
    first = np.array([[0.1, 0.3], [0.2, 0.0]])
    second = np.array([[0.0, 1.0], [0.0, 0.0]])
    (comparison,) = two_scorers(table({"a": first, "b": second}), "a", "b")
    assert comparison.turned == ()


def test_pairs_that_share_no_query_are_not_counted() -> None:
    scores = np.array([[1.0, 2.0, np.nan], [3.0, 5.0, np.nan], [np.nan, np.nan, 4.0]])
    (comparison,) = two_scorers(table({"a": scores, "b": scores}), "a", "b")
    assert comparison.n_pairs == 1


def test_two_scorers_with_equal_scores_are_said_to_be_equal() -> None:
    scores = np.random.default_rng(3).integers(0, 101, (12, 3)).astype(float)
    (comparison,) = two_scorers(table({"a": scores, "b": scores}), "a", "b")
    assert (comparison.equal, comparison.shift.value, comparison.moved.value) == (1.0, 0.0, 0.0)
    assert comparison.order_within_queries.value == pytest.approx(1)
    assert (comparison.largest, comparison.turned) == ((), ())


def test_a_response_that_two_systems_gave_counts_once_and_for_both() -> None:
    frame = table({"a": np.array([[10.0], [20.0]]), "b": np.array([[30.0], [20.0]])})
    shared = pd.concat([frame, frame.assign(system="B")], ignore_index=True)
    (comparison,) = two_scorers(shared, "a", "b")
    assert comparison.n_both == 2
    assert comparison.shift.value == 10
    assert comparison.n_pairs == 1


def test_of_repeats_the_first_is_compared() -> None:
    first, later = np.full((5, 2), 10.0), np.full((5, 2), 99.0)
    frame = pd.concat([table({"a": first, "b": first}), table({"a": later}, repeat=1)])
    (comparison,) = two_scorers(frame, "a", "b")
    assert comparison.equal == 1


def test_nothing_in_common_is_said() -> None:
    frame = table({"a": np.ones((2, 2)), "b": np.ones((2, 2))})
    with pytest.raises(AnalysisError, match="no scores of 'c'"):
        two_scorers(frame, "a", "c")
    frame.loc[frame["scorer"] == "b", "construct"] = "CC"
    with pytest.raises(AnalysisError, match="no construct in common"):
        two_scorers(frame, "a", "b")
    none = table({"a": np.full((2, 2), np.nan), "b": np.ones((2, 2))})
    (comparison,) = two_scorers(none, "a", "b")
    assert (comparison.n_both, comparison.equal, comparison.shift.value) == (0, None, None)
    assert comparison.shift.reason
    assert shift_lines([comparison])[1].startswith("QR: 0 responses scored by both")
