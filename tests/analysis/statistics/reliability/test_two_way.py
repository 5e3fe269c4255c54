import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability.two_way import Contrast


def test_two_mean_squares_agree_with_the_f_test() -> None:
    contrast = Contrast((12, 3, 40), 0.025)
    high, low = stats.f.ppf([0.975, 0.025], 12, 40)
    # A ratio at its quantile is just compatible with equal expectations.
    assert contrast.lower(high * 2, 0, 2) == pytest.approx(0, abs=1e-9)
    assert contrast.upper(low * 2, 0, 2) == pytest.approx(0, abs=1e-9)


def test_bounds_enclose_the_estimate_and_grow_with_confidence() -> None:
    wide, narrow = Contrast((20, 2, 60), 0.005), Contrast((20, 2, 60), 0.05)
    assert wide.lower(9, 2, 1) < narrow.lower(9, 2, 1) < 6
    assert wide.upper(9, 2, 1) > narrow.upper(9, 2, 1) > 6


def test_coverage_with_two_degrees_of_freedom() -> None:
    rng = np.random.default_rng(1)
    df, expected = (60.0, 2.0, 150.0), np.array([10.0, 6.0, 2.0])
    contrast = Contrast(df, 0.025)
    drawn = expected * rng.chisquare(df, (2000, 3)) / df
    truth = 10 - 6 - 2
    low = np.array([contrast.lower(*row) for row in drawn])
    high = np.array([contrast.upper(*row) for row in drawn])
    # Two-sided .95; a Monte Carlo error of .005.
    assert np.mean((low <= truth) & (truth <= high)) >= 0.935
