import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.core.resampling import QueryResampling
from analysis.core.statistic_family import Averaged, means
from analysis.statistics.distribution.shape import (
    at_bound,
    bounds,
    population_statistics,
    tie_probability,
    tie_probability_of_weights,
)

NA = float("nan")
scores_0_100 = st.lists(st.integers(0, 20).map(lambda k: 5.0 * k), max_size=30)


def test_population_statistics_by_hand() -> None:
    p = population_statistics([0, 20, 40, 100, NA])
    assert (p.n, p.mean, p.median, p.minimum, p.maximum, p.range) == (4, 40, 30, 0, 100, 100)
    # Quartiles at positions .75 and 2.25: 15 and 55.
    assert (p.midhinge, p.interquartile_range) == (35, 40)
    assert p.variance == pytest.approx((1600 + 400 + 0 + 3600) / 3)
    assert p.geometric_mean == 0
    assert p.reasons == {}


def test_quartiles_of_the_paper_are_reachable() -> None:
    # Table 14 and 15, system C, IR: quartiles 20 and 66.67 give midhinge 43.33 and range 46.7.
    p = population_statistics([0, 20, 40, 200 / 3, 100])
    assert (round(p.midhinge, 2), round(p.interquartile_range, 1)) == (43.33, 46.7)


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=30).filter(lambda x: np.ptp(x) > 0.01))
def test_population_statistics_equal_scipys(values: list[float]) -> None:
    p = population_statistics(values)
    assert p.geometric_mean == pytest.approx(stats.gmean(values), rel=1e-9)
    assert p.skewness == pytest.approx(stats.skew(values), abs=1e-6)
    assert p.excess_kurtosis == pytest.approx(stats.kurtosis(values), abs=1e-6)
    assert p.variance == pytest.approx(np.var(values, ddof=1))
    assert p.interquartile_range == pytest.approx(stats.iqr(values))


def test_undefined_statistics_are_named() -> None:
    empty = population_statistics([NA, NA])
    assert empty.n == 0
    assert np.isnan(empty.mean)
    assert set(empty.reasons.values()) == {"there are no scores"}
    single = population_statistics([7.0])
    assert (single.mean, single.range, single.geometric_mean) == (7, 0, pytest.approx(7))
    assert set(single.reasons) == {"variance", "skewness", "excess_kurtosis"}
    constant = population_statistics([0.1, 0.1, 0.1])
    assert constant.variance == 0
    assert constant.reasons["skewness"] == "all scores are 0.1"
    assert "negative (-1)" in population_statistics([-1, 2]).reasons["geometric_mean"]
    with pytest.raises(ValueError, match=r"expected \(n,\)"):
        population_statistics([[1.0]])


def test_bounds_by_hand() -> None:
    b = bounds([0, 0, 1e-15, 50, 100, 101, NA], 0, 100)
    assert (b.n, b.count_at_min, b.count_at_max) == (6, 3, 1)
    assert (b.share_at_min, b.share_at_max) == (0.5, pytest.approx(1 / 6))
    empty = bounds([NA], 1, 5)
    assert empty.count_at_min == 0
    assert np.isnan(empty.share_at_min)
    with pytest.raises(ValueError, match="minimum must be below"):
        bounds([1], 5, 5)


def test_one_huge_score_makes_no_ties_and_no_scores_at_the_end() -> None:
    scores = [0.1, 0.2, 0.5, 0.5, 1e15]
    assert tie_probability(scores) == pytest.approx(1 / 10)
    assert bounds(scores, 0, 1e16).count_at_min == 0
    assert population_statistics(scores).skewness == pytest.approx(stats.skew(scores), abs=1e-9)


def test_moments_do_not_depend_on_the_origin() -> None:
    # Sixteenths, which stay exact on top of 1e9.
    low = np.array([0, 1, 1, 5, 9, 16]) / 16
    plain, high = population_statistics(low), population_statistics(1e9 + low)
    for name in ("variance", "skewness", "excess_kurtosis"):
        assert getattr(high, name) == pytest.approx(getattr(plain, name), abs=1e-9), name


def test_tie_probability_by_hand() -> None:
    # Pairs of 1 1 1 2 2: 3 + 1 tied of 10.
    assert tie_probability([1, 1, 1, 2, 2]) == pytest.approx(0.4)
    assert tie_probability([0.1 + 0.2, 0.3, NA]) == 1
    assert np.isnan(tie_probability([1, NA]))
    assert tie_probability([1, 2, 3]) == 0


@given(scores_0_100)
def test_tie_probability_counts_pairs(values: list[float]) -> None:
    pairs = [(a == b) for i, a in enumerate(values) for b in values[:i]]
    expected = np.mean(pairs) if pairs else NA
    assert tie_probability(values) == pytest.approx(expected, nan_ok=True)


def test_copies_of_a_response_are_no_tie() -> None:
    statistic = tie_probability_of_weights([1, 2, 3, 3], [0, 1, 2, 2])
    # Row 2: 1 1 and 3 3 3 3 (two copies of each of two); 4 ties of 4 + 8 pairs of different ones.
    assert statistic(np.array([[1, 1, 1], [2, 0, 2], [3, 0, 0]])) == pytest.approx(
        [1 / 6, 4 / 12, NA], nan_ok=True
    )
    interval = QueryResampling(300, 500).interval(
        tie_probability_of_weights(np.arange(300) % 50, np.arange(300)), scheme="bootstrap"
    )
    assert interval.low < tie_probability(np.arange(300) % 50) < interval.high


def test_shares_and_means_of_weights() -> None:
    values, query = [0, 100, 100, 50, NA], [0, 0, 1, 1, 2]
    weights = np.array([[1, 1, 1], [2, 0, 1], [0, 0, 1]])
    codes = np.array(query)
    parts = (at_bound(values, 0, 100, "max"), at_bound(values, 0, 100, "min"), np.array(values))
    family = means([Averaged(part, codes) for part in parts], 3)
    top, bottom, mean = family.weighted_statistic(weights.astype(float)).T
    assert top == pytest.approx([0.5, 0.5, NA], nan_ok=True)
    assert bottom == pytest.approx([0.25, 0.5, NA], nan_ok=True)
    assert mean == pytest.approx([62.5, 50, NA], nan_ok=True)
    assert (family.n_responses[2], family.n_dropped[2]) == (4, 1)
    assert family.contributing[:, 2].tolist() == [True, True, False]


def test_statistics_of_no_scores_have_a_reason() -> None:
    ties = tie_probability_of_weights([NA], [0])
    assert np.isnan(ties.point)
    assert ties.reason is not None
    empty = means([Averaged(np.array([NA]), np.array([0]))], 1)
    assert np.isnan(empty.points()[0])
    assert empty.reasons[0] is not None
