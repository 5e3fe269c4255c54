"""What is compared in each scope: responses, query means, deviations from them, system means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.query_statistic import (
    BoolArray,
    FloatArray,
    IntArray,
    as_codes,
    as_values,
    comparable,
    sums_by_query,
)

Scope = Literal["pooled", "between_queries", "within_query", "system_level"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Points to correlate: x, y (n,) and the query each belongs to.

    `n_responses` counts the responses behind the points and `n_dropped` those left out because
    one of the two values is missing.
    """

    x: FloatArray
    y: FloatArray
    query: IntArray
    n_queries: int
    n_responses: int
    n_dropped: int

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
    """Responses with both values, restricted to `items` (n,) bool; and which responses they are.

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
    one = (np.isfinite(first) ^ np.isfinite(second)) & chosen
    count, dropped = int(np.count_nonzero(both)), int(np.count_nonzero(one))
    return Pairs(first[both], second[both], codes[both], total, count, dropped), both


def between_queries(pairs: Pairs) -> Pairs:
    """One point per query: the means over its common responses."""
    means, queries = _query_means(pairs)
    return Pairs(
        means[:, 0], means[:, 1], queries, pairs.n_queries, pairs.n_responses, pairs.n_dropped
    )


def within_query(pairs: Pairs) -> Pairs:
    """Deviations from the query's mean; queries with a single response have none."""
    counts = np.bincount(pairs.query, minlength=pairs.n_queries)
    kept = counts[pairs.query] >= 2
    x, y, query = pairs.x[kept], pairs.y[kept], pairs.query[kept]
    alone = int(np.count_nonzero(~kept))
    return Pairs(
        _deviations(x, query, pairs.n_queries),
        _deviations(y, query, pairs.n_queries),
        query,
        pairs.n_queries,
        pairs.n_responses - alone,
        pairs.n_dropped + alone,
    )


def _query_means(pairs: Pairs) -> tuple[FloatArray, IntArray]:
    sums = sums_by_query(
        np.column_stack([np.ones(pairs.x.size), pairs.x, pairs.y]), pairs.query, pairs.n_queries
    )
    queries = np.flatnonzero(sums[:, 0])
    return sums[queries, 1:] / sums[queries, :1], queries.astype(np.int64)


def _deviations(values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """Exactly 0 where a query's values are equal, whatever the rounding of their mean."""
    if values.size == 0:
        return values
    low = np.full(n_queries, np.inf)
    high = np.full(n_queries, -np.inf)
    level = comparable(values)
    np.minimum.at(low, query, level)
    np.maximum.at(high, query, level)
    sums = sums_by_query(np.column_stack([np.ones(values.size), values]), query, n_queries)
    means = sums[query, 1] / sums[query, 0]
    return np.where((low == high)[query], 0.0, values - means)
