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
    of_systems: FloatArray
    """(Q, S + 1): scores, then 1; zeros for queries on which a system has none."""
    others: IntArray
    """Queries (m,) on which some systems have scores and some have none."""
    of_pairs: FloatArray
    """(m, 2 P): differences, then 1 for each pair that shares the query."""

    @property
    def n_queries(self) -> IntArray:
        """Queries (P,) that each pair shares."""
        shared = self.of_pairs[:, self.first.size :].sum(axis=0)
        return np.asarray(shared + self.of_systems[:, -1].sum(), dtype=np.int64)

    @property
    def contributing(self) -> BoolArray:
        """Queries (Q,) that any pair shares."""
        out: BoolArray = np.asarray(self.of_systems[:, -1] > 0)
        out[self.others] = self.of_pairs[:, self.first.size :].any(axis=1)
        return out

    @property
    def point(self) -> FloatArray:
        """Differences (P,), first minus second; NaN without a common query."""
        return self.of_sums(self.of_systems.sum(axis=0), self.of_pairs.sum(axis=0))

    def of_sums(self, of_systems: FloatArray, of_pairs: FloatArray) -> FloatArray:
        """Differences (..., P) from sums over queries (..., S + 1) and (..., 2 P)."""
        pairs = self.first.size
        total = of_systems[..., self.first] - of_systems[..., self.second] + of_pairs[..., :pairs]
        shared = of_systems[..., -1:] + of_pairs[..., pairs:]
        return ratio(total, shared, np.asarray(shared > 0))

    def without_each_query(self) -> FloatArray:
        """Differences (rows, P) without each of the contributing queries in turn."""
        rows = np.flatnonzero(self.contributing)
        of_pairs = np.tile(self.of_pairs.sum(axis=0), (rows.size, 1))
        place = np.searchsorted(rows, self.others[np.isin(self.others, rows)])
        of_pairs[place] -= self.of_pairs[np.isin(self.others, rows)]
        return self.of_sums(self.of_systems.sum(axis=0) - self.of_systems[rows], of_pairs)


def paired_differences(scores: FloatArray) -> PairedDifferences:
    """Prepare the differences between systems of scores (Q, S), NaN for missing."""
    present = np.isfinite(scores)
    first, second = np.triu_indices(scores.shape[1], 1)
    whole: BoolArray = np.asarray(present.all(axis=1))
    others = np.flatnonzero(present.any(axis=1) & ~whole)
    centered = scores - np.nanmedian(scores) if present.any() else scores
    of_systems = np.column_stack([np.where(whole[:, None], centered, 0.0), whole])
    both = present[others][:, first] & present[others][:, second]
    of_others = centered[others]
    differences = np.where(both, of_others[:, first] - of_others[:, second], 0.0)
    return PairedDifferences(first, second, of_systems, others, np.hstack([differences, both]))


def rows_at_once(n_queries: int) -> int:
    """Resamples of so many queries that `on_resamples` should get in one block."""
    return max(1, BLOCK_NUMBERS // max(1, n_queries) // 4)


def on_resamples(
    differences: Sequence[PairedDifferences], blocks: Iterable[npt.NDArray[Any]]
) -> list[FloatArray]:
    """Differences (R, P) of each table on blocks of weights (rows, Q), in few products."""
    of_systems = np.hstack([table.of_systems for table in differences])
    ends = np.cumsum([table.of_systems.shape[1] for table in differences])
    of_pairs: list[list[FloatArray]] = [[] for _ in differences]
    sums = []
    for block in blocks:
        weights = block.astype(np.float64, copy=False)
        sums.append(weights @ of_systems)
        for table, parts in zip(differences, of_pairs, strict=True):
            parts.append(weights[:, table.others] @ table.of_pairs)
    of_tables = np.split(np.concatenate(sums), ends[:-1], axis=1)
    return [
        table.of_sums(of_table, np.concatenate(parts))
        for table, of_table, parts in zip(differences, of_tables, of_pairs, strict=True)
    ]


def scheme_for(differences: PairedDifferences, bootstrap_from: int) -> Scheme:
    """Bootstrap where enough queries contribute, else the jackknife."""
    enough = np.count_nonzero(differences.contributing) >= bootstrap_from
    return "bootstrap" if enough else "jackknife"
