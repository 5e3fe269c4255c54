"""Weighted Kendall concordance, compiled.

Compilation takes a few seconds once per machine and is cached on disk; this module is imported
only for Kendall correlations of pairs across queries.
"""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.computation import compiled
from analysis.core.query_statistic import WeightedStatistic
from analysis.statistics.agreement.pair_figures import PairFigure, tau_b

#: With this many cells per item or fewer, counting in a table beats the tree.
CELLS_PER_ITEM = 4


def tau_b_of_weights(
    x: FloatArray, y: FloatArray, query: IntArray, figure: PairFigure = tau_b
) -> WeightedStatistic:
    """Kendall's tau-b (or another `figure` of pairs) of points x, y (n,) by query weights.

    Pairs formed by two copies of one item are tied on both sides, as when it is repeated.
    """
    x_code = np.unique(x, return_inverse=True)[1].astype(np.int64)
    y_code = np.unique(y, return_inverse=True)[1].astype(np.int64)
    n_x, n_y = int(x_code.max()) + 1, int(y_code.max()) + 1
    order = np.argsort(x_code, kind="stable")
    sorted_query, sorted_x, sorted_y = query[order], x_code[order], y_code[order]

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        contiguous = np.ascontiguousarray(weights)
        if n_x * n_y <= CELLS_PER_ITEM * x.size:
            out = _by_table(contiguous, sorted_query, sorted_x, sorted_y, (n_x, n_y))
        else:
            out = _by_tree(contiguous, sorted_query, sorted_x, sorted_y, n_y)
        return figure(*out.T)

    return weighted_statistic


@compiled
def _by_table(
    weights: FloatArray, query: IntArray, x: IntArray, y: IntArray, shape: tuple[int, int]
) -> FloatArray:
    """Concordant minus discordant pairs and pairs untied in x, in y: (R, 3)."""
    n_x, n_y = shape
    out = np.empty((weights.shape[0], 3))
    table = np.empty((n_x, n_y))
    column = np.empty(n_y)
    for r in range(weights.shape[0]):
        table[:] = 0
        column[:] = 0
        for i in range(query.size):
            table[x[i], y[i]] += weights[r, query[i]]
        total = 0.0
        score = 0.0
        squares_x = 0.0
        for a in range(n_x):
            row_total = 0.0
            below = 0.0
            for b in range(n_y):
                cell = table[a, b]
                score += cell * (2 * below + column[b] - total)
                below += column[b]
                row_total += cell
            for b in range(n_y):
                column[b] += table[a, b]
            total += row_total
            squares_x += row_total * row_total
        squares_y = 0.0
        for b in range(n_y):
            squares_y += column[b] * column[b]
        out[r, 0] = score
        out[r, 1] = (total * total - squares_x) / 2
        out[r, 2] = (total * total - squares_y) / 2
    return out


@compiled
def _by_tree(
    weights: FloatArray, query: IntArray, x: IntArray, y: IntArray, n_y: int
) -> FloatArray:
    """The same for many distinct values, with a Fenwick tree over the codes of y."""
    out = np.empty((weights.shape[0], 3))
    tree = np.empty(n_y + 1)
    column = np.empty(n_y)
    for r in range(weights.shape[0]):
        tree[:] = 0
        column[:] = 0
        total = 0.0
        score = 0.0
        squares_x = 0.0
        start = 0
        while start < x.size:
            # Items tied in x are compared with those before them, then all entered together.
            end = start
            while end < x.size and x[end] == x[start]:
                weight = weights[r, query[end]]
                if weight != 0:
                    below = 0.0
                    k = y[end]
                    while k > 0:
                        below += tree[k]
                        k -= k & -k
                    score += weight * (2 * below + column[y[end]] - total)
                end += 1
            group = 0.0
            for i in range(start, end):
                weight = weights[r, query[i]]
                if weight != 0:
                    group += weight
                    column[y[i]] += weight
                    k = y[i] + 1
                    while k <= n_y:
                        tree[k] += weight
                        k += k & -k
            total += group
            squares_x += group * group
            start = end
        squares_y = 0.0
        for b in range(n_y):
            squares_y += column[b] * column[b]
        out[r, 0] = score
        out[r, 1] = (total * total - squares_x) / 2
        out[r, 2] = (total * total - squares_y) / 2
    return out
