"""Correlations and means of paired points as functions of query weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import Pairs
from analysis.core.query_statistic import (
    BLOCK_NUMBERS,
    CACHED_NUMBERS,
    NEGLIGIBLE,
    NOISE,
    WeightedStatistic,
    centered,
    counts_by_query,
    in_row_blocks,
    ratio,
    sums_by_query,
)
from analysis.statistics.agreement.pair_figures import PairFigure, tau_b

#: Up to this many points the pairs are summed in less time than 1,000 resamples take by the tree.
POINTS_SUMMED = 4000
#: Up to this many queries a product with the matrices is faster than the tree.
QUERIES_SUMMED = 300


def few_enough(query: IntArray) -> bool:
    """Whether points of these queries (n,) are better summed in pairs."""
    return query.size <= POINTS_SUMMED and np.unique(query).size <= QUERIES_SUMMED


def tau_b_of_pair_sums(
    x: FloatArray, y: FloatArray, query: IntArray, figure: PairFigure = tau_b
) -> WeightedStatistic:
    """Kendall's tau-b (or another `figure`) of points x, y (n,) by sums quadratic in weights.

    A pair of points of queries a and b counts as often as the product of the two queries' weights.
    Its sign does not depend on the weights, so that the pairs are summed once, into matrices
    (Q, Q), and a resample costs a product with them. All sums are of whole numbers and exact.
    Pairs formed by two copies of one point are tied on both sides, as when it is repeated.
    """
    order = np.argsort(query, kind="stable")
    queries, starts = np.unique(query[order], return_index=True)
    sums = _summed(x[order], y[order], starts)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        chosen = weights[:, queries]
        score, untied_x, untied_y = (
            np.einsum("rq,rq->r", chosen @ part, chosen) / 2 for part in sums
        )
        return figure(score, untied_x, untied_y)

    return lambda weights: in_row_blocks(weighted_statistic, weights, 8 * queries.size)


def _summed(x: FloatArray, y: FloatArray, starts: npt.NDArray[np.intp]) -> FloatArray:
    """Concordant minus discordant pairs, pairs untied in x, and in y, by queries (3, Q, Q).

    Every pair is counted twice, once in each order.
    """
    rows = max(1, BLOCK_NUMBERS // (8 * max(1, x.size)))
    by_row = np.empty((3, x.size, starts.size))
    for first in range(0, x.size, rows):
        part = slice(first, first + rows)
        dx, dy = (_signs(v[part, None], v) for v in (x, y))
        for kind, signs in enumerate((dx * dy, np.abs(dx), np.abs(dy))):
            by_row[kind, part] = np.add.reduceat(signs, starts, axis=1, dtype=np.int32)
    return np.asarray(np.add.reduceat(by_row, starts, axis=1))


def _signs(a: FloatArray, b: FloatArray) -> npt.NDArray[np.int8]:
    return np.asarray((a > b).astype(np.int8) - (a < b))


def pearson_of(pairs: Pairs, deviations: bool = False) -> WeightedStatistic:
    """Pearson's r; points that are `deviations` have a mean of 0 in every query."""
    x, y = pairs.x, pairs.y
    if not deviations:
        x, y = centered(x), centered(y)
    x_unit, y_unit = _largest(x), _largest(y)
    x, y = x / x_unit, y / y_unit
    x_noise, y_noise = NOISE * pairs.x_size / x_unit, NOISE * pairs.y_size / y_unit
    columns = np.column_stack([np.ones(x.size), x, y, x * x, y * y, x * y, x_noise**2, y_noise**2])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)
    if deviations:
        sums[:, 1:3] = 0

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy, nx, ny = (weights @ sums).T
        vx, vy = n * sxx - sx * sx, n * syy - sy * sy
        # Variation below the float noise of the values, or of the sums, is treated as 0.
        varies = (vx > n * np.maximum(nx, NEGLIGIBLE * sxx)) & (
            vy > n * np.maximum(ny, NEGLIGIBLE * syy)
        )
        return _correlation(n * sxy - sx * sy, vx, vy, varies)

    return weighted_statistic


def spearman_of(pairs: Pairs) -> WeightedStatistic:
    """Spearman's rho: mid-ranks within each weighted sample."""
    return _rank_correlation(*pairs.levels, pairs.query, pairs.n_queries)


def _rank_correlation(
    x: FloatArray, y: FloatArray, query: IntArray, n_queries: int
) -> WeightedStatistic:
    x_values, x_code = np.unique(x, return_inverse=True)
    y_values, y_code = np.unique(y, return_inverse=True)
    cells, cell = np.unique(x_code * y_values.size + y_code, return_inverse=True)
    x_cell, y_cell = cells // y_values.size, cells % y_values.size
    x_counts = counts_by_query(x_code, query, x_values.size, n_queries)
    y_counts = counts_by_query(y_code, query, y_values.size, n_queries)
    cell_counts = counts_by_query(cell, query, cells.size, n_queries)

    def centered_ranks(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Half-integers around the middle rank: sums stay exact and the mean is exactly 0.
        ranks = counts.cumsum(axis=0)
        ranks -= counts / 2
        ranks -= counts.sum(axis=0) / 2
        return ranks, np.einsum("cr,cr,cr->r", counts, ranks, ranks)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        # A column for each resample: ranks of a cell are then rows, which are copied as a whole.
        columns = np.ascontiguousarray(weights.T)
        x_ranks, vx = centered_ranks(x_counts @ columns)
        y_ranks, vy = centered_ranks(y_counts @ columns)
        product = cell_counts @ columns
        product *= x_ranks[x_cell]
        product *= y_ranks[y_cell]
        return _correlation(product.sum(axis=0), vx, vy, (vx > 0) & (vy > 0))

    # Small blocks stay in the processor's cache.
    return lambda weights: in_row_blocks(
        weighted_statistic, weights, 4 * cells.size, CACHED_NUMBERS
    )


def kendall_of(pairs: Pairs, figure: PairFigure = tau_b) -> WeightedStatistic:
    """Kendall's tau-b, or another figure, over all pairs of points."""
    if few_enough(pairs.query):
        return tau_b_of_pair_sums(*pairs.levels, pairs.query, figure)
    # Imported here: a small sample needs no compiled loop.
    from analysis.statistics.agreement.kendall import tau_b_of_weights

    return tau_b_of_weights(*pairs.levels, pairs.query, figure)


def kendall_within_of(pairs: Pairs, figure: PairFigure = tau_b) -> WeightedStatistic:
    """Tau-b from the pairs inside queries: concordances and untied pairs summed over queries."""
    sums = within_query_pairs(pairs)
    return lambda weights: figure(*(weights @ sums).T)


def within_query_pairs(pairs: Pairs) -> FloatArray:
    """Concordant minus discordant pairs, pairs untied in x, and in y, by query (Q, 3)."""
    order = np.argsort(pairs.query, kind="stable")
    query = pairs.query[order]
    x, y = (values[order] for values in pairs.levels)
    sums = np.zeros((pairs.n_queries, 3))
    longest = int(np.bincount(query).max()) if query.size else 0
    for lag in range(1, longest):
        same = query[lag:] == query[:-lag]
        dx = np.sign(x[lag:] - x[:-lag])[same]
        dy = np.sign(y[lag:] - y[:-lag])[same]
        columns = np.column_stack([dx * dy, np.abs(dx), np.abs(dy)])
        sums += sums_by_query(columns, query[lag:][same], pairs.n_queries)
    return sums


def undefined_share(pairs: Pairs) -> float:
    """Share of the queries with two points or more whose own tau-b is undefined.

    There all points of x, or all of y, are tied. Their pairs enter the sums of `kendall_within_of`
    all the same: those that the other side orders count among its untied pairs.
    """
    several = np.bincount(pairs.query, minlength=pairs.n_queries) >= 2
    _, untied_x, untied_y = within_query_pairs(pairs)[several].T
    return float(np.mean((untied_x == 0) | (untied_y == 0)))


def mean_of(values: FloatArray, query: IntArray, n_queries: int) -> WeightedStatistic:
    """Mean of values (n,) over the weighted responses."""
    sums = sums_by_query(np.column_stack([np.ones(values.size), values]), query, n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        n, total = (weights @ sums).T
        return ratio(total, n, n > 0)

    return weighted_statistic


def _largest(values: FloatArray) -> float:
    """Largest magnitude, or 1 without values: the unit in which squares stay within range."""
    return float(np.abs(values).max(initial=0.0)) or 1.0


def _correlation(
    product: FloatArray, vx: FloatArray, vy: FloatArray, defined: np.ndarray
) -> FloatArray:
    scale = np.sqrt(np.maximum(vx, 0)) * np.sqrt(np.maximum(vy, 0))
    # Only rounding carries a correlation beyond 1 in magnitude.
    return np.clip(ratio(product, scale, defined & (scale > 0)), -1, 1)
