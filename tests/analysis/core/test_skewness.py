"""Hall's transformation of t, and what it does to an interval."""

import numpy as np
import pytest
from scipy import stats

from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling
from analysis.core.skewness import jackknife_skewness, with_skewness, without_skewness


@pytest.mark.parametrize("skewness", [-1.5, -0.2, 1e-12, 0.4, 2.0])
def test_the_transformation_rises_and_has_an_inverse(skewness: float) -> None:
    t = np.linspace(-6, 6, 101)
    bent = [without_skewness(float(one), skewness) for one in t]
    assert (np.diff(bent) >= 0).all()
    assert [with_skewness(one, skewness) for one in bent] == pytest.approx(t.tolist(), abs=1e-4)


def test_skewness_of_a_mean_is_that_of_its_values() -> None:
    values = np.random.default_rng(2).exponential(size=40)
    left_out = (values.sum() - values) / 39
    assert jackknife_skewness(left_out) == pytest.approx(stats.skew(values) / np.sqrt(40))


def test_both_ends_of_the_interval_of_a_skewed_mean_err_alike() -> None:
    rng, queries, studies = np.random.default_rng(5), 40, 2000
    resampling = QueryResampling(queries)
    misses = {None: np.zeros(2), "skewness": np.zeros(2)}
    for _ in range(studies):
        values = rng.exponential(size=queries)
        mean = QueryStatistic(
            lambda w, values=values: w @ values / w.sum(axis=1), np.ones(queries, bool), queries
        )
        for transform in misses:
            e = resampling.interval(mean, transform)
            misses[transform] += [e.low > 1, e.high < 1]
    plain, corrected = misses[None] / studies, misses["skewness"] / studies
    assert plain[1] > 0.05
    assert corrected[1] < 0.042
    assert corrected[0] < 0.035


def test_p_is_the_level_at_which_the_interval_ends_at_0() -> None:
    values = np.random.default_rng(3).exponential(size=30) - 0.7
    mean = QueryStatistic(lambda w: w @ values / w.sum(axis=1), np.ones(30, bool), 30)
    e = QueryResampling(30).interval(mean, "skewness")
    at_p = QueryResampling(30, level=1 - e.p).interval(mean, "skewness")
    assert min(abs(at_p.low), abs(at_p.high)) == pytest.approx(0, abs=1e-9)
    assert e.uncertainty is not None
    assert e.uncertainty.p_at_most(float(values.mean()), 0) == pytest.approx(e.p / 2)
