"""Means and shares of many sets of scores, on one product of the query weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.core.query_statistic import BLOCK_NUMBERS, FloatArray, IntArray, ratio
from analysis.core.resampling import QueryResampling, Replicates
from analysis.core.statistic_family import QueryColumns, StatisticFamily

NO_SCORES = "there are no scores"


@dataclass(frozen=True, eq=False)
class Averaged:
    """Values (n,), NaN missing, whose mean is wanted, with their query codes (n,)."""

    values: FloatArray
    query: IntArray


def replicated_means(
    parts: Sequence[Averaged], n_queries: int, resampling: QueryResampling
) -> Iterator[tuple[StatisticFamily, int, Replicates]]:
    """The mean of each part with its resamples, and where it stands in which family.

    Parts are taken as many at a time as keep the resamples within 64 MB. A mean of zeros and ones
    is a share.
    """
    at_once = max(1, BLOCK_NUMBERS // max(1, resampling.resamples))
    for start in range(0, len(parts), at_once):
        family = means(parts[start : start + at_once], n_queries)
        for place, found in enumerate(family.replicates(resampling)):
            yield family, place, found


def means(parts: Sequence[Averaged], n_queries: int) -> StatisticFamily:
    """Means of the parts as functions of query weights."""
    columns = QueryColumns(n_queries)
    counts, totals, contributing = [], [], []
    used, dropped = [], []
    for part in parts:
        kept = np.isfinite(part.values)
        query = part.query[kept]
        count = np.bincount(query, minlength=n_queries).astype(np.float64)
        total: FloatArray = np.bincount(query, part.values[kept], n_queries).astype(np.float64)
        counts.append(columns.place(count))
        totals.append(columns.place(total))
        contributing.append(count > 0)
        used.append(int(kept.sum()))
        dropped.append(int((~kept).sum()))
    sums = columns.sums()

    def of_weights(weights: FloatArray) -> FloatArray:
        found = sums(weights)
        n = found[:, counts]
        return ratio(found[:, totals], n, n > 0)

    return StatisticFamily(
        of_weights,
        np.column_stack(contributing) if contributing else np.zeros((n_queries, 0), dtype=bool),
        np.array(used, dtype=np.int64),
        np.array(dropped, dtype=np.int64),
        [None if n else NO_SCORES for n in used],
    )
