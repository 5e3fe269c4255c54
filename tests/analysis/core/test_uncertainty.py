"""One error for tests at any threshold, intervals at any level, and probabilities."""

import numpy as np
import pytest
from scipy import stats

from analysis.core.multiple_tests import hochberg, holm
from analysis.core.uncertainty import Uncertainty

CASES = {
    "plain": (Uncertainty((4.0,), (9.0,)), 3.0),
    "two sources": (Uncertainty((4.0, 9.0), (30.0, 2.0)), 3.0),
    "fisher_z": (Uncertainty((0.01,), (40.0,), "fisher_z"), 0.7),
    "logit": (Uncertainty((0.05,), (40.0,), "logit"), 0.8),
    "skewness": (Uncertainty((1.0,), (20.0,), "skewness", 0.3), 2.0),
    "all alike": (Uncertainty((), (), trials=40, range=(-1.0, 1.0)), 1.0),
    "all fail": (Uncertainty((), (), trials=40), 0.0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_an_interval_ends_where_the_one_sided_tests_do(name: str, alpha: float) -> None:
    uncertainty, value = CASES[name]
    low, high = uncertainty.interval(value, alpha)
    assert low <= value <= high
    if low < value:
        assert uncertainty.p_at_most(value, low) == pytest.approx(alpha, rel=1e-6)
    if high > value:
        assert uncertainty.p_at_least(value, high) == pytest.approx(alpha, rel=1e-6)


def test_the_probability_is_that_of_a_flat_prior() -> None:
    uncertainty = Uncertainty((4.0,), (9.0,))
    t = stats.t(9, loc=3, scale=2)
    assert uncertainty.probability(3, -5, 5) == pytest.approx(t.cdf(5) - t.cdf(-5))
    assert uncertainty.probability(3, -np.inf, 5) == pytest.approx(t.cdf(5))
    assert uncertainty.probability(3, 1, np.inf) == pytest.approx(t.sf(1))


def test_how_many_raters_tell() -> None:
    # Three raters with a variance of their mean of 3; the queries' part is 1 with many of them.
    uncertainty = Uncertainty((1.0, 3.0), (np.inf, 2.0))
    factor = uncertainty.raters_factor(0.0, 5.0, 0.05)
    assert factor is not None
    raters = round(3 * factor)
    room = 25 - stats.norm.isf(0.05) ** 2
    for number, enough in ((raters, True), (raters - 1, False)):
        assert (stats.t.isf(0.05, number - 1) ** 2 * 9 / number <= room) == enough
    # The queries alone leave no room.
    assert uncertainty.raters_factor(0.0, 1.5, 0.05) is None
    assert Uncertainty((1.0,), (9.0,)).raters_factor(0.0, 5.0, 0.05) is None


def test_hochberg_gives_all_what_the_largest_has() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert hochberg(p) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert hochberg([0.049] * 5) == pytest.approx([0.049] * 5)
    adjusted = hochberg([0.2, np.nan, 0.03])
    assert adjusted[0] == pytest.approx(0.2)
    assert np.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.06)
