"""Many statistics of the same query weights, computed together.

Computed one at a time, each statistic needs a product with the whole weight matrix. A family needs
one product for all of its sums, and statistics derived from each other (an average of correlations,
a difference) come from the same rows, so that their distribution is joint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from typing import Self

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import BLOCK_NUMBERS, WeightedStatistic, ratio
from analysis.core.resampling import PERCENTILE_FROM, QueryResampling, Replicates, Scheme
from analysis.core.unequal_queries import QueryWeights, UnequalQueries


@dataclass(frozen=True, eq=False)
class StatisticFamily:
    """m statistics, callable together on weights (R, Q); returns (R, m), NaN undefined.

    `contributing` (Q, m) marks the queries that enter each; `n_responses` and `n_dropped` (m,)
    count responses used and left out. `reasons` explain why one is undefined on the sample.
    """

    weighted_statistic: WeightedStatistic
    contributing: BoolArray
    n_responses: IntArray
    n_dropped: IntArray
    reasons: Sequence[str | None]
    weights: Sequence[QueryWeights | None] = ()
    """By how much each query counts in each statistic, where that is known."""

    @classmethod
    def from_same_responses(
        cls,
        weighted_statistic: WeightedStatistic,
        contributing: BoolArray,
        n_responses: int,
        n_dropped: int,
        reasons: Sequence[str | None],
    ) -> Self:
        """A family whose statistics are of the same responses; `contributing` (Q,)."""
        m = len(reasons)
        columns = np.repeat(contributing[:, None], m, axis=1)
        return cls(
            weighted_statistic, columns, np.full(m, n_responses), np.full(m, n_dropped), reasons
        )

    def points(self) -> FloatArray:
        """Values (m,) on the sample itself."""
        points: FloatArray = self.weighted_statistic(np.ones((1, self.contributing.shape[0])))[0]
        return points

    def replicates(self, resampling: QueryResampling) -> list[Replicates]:
        """Each statistic's point and resamples, by the scheme that suits its queries.

        As `QueryResampling.replicates` does for one: the bootstrap from 500 contributing queries
        on, below it the jackknife over the contributing queries.
        """
        points, counts = self.points(), self.contributing.sum(axis=0)
        defined = np.isfinite(points) & (counts >= 2)
        values: list[FloatArray] = [np.empty(0)] * points.size
        by_bootstrap = defined & (counts >= PERCENTILE_FROM)
        if by_bootstrap.any():
            rows = resampling.evaluate(self.weighted_statistic)
            for place in np.flatnonzero(by_bootstrap):
                values[place] = rows[:, place]
        by_jackknife = defined & ~by_bootstrap
        if by_jackknife.any():
            queries: BoolArray = np.asarray(self.contributing[:, by_jackknife].any(axis=1))
            rows = resampling.evaluate(self.weighted_statistic, "jackknife", queries)
            for place in np.flatnonzero(by_jackknife):
                values[place] = rows[self.contributing[queries, place], place]
        schemes: list[Scheme] = [
            "bootstrap" if count >= PERCENTILE_FROM else "jackknife" for count in counts
        ]
        return [
            Replicates(
                float(points[m]),
                values[m],
                schemes[m],
                int(counts[m]),
                self.reasons[m],
                weights=self._unequal(m),
            )
            for m in range(points.size)
        ]

    def _unequal(self, place: int) -> UnequalQueries | None:
        """Weights of the queries of a statistic, where one of them dominates."""
        known = self.weights[place] if self.weights else None
        return None if known is None else known.of(self.contributing[:, place])


@dataclass
class QueryColumns:
    """Columns (Q,) to be summed under weights; equal columns are kept once."""

    n_queries: int
    _parts: dict[bytes, list[FloatArray]] = field(default_factory=dict)
    """Columns by the queries that they rest on, which are few; b"" for those that rest on many.

    Those of earlier sums are one array (n, k).
    """
    _places: dict[bytes, list[int]] = field(default_factory=dict)
    _positions: dict[bytes, int] = field(default_factory=dict)

    def position(self, column: FloatArray) -> int:
        """Position of the column, which is added if it is new."""
        key = sha256(column.tobytes()).digest()
        if key not in self._positions:
            self._positions[key] = len(self._positions)
            used = column != 0
            few = np.count_nonzero(used) < self.n_queries / 4
            rests_on = used.tobytes() if few else b""
            # A view of a table would keep the columns that are known already.
            self._parts.setdefault(rests_on, []).append(column[used] if few else column.copy())
            self._places.setdefault(rests_on, []).append(self._positions[key])
        return self._positions[key]

    def sums(self) -> WeightedStatistic:
        """Function of weights (R, Q) that returns the weighted sums (R, columns).

        Columns that rest on the same few queries are summed over those only. They are put together
        in place, so that they are not in memory twice.
        """
        width = len(self._positions)
        groups = []
        for key, places in self._places.items():
            rows = np.flatnonzero(np.frombuffer(key, dtype=bool)) if key else slice(None)
            part = _stacked(self._parts[key])
            self._parts[key] = [part]
            groups.append((rows, tuple(places), part))

        def weighted_statistic(weights: FloatArray) -> FloatArray:
            out = np.empty((weights.shape[0], width))
            for rows, places, part in groups:
                out[:, places] = weights[:, rows] @ part
            return out

        return weighted_statistic


def _stacked(columns: list[FloatArray]) -> FloatArray:
    """The columns, each (n,) or (n, k), as (n, columns); the list is emptied one by one."""
    if len(columns) == 1 and columns[0].ndim == 2:
        return columns[0]
    end = sum(1 if column.ndim == 1 else column.shape[1] for column in columns)
    stacked = np.empty((columns[0].shape[0], end))
    while columns:
        column = columns.pop()
        part = column if column.ndim == 2 else column[:, None]
        begin = end - part.shape[1]
        stacked[:, begin:end] = part
        end = begin
    return stacked


NO_SCORES = "there are no scores"


@dataclass(frozen=True, eq=False)
class Averaged:
    """Values (n,) of which the mean is computed, NaN missing, and their query codes (n,)."""

    values: FloatArray
    query: IntArray


def replicated_means(
    parts: Iterable[Averaged], n_queries: int, resampling: QueryResampling
) -> Iterator[tuple[StatisticFamily, int, Replicates]]:
    """Of each part, the family of its mean, the position in the family, and the resamples.

    As many parts are computed together as keep the resamples within 16 MB; they are taken one by
    one. A mean of zeros and ones is a share.
    """
    at_once = max(1, BLOCK_NUMBERS // max(1, resampling.resamples))
    waiting = iter(parts)
    for first in waiting:
        family = means(chain([first], islice(waiting, at_once - 1)), n_queries)
        for place, replicates in enumerate(family.replicates(resampling)):
            yield family, place, replicates


def _shares(values: FloatArray) -> FloatArray:
    """What each value contributes to their mean."""
    return values / max(1, values.size)


def means(parts: Iterable[Averaged], n_queries: int) -> StatisticFamily:
    """Means of the parts as functions of query weights."""
    columns = QueryColumns(n_queries)
    counts, totals, contributing = [], [], []
    used, dropped = [], []
    weights: list[QueryWeights | None] = []
    for part in parts:
        present = np.isfinite(part.values)
        query = part.query[present]
        count = np.bincount(query, minlength=n_queries).astype(np.float64)
        total: FloatArray = np.bincount(query, part.values[present], n_queries).astype(np.float64)
        counts.append(columns.position(count))
        totals.append(columns.position(total))
        contributing.append(count > 0)
        values = part.values[present]
        weights.append(
            QueryWeights.from_responses(query, n_queries, query, partial(_shares, values))
        )
        used.append(int(present.sum()))
        dropped.append(int((~present).sum()))
    sums = columns.sums()

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = sums(weights)
        n = summed[:, counts]
        return ratio(summed[:, totals], n, n > 0)

    return StatisticFamily(
        weighted_statistic,
        np.column_stack(contributing) if contributing else np.zeros((n_queries, 0), dtype=bool),
        np.array(used, dtype=np.int64),
        np.array(dropped, dtype=np.int64),
        [None if n else NO_SCORES for n in used],
        weights,
    )
