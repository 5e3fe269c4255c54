"""The alternative annotator test: can a judge replace a rater?

Each rater is left out in turn. On every response that the rater and others rated, the judge wins
where it is at least as close to the others as the left-out rater is, and the rater likewise. The
judge may replace the rater if its share of wins exceeds the rater's less epsilon, the allowance for
a judge being cheaper; the p-values of all raters are adjusted together. A constant judge (the mean
of all ratings) takes the same test: where it passes too, the pass of the judge is not informative,
and no verdict is given. At a reliability of .5 such a constant beats 85% of raters.
Source: Calderon, Reichart and Dror (2025), ACL, 16051-16081, "The Alternative Annotator Test for
LLM-as-a-Judge". Here the t-test is clustered by query, since responses to a query share it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import NOISE, QueryStatistic, as_codes, as_values
from analysis.statistics.agreement.paired_statistics import mean_of

Alignment = Literal["rmse", "absolute_error", "equality"]

#: With fewer raters, or queries of a rater, there is no verdict.
RATERS_NEEDED, QUERIES_NEEDED = 3, 30

#: False discovery rate over raters, and the winning rate that passes.
FALSE_DISCOVERY, PASSING = 0.05, 0.5


@dataclass(frozen=True, eq=False)
class AlternativeAnnotator:
    """The test's outcome; `used` are the raters' columns, `p` their p-values, unadjusted.

    `advantage` is the mean over raters of the share of responses that the judge wins, with the
    ties, as a function of query weights. `excluded` names columns left out with the reason.
    """

    winning_rate: float
    advantage: QueryStatistic
    used: tuple[int, ...]
    p: FloatArray
    replaced: tuple[bool, ...]
    excluded: dict[int, str]
    reason: str | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the judge may replace at least half of the raters; None where undefined."""
        return None if self.reason is not None else self.winning_rate >= PASSING

    @property
    def passed_p(self) -> float:
        """The level at which the test would just be passed: of half of the raters' adjusted p."""
        if self.reason is not None:
            return float("nan")
        return float(np.sort(_benjamini_yekutieli(self.p))[math.ceil(PASSING * self.p.size) - 1])

    @property
    def failed_p(self) -> float:
        """p of at least half of the raters being replaceable, small where that is excluded.

        More than half of the raters must then be closer to the others by epsilon or more: the
        partial conjunction of Benjamini and Heller (2008), Biometrics 64:1215-1222, equation 3.
        """
        if self.reason is not None:
            return float("nan")
        number = self.p.size
        needed = number - math.ceil(PASSING * number) + 1
        return min(1.0, (number - needed + 1) * float(np.sort(1 - self.p)[needed - 1]))


def alternative_annotator(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    epsilon: float,
    alignment: Alignment = "rmse",
    n_queries: int | None = None,
) -> AlternativeAnnotator:
    """Test a judge (n,) on ratings (n, raters), NaN where missing.

    `epsilon` is 0.2 where raters are experts, 0.15 where they are skilled, 0.1 in a crowd.
    Closeness to the others is the negative root mean squared difference, minus the mean absolute
    difference, or the share of equal values. Raters with fewer than 30 queries do not enter, and
    with fewer than 3 raters the test is not done. ValueError for an unknown alignment or an epsilon
    outside [0, 1).
    """
    if alignment not in get_args(Alignment):
        raise ValueError(
            f"alignment {alignment!r}: expected one of {', '.join(get_args(Alignment))}"
        )
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon {epsilon} does not lie in [0, 1)")
    people, machine = as_values(ratings), as_values(judge, "judge")
    if people.ndim != 2 or machine.shape != (len(people),):
        raise ValueError(f"judge {machine.shape} and ratings {people.shape}: expected (n,), (n, R)")
    codes, total = as_codes(query, len(people), n_queries)
    present = np.isfinite(people)
    usable = np.isfinite(machine) & (present.sum(axis=1) >= 2)
    used: list[int] = []
    wins: list[tuple[FloatArray, FloatArray, IntArray]] = []
    excluded: dict[int, str] = {}
    entering = np.zeros(len(people), dtype=bool)
    for column in range(people.shape[1]):
        items = usable & present[:, column]
        queries = np.unique(codes[items]).size
        if queries < QUERIES_NEEDED:
            excluded[column] = f"{queries} of {QUERIES_NEEDED} queries that others rated too"
            continue
        others = np.delete(people[items], column, axis=1)
        rater_closeness = _closeness(people[items, column], others, alignment)
        judge_closeness = _closeness(machine[items], others, alignment)
        even = np.abs(rater_closeness - judge_closeness) <= NOISE * np.nanmax(
            np.abs(people[items]), axis=1
        )
        used.append(column)
        wins.append(
            (
                (judge_closeness > rater_closeness) | even,
                (rater_closeness > judge_closeness) | even,
                codes[items],
            )
        )
        entering |= items
    reason = None
    if len(used) < RATERS_NEEDED:
        reason = (
            f"the alternative annotator test needs {RATERS_NEEDED} raters with {QUERIES_NEEDED} "
            f"queries each, there are {len(used)}"
        )
    p = np.array([_p_value(ours, theirs, of, epsilon) for ours, theirs, of in wins])
    replaced = tuple(bool(r) for r in _benjamini_yekutieli(p) <= FALSE_DISCOVERY)
    kernels = [mean_of(ours.astype(np.float64), of, total) for ours, _, of in wins]
    advantage = QueryStatistic(
        lambda weights: np.asarray(np.mean([kernel(weights) for kernel in kernels], axis=0)),
        np.bincount(codes[entering], minlength=total) > 0,
        int(np.count_nonzero(entering)),
        int(np.count_nonzero(present.any(axis=1) & ~entering)),
        reason,
    )
    rate = float("nan") if reason else float(np.mean(replaced))
    return AlternativeAnnotator(rate, advantage, tuple(used), p, replaced, excluded, reason)


def constant_judge(ratings: npt.ArrayLike, alignment: Alignment = "rmse") -> FloatArray:
    """One value for all responses (n,): the mean of all ratings, for equality the most frequent.

    NaN without a rating. Of several most frequent values the one that occurs first is taken, so
    that the numbers that stand for categories do not matter.
    """
    people = as_values(ratings)
    present = people[np.isfinite(people)]
    if not present.size:
        return np.full(len(people), np.nan)
    if alignment == "equality":
        values, first, counts = np.unique(present, return_index=True, return_counts=True)
        frequent = np.flatnonzero(counts == counts.max())
        return np.full(len(people), values[frequent[np.argmin(first[frequent])]])
    return np.full(len(people), present.mean())


def _closeness(values: FloatArray, others: FloatArray, alignment: Alignment) -> FloatArray:
    """How close values (m,) are to those of others (m, R - 1), at least one of them present."""
    apart = np.abs(values[:, None] - others)
    present = np.isfinite(apart)
    count = present.sum(axis=1)
    if alignment == "equality":
        size = np.maximum(np.abs(values)[:, None], np.where(present, np.abs(others), 0.0))
        return np.asarray((present & (apart <= NOISE * size)).sum(axis=1) / count)
    if alignment == "rmse":
        return np.asarray(-np.sqrt(np.where(present, apart**2, 0.0).sum(axis=1) / count))
    return np.asarray(-np.where(present, apart, 0.0).sum(axis=1) / count)


def _p_value(ours: FloatArray, theirs: FloatArray, query: IntArray, epsilon: float) -> float:
    """One-sided p that the rater's share of wins exceeds the judge's by epsilon or more."""
    lead = theirs.astype(np.float64) - ours
    mean = float(lead.mean())
    queries, place = np.unique(query, return_inverse=True)
    residual = np.bincount(place, lead - mean)
    clusters = queries.size
    variance = clusters / (clusters - 1) * float((residual**2).sum()) / lead.size**2
    if variance <= NOISE:
        return 0.0 if mean < epsilon else 1.0
    return float(special.stdtr(clusters - 1, (mean - epsilon) / np.sqrt(variance)))


def _benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Adjusted p-values under any dependence (Benjamini and Yekutieli 2001, theorem 1.3)."""
    m = p.size
    if not m:
        return p
    order = np.argsort(p)
    factor = m * np.sum(1 / np.arange(1, m + 1)) / np.arange(1, m + 1)
    adjusted = np.minimum.accumulate((p[order] * factor)[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(adjusted, 1.0)
    return out
