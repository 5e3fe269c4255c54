"""Which of two judges agrees better with people: differences of measures, and their p by query.

The difference rests on the responses that both judges scored and people rated. Its p comes from
permutations (PERM-INPUT): under the hypothesis that the judges are exchangeable, the scores of both
on a query may change places, after each judge's scores are standardized, so that another center or
spread makes no difference. For the root mean squared error, which is about points, they are not.

Source: Deutsch, Dror and Roth (2021), TACL 9:1132-1146, "A Statistical Analysis of Summarization
Evaluation Metrics Using Resampling Methods", section 4.2; queries in place of documents. Groups as
in the WMT: Kocmi et al. (2021), WMT, 478-494.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import NOISE, QueryStatistic, ratio
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.pair_outcomes import pairs_inside
from analysis.statistics.agreement.paired_statistics import mean_of
from analysis.statistics.agreement.system_decisions import soft_pairwise_accuracy
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems

Measure = Literal["kendall_tau_b", "pairwise_accuracy", "pearson", "rmse"]
MeasureScope = Literal["within_query", "pooled"]

#: Permutations of two judges' scores, and of answers within each for the soft accuracy.
PERMUTATIONS, SIGNS = 999, 200

#: Additions up to which the soft accuracy is tested.
LARGEST = 20_000_000_000


def measured(
    measure: Measure,
    judge: FloatArray,
    people: FloatArray,
    query: IntArray,
    scope: MeasureScope,
    n_queries: int,
    name: str,
) -> QueryStatistic:
    """A judge's agreement with people, values (n,), NaN where missing, as a function of weights."""
    if measure == "kendall_tau_b" or measure == "pearson":  # noqa: PLR1714  (narrows the type)
        names = (name, "human reference")
        return association(measure, judge, people, query, scope, n_queries=n_queries, names=names)
    pairs, _ = read_pairs(judge, people, query, None, n_queries)
    if measure == "rmse":
        mean = mean_of((pairs.x - pairs.y) ** 2, pairs.query, n_queries)
        reason = None if pairs.x.size else "no response has both values"
        return QueryStatistic(
            lambda weights: np.sqrt(mean(weights)),
            pairs.contributing, pairs.n_responses, pairs.n_dropped, reason,
        )  # fmt: skip
    listed = pairs_inside(pairs)
    counts = np.bincount(listed.query, minlength=n_queries).astype(np.float64)
    alike = np.bincount(listed.query, listed.alike(0.0), n_queries)

    def of_weights(weights: FloatArray) -> FloatArray:
        total = weights @ counts
        return ratio(weights @ alike, total, total > 0)

    reason = None if listed.query.size else "no query has two responses with both values"
    return QueryStatistic(of_weights, counts > 0, pairs.n_responses, pairs.n_dropped, reason)


@dataclass(frozen=True, eq=False)
class Compared:
    """Two judges and people on the responses (n,) that have all three values."""

    first: FloatArray
    second: FloatArray
    people: FloatArray
    query: IntArray
    n_queries: int
    names: tuple[str, str]

    @classmethod
    def of(
        cls,
        first: FloatArray,
        second: FloatArray,
        people: FloatArray,
        query: IntArray,
        n_queries: int,
        names: tuple[str, str],
    ) -> Compared:
        """Leave out responses (n,) without one of the three values."""
        all_three = np.isfinite(first) & np.isfinite(second) & np.isfinite(people)
        a, b, y = (part[all_three] for part in (first, second, people))
        return cls(a, b, y, query[all_three], n_queries, names)

    def difference(self, measure: Measure, scope: MeasureScope) -> QueryStatistic:
        """The first judge's measure minus the second's, on the same weights."""
        first, second = (
            measured(measure, judge, self.people, self.query, scope, self.n_queries, name)
            for judge, name in zip((self.first, self.second), self.names, strict=True)
        )
        return first - second

    def p(self, measure: Measure, scope: MeasureScope, seed: int = 0) -> float:
        """Two-sided p of the difference; NaN where it is undefined."""
        judges = (self.first, self.second)
        if measure != "rmse":
            judges = (_standardized(self.first), _standardized(self.second))
        stacked = measured(
            measure,
            np.concatenate(judges),
            np.concatenate([self.people, self.people]),
            np.concatenate([self.query, self.query + self.n_queries]),
            scope,
            2 * self.n_queries,
            "the judges",
        )
        if stacked.reason is not None:
            return float("nan")
        # The first row leaves all scores in place.
        swapped = _swaps(self.n_queries, seed)
        differences = stacked(np.hstack([1 - swapped, swapped]))
        differences -= stacked(np.hstack([swapped, 1 - swapped]))
        return _p(differences)


def _standardized(values: FloatArray) -> FloatArray:
    spread = float(values.std()) if values.size else 0.0
    return np.asarray((values - values.mean()) / (spread or 1.0)) if values.size else values


def _swaps(n_queries: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    swapped = rng.integers(0, 2, (PERMUTATIONS + 1, n_queries)).astype(np.float64)
    swapped[0] = 0
    return swapped


def _p(differences: FloatArray) -> float:
    """Share of differences at least as large as the first; an undefined one counts as larger."""
    observed = abs(float(differences[0]))
    if np.isnan(observed):
        return observed
    return float(np.mean(~(np.abs(differences) < observed - NOISE)))


class SoftDifference(NamedTuple):
    """Difference of two judges' soft pairwise accuracies, with its p; NaN with a reason."""

    value: float
    p: float
    n_pairs: int
    n_queries: int
    reason: str | None


def soft_difference(
    first: FloatArray,
    second: FloatArray,
    people: FloatArray,
    seed: int = 0,
    adjusted: AdjustedSystems | None = None,
) -> SoftDifference:
    """Compare scores (queries, systems) of two judges with people's on the cells of all three."""
    present = np.isfinite(first) & np.isfinite(second) & np.isfinite(people)
    a, b, y = (np.where(present, scores, np.nan) for scores in (first, second, people))
    soft = [soft_pairwise_accuracy(judge, y, seed=seed, adjusted=adjusted) for judge in (a, b)]
    value = soft[0].value - soft[1].value
    of = soft[0]
    n_pairs, nan = int(of.first.size), float("nan")
    if of.reason is not None:
        return SoftDifference(nan, nan, 0, of.n_queries, of.reason)
    used = present.any(axis=1)
    n = int(used.sum())
    if n * n_pairs * SIGNS * PERMUTATIONS > LARGEST:
        why = f"no p: {n_pairs:,} pairs of systems on {n:,} queries take too long to permute"
        return SoftDifference(value, nan, n_pairs, of.n_queries, why)
    shared = present[used][:, of.first] & present[used][:, of.second]
    apart = []
    for scores in (a[used], b[used]):
        spread = float(np.nanstd(scores)) or 1.0
        apart.append(np.where(shared, scores[:, of.first] - scores[:, of.second], 0.0) / spread)
    swapped = _swaps(n, seed)
    signs = np.random.default_rng(seed).integers(0, 2, (SIGNS, n)) * 2.0 - 1.0
    change = apart[1] - apart[0]
    permuted = [signs @ part for part in apart]
    total = [part.sum(axis=0) for part in apart]
    differences = np.empty(len(swapped))
    for row, swap in enumerate(swapped):
        moved, moved_total = (signs * swap) @ change, swap @ change
        accuracies = [
            _soft(total[0] + moved_total, permuted[0] + moved, of.people),
            _soft(total[1] - moved_total, permuted[1] - moved, of.people),
        ]
        differences[row] = accuracies[0] - accuracies[1]
    return SoftDifference(value, _p(differences), n_pairs, of.n_queries, None)


def _soft(observed: FloatArray, permuted: FloatArray, people: FloatArray) -> float:
    equal = np.abs(permuted - observed) <= NOISE * np.maximum(1.0, np.abs(observed))
    larger = (permuted > observed) & ~equal
    better = (larger + 0.5 * equal).mean(axis=0)
    return 1 - float(np.abs(better - people).mean())


class Rank(NamedTuple):
    """Place of a judge by value, the places that cannot be excluded, and its group."""

    rank: int
    best: int
    worst: int
    group: int


def ranks(values: Sequence[float], better: BoolArray) -> list[Rank]:
    """Ranks of judges (k,) by descending values; `better` (k, k) marks significant differences.

    A judge's best rank counts those significantly better, its worst rank those significantly worse.
    A new group begins where every judge before is significantly better than every one after.
    """
    order = sorted(range(len(values)), key=lambda place: -values[place])
    group, groups = 1, {order[0]: 1}
    for position in range(1, len(order)):
        before, after = order[:position], order[position:]
        if better[np.ix_(before, after)].all():
            group += 1
        groups[order[position]] = group
    size = len(values)
    return [
        Rank(
            1 + sum(other > value for other in values),
            1 + int(better[:, place].sum()),
            size - int(better[place].sum()),
            groups[place],
        )
        for place, value in enumerate(values)
    ]
