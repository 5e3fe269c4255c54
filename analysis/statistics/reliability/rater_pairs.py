"""How far two ratings of one response differ, over all pairs of raters.

Every response with two or more ratings counts once: its figure is the mean over its pairs, so that
a response with many raters weighs no more than one with two.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NOISE,
    QueryStatistic,
    as_codes,
    as_values,
    comparable,
    ratio,
    undefined,
)

PairFunction = Callable[[FloatArray, FloatArray], FloatArray]

NO_PAIR = "no response has two ratings"


def raw_agreement(
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    tolerance: float = 0.0,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Share of pairs of ratings (n, raters) of one response at most `tolerance` points apart.

    Raises ValueError for a negative tolerance.
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance {tolerance:g}: expected 0 or more points")
    level = comparable(table_of_ratings(values))
    size = float(np.abs(level[np.isfinite(level)]).max(initial=0.0))

    def alike(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.abs(a - b) <= tolerance + NOISE * size, dtype=np.float64)

    return _mean_over_pairs(level, query, n_queries, alike)


def mean_absolute_difference(
    values: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> QueryStatistic:
    """Mean distance in points between two ratings (n, raters) of one response."""
    level = comparable(table_of_ratings(values))
    return _mean_over_pairs(level, query, n_queries, lambda a, b: np.abs(a - b))


def table_of_ratings(values: npt.ArrayLike) -> FloatArray:
    """Ratings (n, raters) as floats; ValueError for another shape."""
    array = as_values(values)
    if array.ndim != 2:
        raise ValueError(f"values have shape {array.shape}, expected (items, raters)")
    return array


def over_pairs(values: FloatArray, pair_agreement: PairFunction) -> FloatArray:
    """Mean of `pair_agreement` over the pairs of ratings in each row (n,), NaN without a pair."""
    total, pairs = np.zeros(len(values)), np.zeros(len(values))
    for left, right in combinations(range(values.shape[1]), 2):
        a, b = values[:, left], values[:, right]
        both = np.isfinite(a) & np.isfinite(b)
        total[both] += pair_agreement(a[both], b[both])
        pairs[both] += 1
    return ratio(total, pairs, pairs > 0)


def _mean_over_pairs(
    values: FloatArray, query: npt.ArrayLike, n_queries: int | None, pair_agreement: PairFunction
) -> QueryStatistic:
    codes, total = as_codes(query, len(values), n_queries)
    means = over_pairs(values, pair_agreement)
    paired = np.isfinite(means)
    rated = int(np.count_nonzero(np.isfinite(values).any(axis=1)))
    count = np.bincount(codes[paired], minlength=total).astype(np.float64)
    sums = np.column_stack([np.bincount(codes[paired], means[paired], total), count])

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        top, below = (weights @ sums).T
        return ratio(top, below, below > 0)

    used = int(np.count_nonzero(paired))
    reason = None if used else NO_PAIR
    return QueryStatistic(
        weighted_statistic if used else undefined, count > 0, used, rated - used, reason
    )
