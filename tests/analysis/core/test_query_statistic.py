import numpy as np
import pytest

from analysis.core.query_statistic import QueryStatistic, as_codes, as_values, comparable


def statistic(reason: str | None = None) -> QueryStatistic:
    return QueryStatistic(lambda w: w.sum(axis=1), np.array([True, False, True]), 5, 1, reason)


def test_point_counts_every_query_once() -> None:
    assert statistic().point == 3
    assert statistic().n_queries == 2


def test_undefined_statistic_is_nan_on_every_resample() -> None:
    assert np.isnan(statistic("no pairs")(np.ones((4, 3)))).all()


def test_difference_is_joint_and_keeps_the_reason() -> None:
    half = QueryStatistic(lambda w: w[:, 0], np.array([True, False, False]), 2)
    difference = statistic() - half
    weights = np.array([[2, 1, 0], [0, 3, 0]])
    assert difference(weights).tolist() == [1, 3]
    assert difference.contributing.tolist() == [True, False, True]
    assert (half - statistic("no pairs")).reason == "no pairs"


def test_weights_of_another_number_of_queries_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 4\) do not fit 3 queries"):
        statistic()(np.ones((2, 4)))


def test_infinite_values_are_refused_by_place() -> None:
    with pytest.raises(ValueError, match=r"judge: infinite value at \(1,\)"):
        as_values([0, np.inf], "judge")


@pytest.mark.parametrize(
    ("codes", "message"),
    [([0, 1], "expected"), ([0.0, 1.0, 2.0], "integer codes"), ([0, 1, 7], "expected 0 to 2")],
)
def test_bad_query_codes_are_refused(codes: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_codes(codes, 3, 3)


def test_float_noise_makes_no_order() -> None:
    values = comparable(np.array([0.1 + 0.2, 0.3, 100.0]))
    assert values[0] == values[1]
    assert comparable(np.array([np.nan, 0.0]))[1] == 0


def test_one_huge_value_makes_no_others_equal() -> None:
    values = np.array([0.1, 0.2, 0.1 + 0.2, 0.3, 1e15])
    assert np.unique(comparable(values)).tolist() == [0.1, 0.2, 0.3, 1e15]


def test_a_difference_carries_the_noise_of_what_it_was_computed_from() -> None:
    differences = np.array([100.1 - 100, 20.1 - 20, 0.1])
    size = np.array([100.1, 20.1, 0.1])
    assert np.unique(comparable(differences, size)).size == 1


def test_dense_values_do_not_run_together() -> None:
    # A thousand values in 0 to 1, on top of 1e9: a dozen digits leave steps of 0.001.
    values = 1e9 + np.linspace(0, 1, 100_001)
    levels = comparable(values)
    assert np.abs(levels - values).max() < 0.002
    assert np.unique(levels).size > 900
