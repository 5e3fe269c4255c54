"""Families of correlations: equal to scipy's, one by one and under every weight."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.core.resampling import QueryResampling
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.rank_correlations import (
    RANK_RESAMPLES,
    RANK_RESAMPLES_OF_MANY,
    RankFamily,
    ranked,
)
from tests.analysis.ragged import ratings, repeated

NAN = float("nan")


def _family(x: np.ndarray, y: np.ndarray, query: np.ndarray) -> CorrelationFamily:
    made = CorrelationFamily(query, int(query.max()) + 1)
    made.add(prepared(x), prepared(y))
    return made


@pytest.mark.parametrize("step", [5, None])
def test_all_three_measures_equal_scipys_on_each_weighted_sample(step: float | None) -> None:
    x, y = ratings(1, n=80, raters=2, missing=0.1, step=step).T
    query = np.arange(80) // 4
    weights = np.random.default_rng(0).multinomial(20, np.full(20, 0.05), size=5).astype(float)
    moments, ranks = _family(x, y, query).family(), RankFamily(query, 20)
    assert ranks.add(ranked(x), ranked(y)) == 0
    result = np.column_stack(
        [moments.weighted_statistic(weights), ranks.family().weighted_statistic(weights)]
    )
    for row, counts in zip(result, weights, strict=True):
        _, (a, b) = repeated(counts, query, x, y)
        both = np.isfinite(a) & np.isfinite(b)
        a, b = a[both], b[both]
        expected = [f(a, b)[0] for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
        assert row == pytest.approx(expected, abs=1e-12)


def test_values_too_many_for_a_table_are_ranked_the_same() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    query = np.arange(400) // 2
    many = RankFamily(query, 200)
    many.add(ranked(x), ranked(y))
    assert many.resamples == RANK_RESAMPLES_OF_MANY
    few = RankFamily(query, 200)
    few.add(ranked(np.round(x)), ranked(np.round(y)))
    assert few.resamples == RANK_RESAMPLES
    expected = (stats.spearmanr(x, y)[0], stats.kendalltau(x, y)[0])
    assert many.family().points() == pytest.approx(expected, abs=1e-12)


def test_a_subset_is_the_correlation_of_its_items() -> None:
    x, y = ratings(2, n=50, raters=2, missing=0.2).T
    items = np.arange(50) % 3 == 0
    made = CorrelationFamily(np.arange(50), 50)
    made.add(prepared(x), prepared(y), items)
    family = made.family()
    both = np.isfinite(x) & np.isfinite(y) & items
    assert family.points()[0] == pytest.approx(stats.pearsonr(x[both], y[both])[0])
    assert family.n_responses[0] == both.sum()
    assert family.n_dropped[0] == ((np.isfinite(x) ^ np.isfinite(y)) & items).sum()
    assert (family.contributing[:, 0] == both).all()


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([0.1 + 0.2, 0.3, 0.3], "x does not vary over the 3 responses with both values"),
        ([1.0, NAN, NAN], "a correlation needs 2 responses with both values, there are 1"),
        ([NAN, NAN, NAN], "a correlation needs 2 responses with both values, there are 0"),
    ],
)
def test_undefined_says_why(x: list[float], reason: str) -> None:
    y, query = np.array([1.0, 2.0, 3.0]), np.arange(3)
    ranks = RankFamily(query, 3)
    ranks.add(ranked(np.array(x)), ranked(y))
    for family in (_family(np.array(x), y, query).family(), ranks.family()):
        assert np.isnan(family.points()).all()
        assert set(family.reasons) == {reason}
        assert all(r.reason == reason for r in family.replicates(QueryResampling(3, 100)))


@given(seed=st.integers(0, 99), scale=st.sampled_from([1e-3, 1.0, 7.5]), shift=st.floats(-1e6, 1e6))
def test_origin_unit_and_order_do_not_matter(seed: int, scale: float, shift: float) -> None:
    x, y = ratings(seed, n=24, raters=2, missing=0.1).T
    query = np.arange(24) // 3
    order = np.random.default_rng(seed).permutation(24)
    base = _family(x, y, query).family().points()
    moved = _family(scale * x + shift, y, query).family().points()
    shuffled = _family(x[order], y[order], query[order]).family().points()
    assert moved == pytest.approx(base, abs=1e-7, nan_ok=True)
    assert shuffled == pytest.approx(base, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("queries", [30, 150])
def test_a_family_has_the_intervals_that_its_members_have_alone(queries: int) -> None:
    from analysis.statistics.agreement.association import association

    x, y = ratings(5, n=3 * queries, raters=2, missing=0.1).T
    query = np.arange(3 * queries) // 3
    resampling = QueryResampling(queries, 300, seed=2)
    family = _family(x, y, query).family()
    together = resampling.interval_of(family.replicates(resampling)[0], "fisher_z")
    alone = resampling.interval(association("pearson", x, y, query), "fisher_z")
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert together.method == alone.method
