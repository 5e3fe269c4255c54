import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.statistics.missingness import mean_bounds, missing_differs_by_system


@given(
    st.lists(st.one_of(st.floats(0, 100), st.just(float("nan"))), min_size=1, max_size=30),
    st.integers(0, 2**32 - 1),
)
def test_whatever_was_missing_the_mean_lies_between_the_bounds(
    values: list[float], seed: int
) -> None:
    array = np.array(values)
    result = mean_bounds(array, 0, 100)
    filled = np.where(
        np.isnan(array), np.random.default_rng(seed).uniform(0, 100, array.size), array
    )
    assert result.low - 1e-9 <= filled.mean() <= result.high + 1e-9
    assert result.missing == np.isnan(array).sum()


def test_bounds_of_nothing_and_of_a_scale_without_range() -> None:
    assert np.isnan(mean_bounds([], 0, 100).low)
    assert mean_bounds([np.nan], 1, 5).high == 5
    with pytest.raises(ValueError, match="no range"):
        mean_bounds([1.0], 5, 5)


def cochran_q(missing: np.ndarray) -> float:
    k = missing.shape[1]
    rows, columns = missing.sum(axis=1), missing.sum(axis=0)
    spread = k * (k - 1) * np.sum((columns - columns.mean()) ** 2)
    return float(spread / np.sum(rows * (k - rows)))


def test_on_complete_tables_it_is_cochrans_test() -> None:
    rng = np.random.default_rng(0)
    missing = rng.random((300, 4)) < [0.1, 0.14, 0.1, 0.18]
    test = missing_differs_by_system(missing, np.ones_like(missing), resamples=10_000)
    assert test.p == pytest.approx(stats.chi2.sf(cochran_q(missing), 3), abs=0.01)


def test_a_few_queries_are_counted_out() -> None:
    # Two queries, each with one value of three missing, of the same system: 3 of 9 ways agree.
    missing = np.array([[True, False, False]] * 2)
    test = missing_differs_by_system(missing, np.ones_like(missing), resamples=20_000)
    assert test.p == pytest.approx(1 / 3, abs=0.01)


def test_a_system_that_is_refused_is_found_and_equal_ones_are_not() -> None:
    rng = np.random.default_rng(1)
    refused = rng.random((500, 3)) < [0.1, 0.02, 0.02]
    assert missing_differs_by_system(refused, np.ones_like(refused)).p < 0.01
    low = 0
    for seed in range(100):
        equal = np.random.default_rng(seed).random((60, 3)) < 0.1
        low += missing_differs_by_system(equal, np.ones_like(equal), 200, seed).p <= 0.05
    assert low <= 12


def test_systems_that_answered_nothing_are_dealt_nothing() -> None:
    missing = np.array([[True, False, False]] * 20)
    present = np.array([[True, True, False]] * 20)
    assert missing_differs_by_system(missing, present).p < 0.01


@pytest.mark.parametrize("gone", [False, True])
def test_nothing_to_permute_has_its_reason(gone: bool) -> None:
    table = np.full((4, 3), gone)
    assert "both a missing value" in str(
        missing_differs_by_system(table, np.ones((4, 3), dtype=bool)).reason
    )
    test = missing_differs_by_system(np.full((4, 1), gone), np.ones((4, 1), dtype=bool))
    assert test.reason == "no query has responses of 2 systems"


def test_the_order_of_queries_does_not_matter_much_and_the_seed_does_not_change_the_statistic() -> (
    None
):
    rng = np.random.default_rng(2)
    missing = rng.random((50, 3)) < 0.2
    there = np.ones_like(missing)
    first, second = (missing_differs_by_system(missing, there, 2000, seed) for seed in (0, 1))
    assert first.statistic == second.statistic
    assert first.p == pytest.approx(second.p, abs=0.05)
    with pytest.raises(ValueError, match="equal"):
        missing_differs_by_system(missing, there[:, :2])
