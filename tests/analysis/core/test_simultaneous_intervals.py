import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from analysis.core.resampling import EQUAL_RESAMPLES, QueryResampling
from analysis.core.simultaneous_intervals import simultaneous_intervals


def test_one_mean_has_its_own_t_interval_by_the_jackknife() -> None:
    values = np.random.default_rng(0).normal(5, 2, 20)
    left_out = ((values.sum() - values) / 19)[:, None]
    intervals = simultaneous_intervals([values.mean()], left_out, "jackknife")
    assert intervals.error[0] == pytest.approx(stats.sem(values))
    assert intervals.critical_value == pytest.approx(stats.t.ppf(0.975, 19), abs=0.05)


@pytest.mark.parametrize("queries", [3, 4, 6])
def test_few_queries_have_a_degree_of_freedom_less_than_queries(queries: int) -> None:
    values = np.random.default_rng(3).normal(5, 2, queries)
    left_out = ((values.sum() - values) / (queries - 1))[:, None]
    intervals = simultaneous_intervals([values.mean()], left_out, "jackknife")
    assert intervals.critical_value == pytest.approx(stats.t.ppf(0.975, queries - 1), rel=0.05)


def test_independent_statistics_widen_it_as_sidak_does() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 8))
    left_out = (values.sum(axis=0) - values) / 59
    intervals = simultaneous_intervals(values.mean(axis=0), left_out, "jackknife")
    sidak = stats.t.ppf(1 - (1 - 0.95 ** (1 / 8)) / 2, 59)
    assert intervals.critical_value == pytest.approx(sidak, abs=0.1)


def test_one_statistic_said_eight_times_is_no_wider() -> None:
    values = np.random.default_rng(2).normal(size=(30, 1)).repeat(8, axis=1)
    left_out = (values.sum(axis=0) - values) / 29
    intervals = simultaneous_intervals(values.mean(axis=0), left_out, "jackknife")
    assert intervals.critical_value == pytest.approx(stats.t.ppf(0.975, 29), abs=0.06)


def test_more_statistics_than_a_third_of_the_queries_have_sidaks_value() -> None:
    values = np.random.default_rng(5).normal(size=(20, 1)) + np.zeros(7)
    left_out = (values.sum(axis=0) - values) / 19
    intervals = simultaneous_intervals(values.mean(axis=0), left_out, "jackknife")
    sidak = stats.t.ppf(1 - (1 - 0.95 ** (1 / 7)) / 2, 19)
    assert intervals.critical_value == pytest.approx(sidak)


@pytest.mark.slow
def test_all_intervals_hold_at_once_as_often_as_stated() -> None:
    rng = np.random.default_rng(3)
    covered = {"bootstrap": 0, "jackknife": 0}
    trials = 150
    weights = QueryResampling(100, 500).bootstrap.astype(float)
    for _ in range(trials):
        values = rng.normal(size=(100, 1)) + rng.normal(size=(100, 5))
        point = values.mean(axis=0)
        drawn = weights @ values / 100
        left_out = (values.sum(axis=0) - values) / 99
        for scheme, replicates in (("bootstrap", drawn), ("jackknife", left_out)):
            intervals = simultaneous_intervals(point, replicates, scheme)
            covered[scheme] += bool(((intervals.low <= 0) & (intervals.high >= 0)).all())
    # Nominal .95 with a standard error of .018.
    assert all(0.9 < count / trials < 0.995 for count in covered.values()), covered


def test_what_has_no_interval_says_why_and_leaves_the_others() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(40, 4))
    values[:, 1] = 3
    values[::2, 2] = np.nan
    intervals = simultaneous_intervals([0, 3, 0, np.nan], values, "bootstrap")
    assert intervals.reasons[0] is None
    assert intervals.reasons[1] == EQUAL_RESAMPLES
    assert "50.0% of 40 resamples" in str(intervals.reasons[2])
    assert "undefined on the sample" in str(intervals.reasons[3])
    assert np.isnan(intervals.low[1:]).all()
    assert intervals.low[0] < intervals.high[0]


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit 2 statistics"):
        simultaneous_intervals([0, 1], np.ones((5, 3)), "bootstrap")


def without_each(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Means of columns (queries, m), NaN for a query without, leaving one query out."""
    used = np.isfinite(differences)
    values = np.where(used, differences, 0.0)
    return (values.sum(axis=0) - values) / (used.sum(axis=0) - used)


def test_a_difference_on_few_queries_has_their_error_and_their_degrees_of_freedom() -> None:
    differences = np.random.default_rng(2).normal(3, 10, (40, 2))
    differences[6:, 1] = np.nan
    points = np.nanmean(differences, axis=0)
    found = simultaneous_intervals(points, without_each(differences), "jackknife")
    few = differences[:6, 1]
    assert found.error[1] == pytest.approx(few.std(ddof=1) / np.sqrt(6))
    assert found.df[1] <= 5
    assert found.p[1] >= stats.ttest_1samp(few, 0).pvalue - 1e-9
    reach = (found.high - found.low) / 2
    assert reach[1] >= stats.t.isf(0.025, 5) * found.error[1]


@pytest.mark.parametrize("shared", [2, 4])
def test_below_five_queries_of_more_there_is_no_interval(shared: int) -> None:
    differences = np.random.default_rng(2).normal(3, 10, (40, 2))
    differences[shared:, 1] = np.nan
    points = np.nanmean(differences, axis=0)
    found = simultaneous_intervals(points, without_each(differences), "jackknife")
    assert np.isnan(found.low[1])
    assert found.reasons[1] == (f"it rests on {shared} of 40 queries, an interval needs at least 5")
    # A table of few queries in all has their t.
    alone = differences[:shared, :1]
    whole = simultaneous_intervals(alone.mean(axis=0), without_each(alone), "jackknife")
    assert np.isfinite(whole.low[0])


@pytest.mark.slow
def test_differences_on_few_queries_cover() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        differences = rng.normal(0, 10, (40, 3))
        differences[6:, 2] = np.nan
        points = np.nanmean(differences, axis=0)
        found = simultaneous_intervals(points, without_each(differences), "jackknife")
        covered.append(bool(((found.low <= 0) & (found.high >= 0)).all()))
    # Monte Carlo error .011.
    assert np.mean(covered) >= 0.93
