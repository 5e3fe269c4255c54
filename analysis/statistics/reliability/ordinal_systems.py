"""Systems by people on few ordered points, adjusted for raters' severity on the logit scale.

A severe rater moves a system in the middle of a scale of few points further than one at its end, so
that severity is not a constant number of points. The cumulative-logit model of `cumulative_logit`
has it as a constant on the logit scale. A system's expected points are what the model expects for
it on every query, with the posterior of the query's effect, averaged over queries and over all
raters with equal weights: as if every rater had rated every response.

Intervals are for these raters, by the jackknife over queries. The parameters without a query come
from one Newton step, which counts what ratings of a query have in common beyond the model (several
raters on one response).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.interval import Interval, withheld
from analysis.core.resampling import Replicates
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.reliability.adjusted_systems import NOT_LINKED, ratings_of
from analysis.statistics.reliability.cumulative_logit import (
    CumulativeLogit,
    fit,
    model_of,
    undefined_reason,
)
from analysis.statistics.reliability.rater_balance import RaterBalance

#: Expected points, or log odds of a higher point.
Unit = Literal["points", "log_odds"]


@dataclass(frozen=True, eq=False)
class OrdinalGroup:
    """Systems that raters link, in the order of `members`."""

    members: IntArray
    expected: FloatArray  #: (systems,) expected points
    logits: FloatArray  #: (systems,) effects on the logit scale
    expected_without: FloatArray  #: (queries, systems) without each query
    logits_without: FloatArray  #: (queries, systems)

    def of(self, unit: Unit) -> tuple[FloatArray, FloatArray]:
        """Figures (systems,) and those without each query."""
        if unit == "points":
            return self.expected, self.expected_without
        return self.logits, self.logits_without


@dataclass(frozen=True, eq=False)
class OrdinalSystems:
    """Systems by the cumulative-logit model, within each group that raters link."""

    names: tuple[str, ...]
    groups: tuple[OrdinalGroup, ...]
    why_not: dict[int, str]  #: by system, why it has no figure

    def mean(self, system: int) -> Replicates:
        """Expected points of a system without each query."""
        group = next((group for group in self.groups if system in group.members), None)
        if group is None:
            nothing = np.empty(0)
            return Replicates(float("nan"), nothing, "jackknife", 0, self.why_not[system])
        place = int(np.searchsorted(group.members, system))
        values = group.expected_without[:, place]
        return Replicates(float(group.expected[place]), values, "jackknife", values.size)

    def differences(
        self, unit: Unit, level: float = 0.95, seed: int = 0
    ) -> dict[tuple[int, int], tuple[float, Interval]]:
        """First minus second of every pair of systems, with intervals for all pairs at once."""
        out: dict[tuple[int, int], tuple[float, Interval]] = {}
        several = [group for group in self.groups if group.members.size > 1]
        for group in several:
            points, values = group.of(unit)
            i, j = np.triu_indices(group.members.size, 1)
            apart = points[i] - points[j]
            # Groups of systems that no rater links share the error equally.
            joint = simultaneous_intervals(
                apart,
                values[:, i] - values[:, j],
                "jackknife",
                1 - (1 - level) / len(several),
                seed,
            )
            for place, value in enumerate(apart):
                pair = int(group.members[i[place]]), int(group.members[j[place]])
                out[pair] = float(value), replace(joint.at(place), level=level)
        for first, second in combinations(range(len(self.names)), 2):
            if (first, second) not in out:
                reason = self.why_not.get(first) or self.why_not.get(second)
                reason = reason or NOT_LINKED.format(self.names[first], self.names[second])
                nothing = withheld(level, "max_t_jackknife", reason)
                out[first, second] = float("nan"), nothing
        return dict(sorted(out.items()))


def ordinal_systems(
    ratings: FloatArray,
    query: IntArray,
    produced: BoolArray,
    names: tuple[str, ...],
    balance: RaterBalance,
    by_rater: bool = False,
) -> OrdinalSystems:
    """Fit ratings (n, R), NaN where missing, of systems `produced` (n, S).

    `by_rater`: each rater has thresholds of their own, instead of a severity.
    """
    groups: list[OrdinalGroup] = []
    why_not: dict[int, str] = {}
    for number in range(int(balance.groups.max()) + 1):
        members = np.flatnonzero(balance.groups == number)
        table = ratings_of(ratings, query, produced[:, members])
        reason = undefined_reason(table)
        if reason is None:
            try:
                fitted = fit(table, by_rater)
            except ValueError as error:
                reason = str(error)
        if reason is not None:
            why_not |= {int(member): reason for member in members}
            continue
        values = np.unique(table.values)
        model = model_of(table, by_rater)
        expected = expected_points(model, fitted.parameters, values)
        slopes = _slopes(model, fitted.parameters, values)
        n = len(expected)
        point = expected.mean(axis=0)
        moved = fitted.leave_one_out - fitted.parameters
        k = model.first_effect
        effects = np.zeros((n, members.size))
        effects[:, 1:] = fitted.leave_one_out[:, k : k + members.size - 1]
        groups.append(
            OrdinalGroup(
                members,
                point,
                fitted.systems,
                point - (expected - point) / (n - 1) + moved @ slopes.T,
                effects,
            )
        )
    return OrdinalSystems(names, tuple(groups), why_not)


def expected_points(
    model: CumulativeLogit, parameters: FloatArray, values: FloatArray
) -> FloatArray:
    """Expected points (queries, systems) of all raters on each query, on points (K,) `values`."""
    at, posterior = model.parts(parameters), model.posterior(parameters)
    moved = at.query_sd * posterior.nodes
    out = np.empty((model.n_queries, model.s))
    for system, effect in enumerate(at.systems):
        lower = np.zeros(moved.shape)
        for thresholds in at.thresholds:
            for threshold, gap in zip(thresholds, np.diff(values), strict=True):
                lower += gap * special.expit(threshold - effect - moved)
        out[:, system] = values[-1] - np.sum(posterior.weights * lower, axis=1) / model.r
    return out


def _slopes(model: CumulativeLogit, parameters: FloatArray, values: FloatArray) -> FloatArray:
    """Slopes (systems, parameters) of the mean expected points."""
    columns = []
    for place in range(parameters.size):
        step = np.zeros(parameters.size)
        step[place] = 1e-4
        ahead, behind = (
            expected_points(model, at, values).mean(axis=0)
            for at in (parameters + step, parameters - step)
        )
        columns.append((ahead - behind) / 2e-4)
    return np.column_stack(columns)
