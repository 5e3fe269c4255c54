"""Decisions on pairs of systems: do people, the judge, both or neither find a difference?

Each finds one where the interval of the mean paired difference excludes 0. The intervals hold for
all pairs of systems at once, and rest on the same responses for people and judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import FloatArray, IntArray, as_values
from analysis.core.resampling import PERCENTILE_FROM, Scheme
from analysis.core.simultaneous_intervals import (
    NO_SPREAD_REASON,
    SimultaneousIntervals,
    simultaneous_intervals,
)
from analysis.statistics.discrimination.system_scores import (
    PairedDifferences,
    on_resamples,
    paired_differences,
    scheme_for,
)

Decision = Literal["same", "opposite", "people_only", "judge_only", "neither", "undecided"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)

#: Pairs of systems whose intervals are computed together (63 systems).
PAIRS_DECIDED = 2000


@dataclass(frozen=True, eq=False)
class Decisions:
    """One decision for each pair of systems, with the differences (P,) that led to it.

    `undecided`: an interval could not be given. `share` is that of equal decisions (`same`,
    `neither`) among the decided pairs, NaN with a `reason` where none is.
    """

    first: IntArray
    second: IntArray
    found: tuple[Decision, ...]
    judge: FloatArray
    judge_intervals: SimultaneousIntervals
    people: FloatArray
    people_intervals: SimultaneousIntervals
    n_shared: IntArray
    reason: str | None = None

    def count(self, decision: Decision) -> int:
        """Pairs with this decision."""
        return self.found.count(decision)

    @property
    def decided(self) -> int:
        """Pairs on which both decided."""
        return len(self.found) - self.count("undecided")

    @property
    def share(self) -> float:
        """Share of decided pairs on which the decisions are equal."""
        if not self.decided:
            return float("nan")
        return (self.count("same") + self.count("neither")) / self.decided


def decisions(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    weights: npt.NDArray[np.uint16],
    level: float = 0.95,
    seed: int = 0,
) -> Decisions:
    """Decide on scores (queries, systems), NaN where missing, from the cells that both have.

    `weights` (resamples, queries) are bootstrap counts, which serve from 500 contributing queries
    on; below, the jackknife does. ValueError where the shapes do not fit.
    """
    x, y = as_values(judge, "judge"), as_values(people, "people")
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"scores of shapes {x.shape} and {y.shape}: expected (queries, systems)")
    if x.shape[1] * (x.shape[1] - 1) // 2 > PAIRS_DECIDED:
        many = x.shape[1] * (x.shape[1] - 1) // 2
        return _none(f"{many:,} pairs of systems are more than {PAIRS_DECIDED:,}")
    both = np.isfinite(x) & np.isfinite(y)
    tables = [paired_differences(np.where(both, values, np.nan)) for values in (x, y)]
    shared = tables[0].n_queries
    if not (shared >= 1).any():
        return _none("no two systems have answers to one query with both values")
    scheme = scheme_for(tables[0], PERCENTILE_FROM)
    drawn = (
        on_resamples(tables, weights)
        if scheme == "bootstrap"
        else [table.without_each_query() for table in tables]
    )
    intervals = [
        _intervals(table, values, scheme, level, seed)
        for table, values in zip(tables, drawn, strict=True)
    ]
    sides = [_side(table.point, of) for table, of in zip(tables, intervals, strict=True)]
    found = tuple(_decision(j, h) for j, h in zip(*sides, strict=True))
    decided = any(decision != "undecided" for decision in found)
    return Decisions(
        tables[0].first,
        tables[0].second,
        found,
        tables[0].point,
        intervals[0],
        tables[1].point,
        intervals[1],
        shared,
        None if decided else "no pair of systems has an interval from both",
    )


def _intervals(
    table: PairedDifferences, values: FloatArray, scheme: Scheme, level: float, seed: int
) -> SimultaneousIntervals:
    return simultaneous_intervals(table.point, values, scheme, level, seed)


def _side(point: FloatArray, of: SimultaneousIntervals) -> list[int | None]:
    """1 where the first system is better, -1 where the second is, 0 for no difference found."""
    found: list[int | None] = []
    for at, low, high, reason in zip(point, of.low, of.high, of.reasons, strict=True):
        if reason == NO_SPREAD_REASON and at == 0:
            found.append(0)  # equal on every query
        elif reason is not None:
            found.append(None)
        else:
            found.append(1 if low > 0 else -1 if high < 0 else 0)
    return found


def _decision(judge: int | None, people: int | None) -> Decision:
    if judge is None or people is None:
        return "undecided"
    if judge and people:
        return "same" if judge == people else "opposite"
    return "judge_only" if judge else "people_only" if people else "neither"


def _none(reason: str) -> Decisions:
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    interval = SimultaneousIntervals(empty, empty, empty, float("nan"), float("nan"), "", ())
    return Decisions(none, none, (), empty, interval, empty, interval, none, reason)
