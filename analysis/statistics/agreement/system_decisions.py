"""Decisions on pairs of systems: do judge and people find the same systems better?

`decisions`: people or the judge find a difference where the interval of the mean paired difference
excludes 0. The intervals hold for all pairs of systems at once, and rest on the same responses for
people and judge.

`soft_pairwise_accuracy`: for each pair of systems people and judge have a p-value that the first is
better; 1 minus the mean absolute difference of the p-values lets a judge be unsure where people
are. Both p-values come from one set of permutations, in which the two systems' answers to a query
change places. Source: Thompson, Mathur, Deutsch and Khayrallah (2024), WMT, 1222-1234, "Improving
Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy",
equation 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import NOISE, as_values
from analysis.core.resampling import EQUAL_RESAMPLES, PERCENTILE_FROM
from analysis.core.simultaneous_intervals import (
    SimultaneousIntervals,
    simultaneous_intervals,
)
from analysis.statistics.discrimination.system_scores import (
    PAIRS_COMPARED,
    on_resamples,
    paired_differences,
    scheme_for,
)
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems

Decision = Literal["same", "opposite", "people_only", "judge_only", "neither", "undecided"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)

#: Permutations of the answers to queries.
PERMUTATIONS = 1000

#: Signs that are drawn at once. Part of the definition: changing it changes every draw.
_SIGNS_AT_ONCE = 2_000_000

NOTHING_SHARED = "no two systems have answers to one query with both values"
NOTHING_LINKED = "no two systems with answers to one query are linked by a rater"


@dataclass(frozen=True, eq=False)
class Decisions:
    """One decision for each pair of systems, with the differences (P,) that led to it.

    `undecided`: an interval could not be given. `share` is that of equal decisions (`same`,
    `neither`) among the decided pairs, NaN with a `reason` where none is.
    """

    first: IntArray
    second: IntArray
    decisions: tuple[Decision, ...]
    judge: FloatArray
    judge_intervals: SimultaneousIntervals
    people: FloatArray
    people_intervals: SimultaneousIntervals
    apart: FloatArray
    """The judge's difference minus people's; its error accounts for the shared responses."""
    apart_intervals: SimultaneousIntervals
    n_shared: IntArray
    reason: str | None = None

    def count(self, decision: Decision) -> int:
        """Pairs with this decision."""
        return self.decisions.count(decision)

    @property
    def decided(self) -> int:
        """Pairs on which both decided."""
        return len(self.decisions) - self.count("undecided")

    @property
    def share(self) -> float:
        """Share of decided pairs on which the decisions are equal."""
        if not self.decided:
            return float("nan")
        return (self.count("same") + self.count("neither")) / self.decided


def decisions(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    weights: Iterable[npt.NDArray[Any]],
    level: float = 0.95,
    seed: int = 0,
    adjusted: AdjustedSystems | None = None,
) -> Decisions:
    """Decide on scores (queries, systems), NaN where missing, from the cells that both have.

    `weights` are blocks (rows, queries) of bootstrap counts, which are drawn from 1,000
    contributing queries on; below, the jackknife serves. `adjusted` gives people's
    differences where raters are not balanced over systems, from all ratings. ValueError where the
    shapes do not fit.
    """
    x, y = _scores(judge, people)
    pairs = x.shape[1] * (x.shape[1] - 1) // 2
    if pairs > PAIRS_COMPARED:
        return _none(f"{pairs:,} pairs of systems are more than {PAIRS_COMPARED:,}")
    both = np.isfinite(x) & np.isfinite(y)
    tables = [paired_differences(np.where(both, values, np.nan)) for values in (x, y)]
    shared = tables[0].n_queries
    if not (shared >= 1).any():
        return _none(NOTHING_SHARED)
    scheme = scheme_for(tables[0], PERCENTILE_FROM)
    drawn = (
        on_resamples(tables, weights)
        if scheme == "bootstrap"
        else [table.without_each_query() for table in tables]
    )
    intervals = [
        simultaneous_intervals(table.point, values, scheme, level, seed)
        for table, values in zip(tables, drawn, strict=True)
    ]
    points = [table.point for table in tables]
    if adjusted is not None:
        people_differences = adjusted.differences(tables[1].first, tables[1].second, level, seed)
        points[1], intervals[1] = people_differences.values, people_differences.simultaneous
    sides = [_side(point, of) for point, of in zip(points, intervals, strict=True)]
    outcomes = tuple(_decision(j, h) for j, h in zip(*sides, strict=True))
    apart = tables[0].point - tables[1].point
    shown_apart = simultaneous_intervals(apart, drawn[0] - drawn[1], scheme, level, seed)
    decided = any(decision != "undecided" for decision in outcomes)
    return Decisions(
        tables[0].first,
        tables[0].second,
        outcomes,
        points[0],
        intervals[0],
        points[1],
        intervals[1],
        apart,
        shown_apart,
        shared,
        None if decided else "no pair of systems has an interval from both",
    )


def _scores(judge: npt.ArrayLike, people: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = as_values(judge, "judge"), as_values(people, "people")
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"scores of shapes {x.shape} and {y.shape}: expected (queries, systems)")
    return x, y


def _side(point: FloatArray, of: SimultaneousIntervals) -> list[int | None]:
    """1 where the first system is better, -1 where the second is, 0 for no difference found."""
    directions: list[int | None] = []
    for at, low, high, reason in zip(point, of.low, of.high, of.reasons, strict=True):
        if reason == EQUAL_RESAMPLES and at == 0:
            directions.append(0)  # equal on every query
        elif reason is not None:
            directions.append(None)
        else:
            directions.append(1 if low > 0 else -1 if high < 0 else 0)
    return directions


def _decision(judge: int | None, people: int | None) -> Decision:
    if judge is None or people is None:
        return "undecided"
    if judge and people:
        return "same" if judge == people else "opposite"
    return "judge_only" if judge else "people_only" if people else "neither"


def _none(reason: str) -> Decisions:
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    interval = SimultaneousIntervals(
        empty, empty, empty, float("nan"), float("nan"), "", (), empty, empty
    )
    return Decisions(
        none, none, (), empty, interval, empty, interval, empty, interval, none, reason
    )


@dataclass(frozen=True, eq=False)
class SoftPairwise:
    """The accuracy, with the p-values (P,) of each pair that the first system is better."""

    value: float
    first: IntArray
    second: IntArray
    judge: FloatArray
    people: FloatArray
    n_queries: int
    reason: str | None = None


def soft_pairwise_accuracy(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    adjusted: AdjustedSystems | None = None,
) -> SoftPairwise:
    """Compare scores (queries, systems), NaN where missing, on the cells that both have.

    `adjusted` gives people's p-values where raters are not balanced over systems, from all ratings;
    pairs that no rater links then do not enter.

    A permuted difference equal to the observed one counts half, so that the p-value of the
    reversed pair is 1 - p and the order of systems does not matter. A pair without a common query
    does not enter. ValueError where the shapes differ.
    """
    x, y = _scores(judge, people)
    both = np.isfinite(x) & np.isfinite(y)
    first, second = np.triu_indices(x.shape[1], 1)
    if first.size > PAIRS_COMPARED:
        return _undefined(f"{first.size:,} pairs of systems are more than {PAIRS_COMPARED:,}")
    shared = both[:, first] & both[:, second]
    compared: npt.NDArray[np.bool_] = np.atleast_1d(shared.any(axis=0))
    better = np.full(first.size, np.nan)
    if adjusted is not None:
        pairs = enumerate(zip(first.tolist(), second.tolist(), strict=True))
        for place, (i, j) in pairs:
            better[place] = adjusted.better(i, j)
        compared &= np.isfinite(better)
    first, second, shared = first[compared], second[compared], shared[:, compared]
    if not first.size:
        return _undefined(NOTHING_SHARED if adjusted is None else NOTHING_LINKED)
    queries = shared.any(axis=1)
    shared = shared[queries]
    ps = [_better(v[queries], first, second, shared, permutations, seed) for v in (x, y)]
    if adjusted is not None:
        ps[1] = better[compared]
    value = 1 - float(np.abs(ps[0] - ps[1]).mean())
    return SoftPairwise(value, first, second, ps[0], ps[1], int(queries.sum()))


def _better(
    scores: FloatArray,
    first: IntArray,
    second: IntArray,
    shared: npt.NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> FloatArray:
    """Share of permutations in which the first system leads the second by at least as much."""
    a, b = scores[:, first], scores[:, second]
    apart = np.where(shared, a - b, 0.0)
    size = np.where(shared, np.maximum(np.abs(a), np.abs(b)), 0.0).sum(axis=0)
    observed = apart.sum(axis=0)
    noise = NOISE * size
    at_least = np.zeros(first.size)
    rng = np.random.default_rng(seed)
    rows = max(1, _SIGNS_AT_ONCE // max(len(scores), first.size))
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        signs = rng.integers(0, 2, (count, len(scores)), dtype=np.int8) * 2.0 - 1.0
        margin = observed - signs @ apart
        equal = np.abs(margin) <= noise
        at_least += (equal * 0.5 + ((margin < 0) & ~equal)).sum(axis=0)
    return at_least / permutations


def _undefined(reason: str) -> SoftPairwise:
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return SoftPairwise(float("nan"), none, none, empty, empty, 0, reason)
