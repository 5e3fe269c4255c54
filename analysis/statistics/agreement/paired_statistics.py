"""Statistics of paired points as functions of query weights."""

from __future__ import annotations

import numpy as np

from analysis.core.pairs import Pairs
from analysis.core.query_statistic import (
    CACHED_NUMBERS,
    NEGLIGIBLE,
    NOISE,
    FloatArray,
    IntArray,
    OfWeights,
    centered,
    counts_by_query,
    in_row_blocks,
    ratio,
    sums_by_query,
)
from analysis.statistics.agreement.pair_sums import few_enough, tau_b_of_pair_sums


def pearson_of(pairs: Pairs, deviations: bool = False) -> OfWeights:
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

    def of_weights(weights: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy, nx, ny = (weights @ sums).T
        vx, vy = n * sxx - sx * sx, n * syy - sy * sy
        # Variation below the float noise of the values, or of the sums, is none.
        varies = (vx > n * np.maximum(nx, NEGLIGIBLE * sxx)) & (
            vy > n * np.maximum(ny, NEGLIGIBLE * syy)
        )
        return _correlation(n * sxy - sx * sy, vx, vy, varies)

    return of_weights


def spearman_of(pairs: Pairs) -> OfWeights:
    """Spearman's rho: mid-ranks within each weighted sample."""
    return _rank_correlation(*pairs.levels, pairs.query, pairs.n_queries)


def _rank_correlation(x: FloatArray, y: FloatArray, query: IntArray, n_queries: int) -> OfWeights:
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

    def of_weights(weights: FloatArray) -> FloatArray:
        # A column for each resample: ranks of a cell are then rows, which are copied as a whole.
        columns = np.ascontiguousarray(weights.T)
        x_ranks, vx = centered_ranks(x_counts @ columns)
        y_ranks, vy = centered_ranks(y_counts @ columns)
        product = cell_counts @ columns
        product *= x_ranks[x_cell]
        product *= y_ranks[y_cell]
        return _correlation(product.sum(axis=0), vx, vy, (vx > 0) & (vy > 0))

    # Small blocks stay in the processor's cache.
    return lambda weights: in_row_blocks(of_weights, weights, 4 * cells.size, CACHED_NUMBERS)


def kendall_of(pairs: Pairs) -> OfWeights:
    """Kendall's tau-b over all pairs of points."""
    if few_enough(pairs.query):
        return tau_b_of_pair_sums(*pairs.levels, pairs.query)
    # Compiled, which a small sample need not wait for.
    from analysis.statistics.agreement.kendall import tau_b_of_weights

    return tau_b_of_weights(*pairs.levels, pairs.query)


def kendall_within_of(pairs: Pairs) -> OfWeights:
    """Tau-b from the pairs inside queries: concordances and untied pairs summed over queries."""
    sums = within_query_pairs(pairs)

    def of_weights(weights: FloatArray) -> FloatArray:
        score, untied_x, untied_y = (weights @ sums).T
        scale = np.sqrt(untied_x) * np.sqrt(untied_y)
        return ratio(score, scale, scale > 0)

    return of_weights


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


def mean_of(values: FloatArray, query: IntArray, n_queries: int) -> OfWeights:
    """Mean of values (n,) over the weighted responses."""
    sums = sums_by_query(np.column_stack([np.ones(values.size), values]), query, n_queries)

    def of_weights(weights: FloatArray) -> FloatArray:
        n, total = (weights @ sums).T
        return ratio(total, n, n > 0)

    return of_weights


def _largest(values: FloatArray) -> float:
    """Largest magnitude, 1 if there is none: the unit in which squares stay within range."""
    return float(np.abs(values).max(initial=0.0)) or 1.0


def _correlation(
    product: FloatArray, vx: FloatArray, vy: FloatArray, defined: np.ndarray
) -> FloatArray:
    scale = np.sqrt(np.maximum(vx, 0)) * np.sqrt(np.maximum(vy, 0))
    # Only rounding carries a correlation beyond 1 in magnitude.
    return np.clip(ratio(product, scale, defined & (scale > 0)), -1, 1)
