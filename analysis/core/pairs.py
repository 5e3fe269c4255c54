"""The points that are compared in a scope: responses, query means, deviations from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import as_codes, as_values, centered, comparable, sums_by_query

Scope = Literal["pooled", "between_queries", "within_query", "system_level"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Points to correlate: x, y (n,) and the query each belongs to.

    `x_size`, `y_size` (n,) are the magnitudes that the points were computed from and determine
    their float noise (see `comparable`). `n_responses` counts the responses behind the
    points and `n_dropped` those left out because one of the two values is missing.
    """

    x: FloatArray
    y: FloatArray
    x_size: FloatArray
    y_size: FloatArray
    query: IntArray
    n_queries: int
    n_responses: int
    n_dropped: int

    @cached_property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        """x and y, in which values that differ by float noise only are equal."""
        return comparable(self.x, self.x_size), comparable(self.y, self.y_size)

    def only(self, chosen: BoolArray) -> Pairs:
        """The chosen points (n,) bool; the responses of the others count as dropped."""
        alone = int(np.count_nonzero(~chosen))
        return Pairs(
            self.x[chosen],
            self.y[chosen],
            self.x_size[chosen],
            self.y_size[chosen],
            self.query[chosen],
            self.n_queries,
            self.n_responses - alone,
            self.n_dropped + alone,
        )

    @property
    def contributing(self) -> BoolArray:
        """Queries (Q,) with at least one point."""
        return np.bincount(self.query, minlength=self.n_queries) > 0


def read_pairs(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    items: npt.ArrayLike | None = None,
    n_queries: int | None = None,
) -> tuple[Pairs, BoolArray]:
    """Responses with both values, restricted to `items` (n,) bool, and a mask of them (n,).

    A response with neither value is not counted as dropped.
    """
    first, second = as_values(x, "x"), as_values(y, "y")
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"x has shape {first.shape}, y {second.shape}: expected equal (n,)")
    codes, total = as_codes(query, first.size, n_queries)
    chosen = np.ones(first.size, dtype=bool) if items is None else np.asarray(items, dtype=bool)
    if chosen.shape != first.shape:
        raise ValueError(f"items has shape {chosen.shape}, expected {first.shape}")
    both = np.isfinite(first) & np.isfinite(second) & chosen
    dropped = int(np.count_nonzero((np.isfinite(first) ^ np.isfinite(second)) & chosen))
    x_both, y_both = first[both], second[both]
    return Pairs(
        x_both, y_both, np.abs(x_both), np.abs(y_both), codes[both], total, x_both.size, dropped
    ), both


def between_queries(pairs: Pairs) -> Pairs:
    """One point per query: the means over its common responses."""
    columns = np.column_stack([np.ones(pairs.x.size), pairs.x, pairs.y, pairs.x_size, pairs.y_size])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)
    queries = np.flatnonzero(sums[:, 0])
    x, y, x_size, y_size = (sums[queries, 1:] / sums[queries, :1]).T
    codes = queries.astype(np.int64)
    return replace(pairs, x=x, y=y, x_size=x_size, y_size=y_size, query=codes)


def within_query(pairs: Pairs) -> Pairs:
    """Deviations from the query's mean; queries with a single response have none."""
    counts = np.bincount(pairs.query, minlength=pairs.n_queries)
    pairs = pairs.only(counts[pairs.query] >= 2)
    x, x_size = _deviations(pairs.x, pairs.x_size, pairs.query, pairs.n_queries)
    y, y_size = _deviations(pairs.y, pairs.y_size, pairs.query, pairs.n_queries)
    return replace(pairs, x=x, y=y, x_size=x_size, y_size=y_size)


def _deviations(
    values: FloatArray, size: FloatArray, query: IntArray, n_queries: int
) -> tuple[FloatArray, FloatArray]:
    """Deviations, and the largest size in their query.

    Exactly 0 where a query's values are equal, whatever the rounding of their mean.
    """
    low = np.full(n_queries, np.inf)
    high = np.full(n_queries, -np.inf)
    largest = np.zeros(n_queries)
    level = comparable(values, size)
    np.minimum.at(low, query, level)
    np.maximum.at(high, query, level)
    np.maximum.at(largest, query, size)
    origin = centered(values)
    sums = sums_by_query(np.column_stack([np.ones(values.size), origin]), query, n_queries)
    means = sums[query, 1] / sums[query, 0]
    return np.where((low == high)[query], 0.0, origin - means), largest[query]
