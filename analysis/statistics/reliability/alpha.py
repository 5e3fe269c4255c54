"""Krippendorff's alpha with missing cells, for the sample and for resamples of its queries.

Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. With m_u values on item u,
n pairable values and a distance d between values,

    alpha = 1 - (n - 1) * sum_u sum_{i<j} d(x_ui, x_uj) / (m_u - 1) / sum_{pairs} d

where the last sum runs over all pairs of pairable values. Items with one value do not enter.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import (
    BLOCK_NUMBERS,
    CACHED_NUMBERS,
    NEGLIGIBLE,
    QueryStatistic,
    WeightedStatistic,
    as_codes,
    as_values,
    centered,
    comparable,
    counts_by_query,
    in_row_blocks,
    ratio,
    sums_by_query,
    undefined,
    weighted_counts,
)

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(values: npt.ArrayLike, level: Level) -> float:
    """Krippendorff's alpha of values (n_items, n_raters), NaN where missing.

    Ordinal distances use the mid-ranks of the pairable values only. NaN where undefined;
    `alpha_undefined_reason` gives the reason.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]], "interval"), 3)
    0.878
    """
    array = as_values(values)
    return alpha_of_weights(array, np.zeros(array.shape[0], dtype=np.int64), level).point


def alpha_undefined_reason(values: npt.ArrayLike, level: Level) -> str | None:
    """Why alpha has no value on these ratings (n_items, n_raters); None where it has one."""
    if level not in get_args(Level):
        raise ValueError(f"level {level!r}: expected one of {', '.join(get_args(Level))}")
    array = as_values(values)
    if array.ndim != 2:
        raise ValueError(f"values have shape {array.shape}, expected (items, raters)")
    present = np.isfinite(array)
    paired = array[(present.sum(axis=1) >= 2)]
    pairable = paired[np.isfinite(paired)]
    if pairable.size == 0:
        return "no response has two ratings"
    if np.unique(comparable(pairable)).size == 1:
        return f"all pairable ratings are {pairable[0]:g}: without variation alpha is undefined"
    if level == "ratio" and pairable.min() < 0:
        return f"ratio alpha needs values of at least 0, the smallest is {pairable.min():g}"
    return None


def alpha_of_weights(
    values: npt.ArrayLike, query: npt.ArrayLike, level: Level, n_queries: int | None = None
) -> QueryStatistic:
    """Alpha as a function of query weights; values (n_items, n_raters), query codes (n_items,).

    A weight of 2 equals repeating every item of the query, with the marginals of the repeated
    sample.
    """
    array = as_values(values)
    reason = alpha_undefined_reason(array, level)
    codes, total = as_codes(query, array.shape[0], n_queries)
    usable = np.isfinite(array).sum(axis=1) >= 2
    rated, codes = array[usable], codes[usable]
    contributing = np.bincount(codes, minlength=total) > 0
    rated_at_all = int(np.count_nonzero(np.isfinite(array).any(axis=1)))

    weighted_statistic: WeightedStatistic
    if reason is not None:
        weighted_statistic = undefined
    elif level == "interval":
        weighted_statistic = _interval(rated, codes, total)
    else:
        weighted_statistic = _by_categories(comparable(rated), codes, total, level)
    return QueryStatistic(
        weighted_statistic, contributing, len(rated), rated_at_all - len(rated), reason
    )


def _interval(rated: FloatArray, query: IntArray, n_queries: int) -> WeightedStatistic:
    """Squared differences: four sums per query suffice."""
    level = comparable(rated)
    points = centered(rated)
    points /= np.nanmax(np.abs(points))
    m = np.isfinite(rated).sum(axis=1).astype(np.float64)
    first = np.nansum(points, axis=1)
    second = np.nansum(points**2, axis=1)
    # The spread within an item around its own mean, so that agreement gives an exact 0.
    low, high = np.nanmin(level, axis=1), np.nanmax(level, axis=1)
    spread = np.nansum((points - np.nanmean(points, axis=1, keepdims=True)) ** 2, axis=1)
    observed = np.where(low == high, 0.0, spread * m / (m - 1))
    sums = sums_by_query(np.column_stack([observed, m, first, second]), query, n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        within, n, s1, s2 = (weights @ sums).T
        expected = n * s2 - s1**2
        return 1 - ratio((n - 1) * within, expected, expected > NEGLIGIBLE * n * s2)

    return weighted_statistic


def _by_categories(
    rated: FloatArray, query: IntArray, n_queries: int, level: Level
) -> WeightedStatistic:
    """Any distance, from the values' marginals and the pairs of values met within items.

    The distinct values are indexed, so that continuous scores need memory for the pairs that
    occur, not for all pairs of values.
    """
    present = np.isfinite(rated)
    distinct, index = np.unique(rated[present], return_inverse=True)
    code = np.full(rated.shape, -1, dtype=np.int64)
    code[present] = index
    m = present.sum(axis=1)
    marginals = counts_by_query(index, np.repeat(query, m), distinct.size, n_queries)
    low, high, pairs = _pairs(code, query, m, distinct.size, n_queries)

    def nominal(weights: FloatArray) -> FloatArray:
        counts = weighted_counts(marginals, weights)
        n = counts.sum(axis=1)
        expected = (n**2 - (counts**2).sum(axis=1)) / 2
        observed = weights @ pairs.sum(axis=0)
        return 1 - ratio((n - 1) * observed, expected, expected > 0)

    def ordinal(weights: FloatArray) -> FloatArray:
        # A column a resample: both sparse products and the picking of ranks then run along rows.
        transposed = np.ascontiguousarray(weights.T)
        counts = marginals @ transposed
        n = counts.sum(axis=0)
        # Mid-ranks measured from the middle, where half-integers keep the sums exact.
        ranks = counts.cumsum(axis=0) - counts / 2 - n / 2
        expected = n * np.einsum("cr,cr,cr->r", counts, ranks, ranks)
        apart = ranks[low]
        apart -= ranks[high]
        apart *= apart
        observed = np.einsum("pr,pr->r", pairs @ transposed, apart)
        return 1 - ratio((n - 1) * observed, expected, expected > 0)

    def ratio_level(weights: FloatArray) -> FloatArray:
        counts = weighted_counts(marginals, weights)
        n = counts.sum(axis=1)
        expected = np.zeros(weights.shape[0])
        rows = max(1, BLOCK_NUMBERS // distinct.size)
        for start in range(0, distinct.size, rows):
            part = slice(start, start + rows)
            distances = _ratio_distance(distinct[part, None], distinct[None, :])
            expected += np.einsum("rc,rc->r", counts[:, part] @ distances, counts) / 2
        observed = weights @ (pairs.T @ _ratio_distance(distinct[low], distinct[high]))
        return 1 - ratio((n - 1) * observed, expected, expected > 0)

    chosen = {"nominal": nominal, "ordinal": ordinal, "ratio": ratio_level}[level]
    width = distinct.size + (low.size if level == "ordinal" else 0)
    return lambda weights: in_row_blocks(chosen, weights, 3 * width, CACHED_NUMBERS)


def _pairs(
    code: IntArray, query: IntArray, m: npt.NDArray[np.intp], n_codes: int, n_queries: int
) -> tuple[IntArray, IntArray, sparse.csr_array]:
    """Unequal pairs of codes met within items: lower, higher, and sparse (P, Q) sums of 1/(m-1)."""
    lower, higher, where, share = [], [], [], []
    for left, right in combinations(range(code.shape[1]), 2):
        a, b = code[:, left], code[:, right]
        unequal = (a >= 0) & (b >= 0) & (a != b)
        lower.append(np.minimum(a, b)[unequal])
        higher.append(np.maximum(a, b)[unequal])
        where.append(query[unequal])
        share.append(1 / (m[unequal] - 1))
    joined = np.concatenate(lower) * n_codes + np.concatenate(higher)
    distinct, index = np.unique(joined, return_inverse=True)
    sums = counts_by_query(
        index, np.concatenate(where), distinct.size, n_queries, np.concatenate(share)
    )
    return distinct // n_codes, distinct % n_codes, sums


def _ratio_distance(a: FloatArray, b: FloatArray) -> FloatArray:
    total = np.add(a, b)
    return np.asarray(np.square(np.divide(np.subtract(a, b), np.where(total > 0, total, 1.0))))
