"""Human correlations between two constructs, within a rater and across raters.

One rater who gives two constructs of a response carries an impression from one to the other. Two
different raters do not share that impression: their correlation is the constructs' own, and what
the same rater shows beyond it is halo.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RaterPairs:
    """Sums by query (Q, 6) of weight, x, y, xx, yy and xy over pairs of raters, and their items."""

    sums: FloatArray
    items: BoolArray


def across_raters(
    first: FloatArray, second: FloatArray, query: IntArray, n_queries: int
) -> RaterPairs:
    """Rater a on the first construct with rater b on the second, a and b different.

    `first` and `second` (n, R) are `prepared` values of the same responses and raters, NaN
    missing. Every ordered pair of raters of a response enters, each response with weight 1 in all,
    so that a response with many raters counts no more than another. The correlation of the sums is
    that of one draw: a response, then two of its raters. The sums over pairs follow from the
    raters' sums, without a loop over pairs.
    """
    x, y, has_x, has_y = _filled(first, second)
    both = has_x & has_y
    x_count, y_count = has_x.sum(axis=1), has_y.sum(axis=1)
    pairs = x_count * y_count - both.sum(axis=1)
    x_sum, y_sum = x.sum(axis=1), y.sum(axis=1)
    # Each of a's values meets all of b's but a's own.
    met_x = x_sum * y_count - (x * both).sum(axis=1)
    met_y = y_sum * x_count - (y * both).sum(axis=1)
    met_xx = (x * x).sum(axis=1) * y_count - (x * x * both).sum(axis=1)
    met_yy = (y * y).sum(axis=1) * x_count - (y * y * both).sum(axis=1)
    met_xy = x_sum * y_sum - (x * y).sum(axis=1)
    return _by_query((met_x, met_y, met_xx, met_yy, met_xy), pairs, query, n_queries)


def same_rater(
    first: FloatArray, second: FloatArray, query: IntArray, n_queries: int
) -> RaterPairs:
    """The same rater on both constructs; arguments and weights as for `across_raters`."""
    x, y, has_x, has_y = _filled(first, second)
    both = has_x & has_y
    columns = (x, y, x * x, y * y, x * y)
    sums = tuple((column * both).sum(axis=1) for column in columns)
    return _by_query(sums, both.sum(axis=1), query, n_queries)


def _filled(
    first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError(
            f"ratings have shapes {first.shape} and {second.shape}: expected equal (n, raters)"
        )
    has_first, has_second = np.isfinite(first), np.isfinite(second)
    return (
        np.where(has_first, first, 0.0),
        np.where(has_second, second, 0.0),
        has_first,
        has_second,
    )


def _by_query(
    sums: tuple[FloatArray, ...], pairs: IntArray, query: IntArray, n_queries: int
) -> RaterPairs:
    items = np.asarray(pairs > 0)
    weight = 1.0 / pairs[items]
    columns = [np.ones(weight.size), *(column[items] * weight for column in sums)]
    return RaterPairs(
        np.column_stack([np.bincount(query[items], column, n_queries) for column in columns]),
        items,
    )
