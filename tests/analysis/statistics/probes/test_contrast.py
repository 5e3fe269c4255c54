"""A difference of two groups' means, by hand and by simulated coverage."""

import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.probes.contrast import difference_of_means


def test_by_hand() -> None:
    values = [1.0, 3.0, 10.0, 20.0, np.nan, 7.0, 9.0]
    first = [True, True, False, False, True, False, True]
    second = [False, False, True, True, False, False, True]
    found = difference_of_means(values, first, second, [0, 1, 0, 1, 1, 0, 0], 3)
    # (1 + 3) / 2 - (10 + 20) / 2; one value is in neither group, one in both, one is missing.
    assert found.point == -13
    assert (found.n_responses, found.n_dropped, found.n_queries) == (4, 2, 2)
    np.testing.assert_array_equal(found(np.array([[1.0, 0, 0], [0, 0, 1]])), [-9, np.nan])


def test_an_empty_group_is_named() -> None:
    found = difference_of_means([1.0], [True], [False], [0], 1, ("own", "others"))
    assert found.reason == "no response of others has both values"
    assert np.isnan(found.point)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="differ"):
        difference_of_means([1.0], [True, False], [False], [0])


def test_its_interval_covers_what_it_says() -> None:
    rng = np.random.default_rng(5)
    queries, samples, covered = 40, 400, 0
    resampling = QueryResampling(queries)
    query = np.repeat(np.arange(queries), 4)
    first = np.tile([True, True, False, False], queries)
    for _ in range(samples):
        shared = np.repeat(rng.normal(0, 6, queries), 4)
        values = shared + rng.exponential(8, 4 * queries) + 3.0 * first
        found = resampling.interval(difference_of_means(values, first, ~first, query, queries))
        covered += found.low <= 3.0 <= found.high
    assert covered / samples >= 0.925
