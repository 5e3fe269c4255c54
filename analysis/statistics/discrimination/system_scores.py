"""A construct's scores by query and system, and paired differences between systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import BLOCK_NUMBERS, ratio
from analysis.core.resampling import Scheme

#: Pairs of systems that are compared (63 systems).
PAIRS_COMPARED = 2000


def system_scores(
    values: FloatArray, query: IntArray, produced: BoolArray, n_queries: int
) -> FloatArray:
    """Scores (n_queries, n_systems), NaN where a system has none.

    `values` (n,) of responses count for every system that gave the response (`produced`, (n, S)).
    Several responses of a system to one query count with their mean.
    """
    systems = produced.shape[1]
    response, system = np.nonzero(produced & np.isfinite(values)[:, None])
    cell = query[response] * systems + system
    shape = (n_queries, systems)
    count = np.bincount(cell, minlength=n_queries * systems).reshape(shape)
    total = np.bincount(cell, values[response], n_queries * systems).reshape(shape)
    return ratio(total.astype(np.float64), count.astype(np.float64), count > 0)


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """Mean differences of all pairs of systems on the queries that both have scores on.

    `columns` (Q, c) and `paired` (Q, P or 1): sums of what differences are made of, and of queries.
    """

    first: IntArray
    second: IntArray
    columns: FloatArray
    paired: FloatArray
    by_pair: bool

    @property
    def n_queries(self) -> IntArray:
        """Queries (P,) that each pair shares."""
        counts = np.broadcast_to(self.paired.sum(axis=0), self.first.shape)
        return counts.astype(np.int64)

    @property
    def contributing(self) -> BoolArray:
        """Queries (Q,) that any pair shares."""
        return np.asarray(self.paired.any(axis=1))

    @property
    def point(self) -> FloatArray:
        """Differences (P,), first minus second; NaN without a common query."""
        return self.of_sums(self.columns.sum(axis=0), self.paired.sum(axis=0))

    def of_sums(self, columns: FloatArray, paired: FloatArray) -> FloatArray:
        """Differences (..., P) from sums of `columns` (..., c) and of `paired`."""
        if not self.by_pair:
            columns = columns[..., self.first] - columns[..., self.second]
        return ratio(columns, paired, np.broadcast_to(paired > 0, columns.shape))

    def without_each_query(self) -> FloatArray:
        """Differences (rows, P) without each of the contributing queries in turn."""
        rows = self.contributing
        columns = self.columns.sum(axis=0) - self.columns[rows]
        return self.of_sums(columns, self.paired.sum(axis=0) - self.paired[rows])


def paired_differences(scores: FloatArray) -> PairedDifferences:
    """Prepare the differences between systems of scores (Q, S), NaN for missing.

    Where every query has scores of all systems or of none, the sums by system suffice.
    """
    present = np.isfinite(scores)
    first, second = np.triu_indices(scores.shape[1], 1)
    whole: BoolArray = np.asarray(present.all(axis=1))
    centered = scores - np.nanmedian(scores) if present.any() else scores
    if (whole == present.any(axis=1)).all():
        columns = np.where(present, centered, 0.0)
        return PairedDifferences(first, second, columns, whole[:, None].astype(np.float64), False)
    both = present[:, first] & present[:, second]
    columns = np.where(both, centered[:, first] - centered[:, second], 0.0)
    return PairedDifferences(first, second, columns, both.astype(np.float64), True)


def rows_at_once(n_queries: int) -> int:
    """Resamples of so many queries that `on_resamples` should get in one block."""
    return max(1, BLOCK_NUMBERS // max(1, n_queries) // 4)


def on_resamples(
    differences: Sequence[PairedDifferences], blocks: Iterable[npt.NDArray[Any]]
) -> list[FloatArray]:
    """Differences (R, P) of each table on blocks of weights (rows, Q), in few products."""
    parts = [part for table in differences for part in (table.columns, table.paired)]
    ends = np.cumsum([table.columns.shape[1] + table.paired.shape[1] for table in differences])
    columns = np.column_stack(parts)
    sums = np.concatenate([block.astype(np.float64, copy=False) @ columns for block in blocks])
    results = []
    for table, of_table in zip(differences, np.split(sums, ends[:-1], axis=1), strict=True):
        width = table.columns.shape[1]
        results.append(table.of_sums(of_table[:, :width], of_table[:, width:]))
    return results


def scheme_for(differences: PairedDifferences, bootstrap_from: int) -> Scheme:
    """Bootstrap where enough queries contribute, else the jackknife."""
    enough = np.count_nonzero(differences.contributing) >= bootstrap_from
    return "bootstrap" if enough else "jackknife"
