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

    Queries on which all S systems have scores enter by the sums of the systems, the others by pair.
    """

    first: IntArray
    second: IntArray
    """(P,)"""
    system_columns: FloatArray
    """(Q, S + 1): scores, then 1; zeros for queries on which a system has none."""
    others: IntArray
    """Queries (m,) on which some systems have scores and some have none."""
    pair_columns: FloatArray
    """(m, 2 P): differences, then 1 for each pair that shares the query."""

    @property
    def n_queries(self) -> IntArray:
        """Queries (P,) that each pair shares."""
        shared = self.pair_columns[:, self.first.size :].sum(axis=0)
        return np.asarray(shared + self.system_columns[:, -1].sum(), dtype=np.int64)

    @property
    def contributing(self) -> BoolArray:
        """Queries (Q,) that any pair shares."""
        out: BoolArray = np.asarray(self.system_columns[:, -1] > 0)
        out[self.others] = self.pair_columns[:, self.first.size :].any(axis=1)
        return out

    @property
    def point(self) -> FloatArray:
        """Differences (P,), first minus second; NaN without a common query."""
        return self.from_sums(self.system_columns.sum(axis=0), self.pair_columns.sum(axis=0))

    def from_sums(self, system_columns: FloatArray, pair_columns: FloatArray) -> FloatArray:
        """Differences (..., P) from sums over queries (..., S + 1) and (..., 2 P)."""
        pairs = self.first.size
        total = (
            system_columns[..., self.first]
            - system_columns[..., self.second]
            + pair_columns[..., :pairs]
        )
        shared = system_columns[..., -1:] + pair_columns[..., pairs:]
        return ratio(total, shared, np.asarray(shared > 0))

    def without_each_query(self) -> FloatArray:
        """Differences (rows, P) without each of the contributing queries in turn."""
        rows = np.flatnonzero(self.contributing)
        pair_columns = np.tile(self.pair_columns.sum(axis=0), (rows.size, 1))
        place = np.searchsorted(rows, self.others[np.isin(self.others, rows)])
        pair_columns[place] -= self.pair_columns[np.isin(self.others, rows)]
        return self.from_sums(
            self.system_columns.sum(axis=0) - self.system_columns[rows], pair_columns
        )


def paired_differences(scores: FloatArray) -> PairedDifferences:
    """Prepare the differences between systems of scores (Q, S), NaN for missing."""
    present = np.isfinite(scores)
    first, second = np.triu_indices(scores.shape[1], 1)
    whole: BoolArray = np.asarray(present.all(axis=1))
    others = np.flatnonzero(present.any(axis=1) & ~whole)
    centered = scores - np.nanmedian(scores) if present.any() else scores
    system_columns = np.column_stack([np.where(whole[:, None], centered, 0.0), whole])
    both = present[others][:, first] & present[others][:, second]
    other_scores = centered[others]
    differences = np.where(both, other_scores[:, first] - other_scores[:, second], 0.0)
    return PairedDifferences(first, second, system_columns, others, np.hstack([differences, both]))


def rows_at_once(n_queries: int) -> int:
    """Resamples of so many queries that `on_resamples` should get in one block."""
    return max(1, BLOCK_NUMBERS // max(1, n_queries) // 4)


def on_resamples(
    differences: Sequence[PairedDifferences], blocks: Iterable[npt.NDArray[Any]]
) -> list[FloatArray]:
    """Differences (R, P) of each table on blocks of weights (rows, Q), in few products."""
    system_columns = np.hstack([table.system_columns for table in differences])
    ends = np.cumsum([table.system_columns.shape[1] for table in differences])
    pair_columns: list[list[FloatArray]] = [[] for _ in differences]
    sums = []
    for block in blocks:
        weights = block.astype(np.float64, copy=False)
        sums.append(weights @ system_columns)
        for table, parts in zip(differences, pair_columns, strict=True):
            parts.append(weights[:, table.others] @ table.pair_columns)
    table_sums = np.split(np.concatenate(sums), ends[:-1], axis=1)
    return [
        table.from_sums(system_sums, np.concatenate(parts))
        for table, system_sums, parts in zip(differences, table_sums, pair_columns, strict=True)
    ]


def scheme_for(differences: PairedDifferences, bootstrap_from: int) -> Scheme:
    """Bootstrap where enough queries contribute, else the jackknife."""
    enough = np.count_nonzero(differences.contributing) >= bootstrap_from
    return "bootstrap" if enough else "jackknife"
