"""Kendall's tau-b as a quadratic form in query weights, for samples of up to a few thousand points.

A pair of points of queries a and b counts as often as the product of the queries' weights. Its
sign is known beforehand, so that the pairs are summed once, into matrices (Q, Q), and a resample
costs a product with them. All sums are whole numbers and exact, in whichever order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import (
    BLOCK_NUMBERS,
    FloatArray,
    IntArray,
    OfWeights,
    in_row_blocks,
    ratio,
)

#: Up to this many points the pairs are summed in less time than 1,000 resamples take by the tree.
POINTS_SUMMED = 4000
#: Up to this many queries a product with the matrices is faster than the tree.
QUERIES_SUMMED = 300


def few_enough(query: IntArray) -> bool:
    """Whether points of these queries (n,) are better summed in pairs."""
    return query.size <= POINTS_SUMMED and np.unique(query).size <= QUERIES_SUMMED


def tau_b_of_pair_sums(x: FloatArray, y: FloatArray, query: IntArray) -> OfWeights:
    """Kendall's tau-b of points x, y (n,) as a function of query weights.

    Pairs formed by two copies of one point are tied on both sides, as when it is repeated.
    """
    order = np.argsort(query, kind="stable")
    queries, starts = np.unique(query[order], return_index=True)
    sums = _summed(x[order], y[order], starts)

    def of_weights(weights: FloatArray) -> FloatArray:
        own = weights[:, queries]
        score, untied_x, untied_y = (np.einsum("rq,rq->r", own @ part, own) / 2 for part in sums)
        scale = np.sqrt(untied_x) * np.sqrt(untied_y)
        return ratio(score, scale, scale > 0)

    return lambda weights: in_row_blocks(of_weights, weights, 8 * queries.size)


def _summed(x: FloatArray, y: FloatArray, starts: npt.NDArray[np.intp]) -> FloatArray:
    """Concordant minus discordant pairs, pairs untied in x, and in y, by queries (3, Q, Q).

    Every pair stands there twice, once in each order.
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
