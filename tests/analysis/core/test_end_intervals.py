"""Intervals at the end of a range and of equal values."""

import math

import pytest
from scipy import stats

from analysis.core.end_intervals import all_alike, equal_values_interval, few_differ, rare_quantile
from analysis.statistics.plain.intervals import jackknife


@pytest.mark.parametrize("trials", [5, 20, 100, 400])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_share_of_all_or_none_has_the_interval_of_clopper_and_pearson(
    trials: int, level: float
) -> None:
    for successes in (0, trials):
        peer = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
        found = all_alike(successes / trials, (0.0, 1.0), trials, level)
        assert (found.low, found.high) == pytest.approx((peer.low, peer.high))


def test_a_correlation_of_one_is_known_up_to_that_share_and_differs_from_zero() -> None:
    found = all_alike(1.0, (-1.0, 1.0), 100, 0.95)
    assert (found.low, found.high) == pytest.approx((2 * 0.025 ** (1 / 100) - 1, 1.0))
    assert found.p < 1e-20
    reversed_ = all_alike(-1.0, (-1.0, 1.0), 100, 0.95)
    assert (reversed_.low, reversed_.high) == pytest.approx((-found.high, -found.low))


def test_equal_values_may_differ_by_a_step_of_one_response() -> None:
    found = equal_values_interval(1.0, 1.0, 100, 0.95)
    reach = stats.t.ppf(0.975, 99) / 100
    assert (found.low, found.high) == pytest.approx((1 - reach, 1 + reach))
    assert found.p < 1e-10


def test_values_of_which_few_differ() -> None:
    assert few_differ([0.9] * 99 + [0.8])
    assert few_differ([0.90, 0.91] * 10 + [0.1])
    assert not few_differ([i / 100 for i in range(100)])
    assert not few_differ([])


@pytest.mark.parametrize("count", [20, 100, 400])
def test_one_response_that_differs_asks_for_no_more_than_two_that_do(count: int) -> None:
    usual = stats.t.ppf(0.975, count - 1)
    quantiles = [rare_quantile(0.975, df, count) for df in (1.0, 2.0, 5.0, count - 1.0)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert quantiles[0] <= math.sqrt(3) * usual + 1e-9
    assert quantiles[-1] >= usual - 1e-9


def test_a_kappa_of_few_disagreements_has_the_degrees_of_freedom_of_all_responses() -> None:
    # 98 of 100 verdicts are equal, one of each kind is not (kappa .96): the standard error of
    # Cohen (1960, Educational and Psychological Measurement 20:37-46) is .029.
    without = [0.9576] * 57 + [0.9574] * 41 + [0.979, 0.9791]
    found = jackknife(0.958, without, 0.95, "fisher_z", trials=100)
    assert 0.7 < found.low < 0.9
    assert 0.98 < found.high < 1
