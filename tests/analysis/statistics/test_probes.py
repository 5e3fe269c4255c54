"""Means over responses, resampled by query: by hand, against a loop, and by simulated coverage."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest

from analysis.core.resampling import QueryResampling
from analysis.statistics.probes import Part, difference_of_means, none_of, query_means
from tests.conftest import examples


def part(values: list[float], query: list[int], dropped: int = 0) -> Part:
    return Part(np.array(values, dtype=float), np.array(query, dtype=np.int64), dropped)


def test_shifts_of_probes_by_hand() -> None:
    family = query_means([part([1, 2, 6], [0, 0, 1], 2), part([], [])], 3)
    # The mean of three; without query 0 it is 6, without query 1 it is 1.5.
    weights = np.array([[1.0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]])
    values_of_weights = family.weighted_statistic(weights)
    np.testing.assert_array_equal(values_of_weights[:, 0], [3, 6, 1.5, 3, np.nan])
    assert np.isnan(values_of_weights[:, 1]).all()
    assert family.n_responses.tolist() == [3, 0]
    assert family.n_dropped.tolist() == [2, 0]
    assert family.contributing[:, 0].tolist() == [True, True, False]
    assert family.reasons == [None, "no response has both"]


@settings(max_examples=examples(30))
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 30))
def test_each_is_the_weighted_mean_of_its_responses(seed: int, queries: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    values, query = rng.normal(size=size), rng.integers(queries, size=size)
    weights = rng.integers(0, 3, size=(4, queries)).astype(float)
    values_of_weights = query_means(
        [Part(values, query.astype(np.int64))], queries
    ).weighted_statistic(weights)
    for row, mean in zip(weights, values_of_weights[:, 0], strict=True):
        repeated = np.repeat(values, row[query].astype(int))
        assert mean == pytest.approx(repeated.mean()) if repeated.size else np.isnan(mean)


@pytest.mark.parametrize(
    ("values", "query"), [([np.nan], [0]), ([1.0], [3]), ([1.0], [-1])], ids=["nan", "high", "low"]
)
def test_what_can_not_be_is_refused(values: list[float], query: list[int]) -> None:
    with pytest.raises(ValueError, match="part 0"):
        query_means([part(values, query)], 3)


@pytest.mark.parametrize("n", [1, 5, 60, 300])
def test_the_bound_for_none_is_that_of_clopper_and_pearson(n: int) -> None:
    exact = binomtest(0, n, alternative="less").proportion_ci(0.95).high
    assert none_of(n, 0.95) == pytest.approx(exact, rel=1e-9)
    assert np.isnan(none_of(0, 0.95))


def shifted(rng: np.random.Generator, queries: int, a_query: int) -> tuple[np.ndarray, float]:
    """Shifts of judged scores, 40% at the maximum; the mean of many is the truth."""
    count = queries * a_query
    query_effect = np.repeat(rng.normal(0, 8, queries), a_query)
    before = np.clip(np.round((92 + query_effect + rng.normal(0, 22, count)) / 5) * 5, 0, 100)
    moved = rng.random(count) < 0.3
    after = np.where(moved, np.round((before + rng.normal(14, 8, count)) / 5) * 5, before)
    return np.clip(after, 0, 100) - before, count


@pytest.mark.parametrize("scheme", ["one_a_query", "two_a_query"])
def test_the_interval_of_a_shift_covers_what_it_says(scheme: str) -> None:
    a_query = 1 if scheme == "one_a_query" else 2
    rng = np.random.default_rng(7)
    truth = shifted(rng, 200_000, a_query)[0].mean()
    queries, samples = 40, 500
    resampling = QueryResampling(queries)
    query = np.repeat(np.arange(queries), a_query)
    covered = 0
    for _ in range(samples):
        family = query_means([Part(shifted(rng, queries, a_query)[0], query)], queries)
        (result,) = family.replicates(resampling)
        interval = resampling.interval_of(result)
        covered += interval.low <= truth <= interval.high
    assert covered / samples >= 0.925


def test_a_difference_by_hand() -> None:
    values = [1.0, 3.0, 10.0, 20.0, np.nan, 7.0, 9.0]
    first = [True, True, False, False, True, False, True]
    second = [False, False, True, True, False, False, True]
    result = difference_of_means(values, first, second, [0, 1, 0, 1, 1, 0, 0], 3)
    # (1 + 3) / 2 - (10 + 20) / 2; one value is in neither group, one in both, one is missing.
    assert result.point == -13
    assert (result.n_responses, result.n_dropped, result.n_queries) == (4, 2, 2)
    np.testing.assert_array_equal(result(np.array([[1.0, 0, 0], [0, 0, 1]])), [-9, np.nan])


def test_an_empty_group_is_named() -> None:
    result = difference_of_means([1.0], [True], [False], [0], 1, ("own", "others"))
    assert result.reason == "no response of others has both values"
    assert np.isnan(result.point)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="differ"):
        difference_of_means([1.0], [True, False], [False], [0])


def test_the_interval_of_a_shift_covers_at_its_level() -> None:
    rng = np.random.default_rng(5)
    queries, samples, covered = 40, 400, 0
    resampling = QueryResampling(queries)
    query = np.repeat(np.arange(queries), 4)
    first = np.tile([True, True, False, False], queries)
    for _ in range(samples):
        shared = np.repeat(rng.normal(0, 6, queries), 4)
        values = shared + rng.exponential(8, 4 * queries) + 3.0 * first
        result = resampling.interval(difference_of_means(values, first, ~first, query, queries))
        covered += result.low <= 3.0 <= result.high
    assert covered / samples >= 0.925
