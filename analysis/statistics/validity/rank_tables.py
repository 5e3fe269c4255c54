"""Spearman's rho and Kendall's tau-b from one contingency table a resample, compiled.

Both measures need only the weighted table of the distinct values of x by those of y. It is
filled once for both, for several resamples side by side, so that the processor's vector
instructions apply. Compilation takes a few seconds once per machine and is cached on disk; the
module is imported only for rank correlations of many pairs.
"""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.computation import compiled

#: Resamples side by side.
LANES = 16

#: Largest table for which every cell is visited: 128 by 128 distinct values.
TABLE_CELLS = 16_384


def in_lanes(weights: FloatArray) -> FloatArray:
    """Weights (R, Q) as (blocks, Q, LANES), filled up with zeros."""
    rows, queries = weights.shape
    blocks = -(-rows // LANES)
    out = np.zeros((blocks * LANES, queries))
    out[:rows] = weights
    return np.ascontiguousarray(out.reshape(blocks, LANES, queries).transpose(0, 2, 1))


@compiled
def rank_sums_by_table(  # noqa: PLR0912, PLR0915  (one kernel: calls would cost its vectors)
    lanes: FloatArray, query: IntArray, x: IntArray, y: IntArray, n_x: int, n_y: int
) -> FloatArray:
    """Six sums for each resample, shape (blocks * LANES, 6), from codes x, y (n,).

    Concordant less discordant pairs, pairs untied in x, in y; then the sum of products of the
    centered mid-ranks and their two sums of squares.
    """
    out = np.empty((lanes.shape[0] * LANES, 6))
    table = np.empty((n_x, n_y, LANES))
    rows = np.empty((n_x, LANES))
    columns = np.empty((n_y, LANES))
    rank = np.empty((n_y, LANES))
    above = np.empty((n_y, LANES))
    before, below, score, product, seen, middle, x_rank, row_product = np.empty((8, LANES))
    square_x, square_y, vx, vy = np.empty((4, LANES))
    # Most cells of two scores that agree at all stay empty in every resample.
    filled = np.zeros((n_x, n_y), dtype=np.bool_)
    for i in range(query.size):
        filled[x[i], y[i]] = True
    for block in range(lanes.shape[0]):
        weights = lanes[block]
        table[:] = 0
        rows[:] = 0
        columns[:] = 0
        above[:] = 0
        for i in range(query.size):
            a, b, q = x[i], y[i], query[i]
            for k in range(LANES):
                table[a, b, k] += weights[q, k]
        for a in range(n_x):
            for b in range(n_y):
                if not filled[a, b]:
                    continue
                for k in range(LANES):
                    rows[a, k] += table[a, b, k]
                    columns[b, k] += table[a, b, k]
        for k in range(LANES):
            before[k] = 0
            square_y[k] = 0
            vy[k] = 0
            square_x[k] = 0
            vx[k] = 0
            score[k] = 0
            product[k] = 0
            seen[k] = 0
            middle[k] = 0
        for b in range(n_y):
            for k in range(LANES):
                middle[k] += columns[b, k] / 2
        for b in range(n_y):
            for k in range(LANES):
                # Half-integers around the middle rank: sums stay exact, their mean exactly 0.
                rank[b, k] = before[k] + columns[b, k] / 2 - middle[k]
                before[k] += columns[b, k]
                square_y[k] += columns[b, k] * columns[b, k]
                vy[k] += columns[b, k] * rank[b, k] * rank[b, k]
        for a in range(n_x):
            for k in range(LANES):
                below[k] = -seen[k]
                row_product[k] = 0
            for b in range(n_y):
                if not filled[a, b]:
                    for k in range(LANES):
                        below[k] += 2 * above[b, k]
                    continue
                for k in range(LANES):
                    cell = table[a, b, k]
                    # Twice those above and to the left, and once those above, less all seen.
                    score[k] += cell * (below[k] + above[b, k])
                    below[k] += 2 * above[b, k]
                    above[b, k] += cell
                    row_product[k] += cell * rank[b, k]
            for k in range(LANES):
                x_rank[k] = seen[k] + rows[a, k] / 2 - middle[k]
                product[k] += x_rank[k] * row_product[k]
                vx[k] += rows[a, k] * x_rank[k] * x_rank[k]
                square_x[k] += rows[a, k] * rows[a, k]
                seen[k] += rows[a, k]
        for k in range(LANES):
            total = seen[k] * seen[k]
            r = block * LANES + k
            out[r, 0] = score[k]
            out[r, 1] = (total - square_x[k]) / 2
            out[r, 2] = (total - square_y[k]) / 2
            out[r, 3] = product[k]
            out[r, 4] = vx[k]
            out[r, 5] = vy[k]
    return out


@compiled
def mid_rank_sums(
    lanes: FloatArray, query: IntArray, x: IntArray, y: IntArray, n_x: int, n_y: int
) -> FloatArray:
    """The last three of those sums, shape (blocks * LANES, 3), for many distinct values."""
    out = np.empty((lanes.shape[0] * LANES, 3))
    rows = np.empty(n_x)
    columns = np.empty(n_y)
    for block in range(lanes.shape[0]):
        for k in range(LANES):
            rows[:] = 0
            columns[:] = 0
            for i in range(query.size):
                weight = lanes[block, query[i], k]
                rows[x[i]] += weight
                columns[y[i]] += weight
            total = rows.sum() / 2
            before = -total
            vx = 0.0
            for a in range(n_x):
                count = rows[a]
                rows[a] = before + count / 2
                before += count
                vx += count * rows[a] * rows[a]
            before = -total
            vy = 0.0
            for b in range(n_y):
                count = columns[b]
                columns[b] = before + count / 2
                before += count
                vy += count * columns[b] * columns[b]
            product = 0.0
            for i in range(query.size):
                product += lanes[block, query[i], k] * rows[x[i]] * columns[y[i]]
            r = block * LANES + k
            out[r, 0] = product
            out[r, 1] = vx
            out[r, 2] = vy
    return out
