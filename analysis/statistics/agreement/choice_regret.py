"""What it costs to choose a system by the judge: people's best system minus the judge's choice.

The judge chooses the system with its best mean here. How much better people find another one is a
mean difference with its error, and the regret is the largest of these differences, or 0. The choice
was made with the same responses, so that an error is corrected for the comparisons of all other
systems with the best one: whichever system is chosen, a false statement that its regret is small
needs a false comparison with the system that is truly best (Hsu 1981, Annals of Statistics
9:1026-1034; Sidak's inequality in place of the multivariate t).

`agreed` is the p that judge and people do not agree on the sign of any pair: the smallest over
pairs of the larger of both two-sided p, corrected for the number of pairs by Sidak's method. Where
no two systems differ, choosing costs nothing, and says nothing about the judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.degrees_of_freedom import FEWEST_QUERIES
from analysis.core.distributions import t_quantile, t_tail
from analysis.core.resampling import EQUAL_RESAMPLES
from analysis.core.simultaneous_intervals import SimultaneousIntervals
from analysis.core.uncertainty import Uncertainty
from analysis.statistics.agreement.system_decisions import Decisions

METHOD = "comparisons_with_the_best"


@dataclass(frozen=True)
class Rival:
    """A system that was not chosen: how much better people find it than the chosen one."""

    system: int
    difference: float
    error: float
    df: float

    def p_at_least(self, threshold: float) -> float:
        """One-sided p of the true difference being at least the threshold."""
        distance = threshold - self.difference
        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return float(t_tail(distance / self.error, self.df))

    def p_at_most(self, threshold: float) -> float:
        """One-sided p of the true difference being at most the threshold."""
        distance = self.difference - threshold
        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return float(t_tail(distance / self.error, self.df))


@dataclass(frozen=True)
class RegretUncertainty(Uncertainty):
    """The error of a regret, from the differences of all other systems to the chosen one."""

    rivals: tuple[Rival, ...] = ()

    def p_at_least(self, value: float, threshold: float) -> float:
        """p of a regret of at least the threshold: every rival must be closer."""
        del value
        largest = max(rival.p_at_least(threshold) for rival in self.rivals)
        return float(1 - (1 - largest) ** len(self.rivals))

    def p_at_most(self, value: float, threshold: float) -> float:
        """p of a regret of at most the threshold: one rival that is farther is enough."""
        del value
        smallest = min(rival.p_at_most(threshold) for rival in self.rivals)
        return min(1.0, len(self.rivals) * smallest)

    def probability(self, value: float, low: float, high: float) -> float:
        """Probability of a regret up to `high`, as if the differences were independent."""
        del value, low
        return math.prod(1 - rival.p_at_least(high) for rival in self.rivals)

    def interval(self, value: float, alpha: float) -> tuple[float, float]:
        """Ends where the one-sided tests at alpha stop, at least 0."""
        del value
        count = len(self.rivals)
        upper, lower = 1 - (1 - alpha) ** (1 / count), alpha / count
        ends = [
            (
                rival.difference - t_quantile(1 - lower, rival.df) * rival.error,
                rival.difference + t_quantile(1 - upper, rival.df) * rival.error,
            )
            for rival in self.rivals
        ]
        return max(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))

    def factor(self, value: float, threshold: float, alpha: float) -> float | None:
        """By how much the queries must grow, by the rival that takes the most."""
        del value
        level = alpha / len(self.rivals)
        factors = [
            Uncertainty((rival.error**2,), (rival.df,)).queries_factor(
                threshold - rival.difference, level
            )
            for rival in self.rivals
            if rival.error > 0
        ]
        known = [factor for factor in factors if factor is not None]
        return max(known) if known and len(known) == len(factors) else None

    def raters_factor(self, value: float, threshold: float, alpha: float) -> float | None:
        """None: the panel is taken as it is."""
        del value, threshold, alpha
        return None


@dataclass(frozen=True)
class Regret:
    """The chosen system, the best of the others for people, and what choosing costs."""

    chosen: int
    best: int
    value: float
    uncertainty: RegretUncertainty
    agreed: float
    agreed_pair: tuple[int, int]


#: Difference, error and degrees of freedom by pair of systems; NaN where they are not known.
Differences = dict[tuple[int, int], tuple[float, float, float]]


def choice_regret(outcome: Decisions, systems: int) -> Regret | str:
    """The regret of choosing by the judge, or why it is not known.

    `outcome` has the differences of all pairs of so many systems.
    """
    if outcome.people.size == 0:
        return outcome.reason or "there are no pairs of systems"
    found = regret_of(
        _pair_differences(outcome, outcome.people, outcome.people_intervals),
        _pair_differences(outcome, outcome.judge, outcome.judge_intervals),
        systems,
    )
    if isinstance(found, str) and np.isfinite(outcome.people).all():
        # Every pair is compared, and one has no error.
        return next((why for why in outcome.people_intervals.reasons if why), found)
    return found


def regret_of(people: Differences, judge: Differences, systems: int) -> Regret | str:
    """The same from the differences of people and judge, each pair of systems in one order."""
    gains = [0.0] * systems
    for (first, second), (difference, _, _) in judge.items():
        if not math.isnan(difference):
            gains[first] += difference
            gains[second] -= difference
    top = max(gains)
    # Of systems that the judge ties, the one that people find worst.
    tied = [s for s in range(systems) if gains[s] >= top - 1e-9 * max(1.0, abs(top))]
    options = [_chosen(system, systems, people) for system in tied]
    known = [option for option in options if not isinstance(option, str)]
    if len(known) < len(options):
        return next(option for option in options if isinstance(option, str))
    chosen, rivals = max(known, key=lambda option: max(r.difference for r in option[1]))
    best = max(rivals, key=lambda rival: rival.difference)
    agreed, pair = _agreed(people, judge)
    return Regret(
        chosen,
        best.system,
        max(0.0, best.difference),
        RegretUncertainty((), (), rivals=rivals),
        agreed,
        pair,
    )


def _pair_differences(
    outcome: Decisions, point: FloatArray, of: SimultaneousIntervals
) -> Differences:
    pairs = zip(outcome.first.tolist(), outcome.second.tolist(), strict=True)
    return {
        pair: (float(point[place]), *error_of(outcome, of, place))
        for place, pair in enumerate(pairs)
    }


def error_of(outcome: Decisions, of: SimultaneousIntervals, place: int) -> tuple[float, float]:
    """Standard error and degrees of freedom of a pair's difference; NaN where it has no error."""
    if of.reasons[place] == EQUAL_RESAMPLES and outcome.n_shared[place] >= FEWEST_QUERIES:
        # The same difference on every query.
        return 0.0, math.inf
    return float(of.error[place]), float(of.df[place])


def _chosen(system: int, systems: int, people: Differences) -> tuple[int, tuple[Rival, ...]] | str:
    """The system with its rivals, or why one of them is not comparable."""
    rivals = []
    for other in range(systems):
        if other == system:
            continue
        sign = 1.0 if (other, system) in people else -1.0
        known = people.get((other, system)) or people.get((system, other))
        if known is None or math.isnan(known[0]) or math.isnan(known[1]):
            return "the system that the judge prefers cannot be compared with every other one"
        rivals.append(Rival(other, sign * known[0], known[1], known[2]))
    return system, tuple(rivals)


def _agreed(people: Differences, judge: Differences) -> tuple[float, tuple[int, int]]:
    """p of no pair on which both have one sign, and the pair with the smallest p."""

    def p(pair: tuple[int, int]) -> float:
        sides = people[pair], judge[pair]
        if any(math.isnan(value) or math.isnan(error) for value, error, _ in sides):
            return 1.0
        if not sides[0][0] * sides[1][0] > 0:
            return 1.0
        return max(
            2 * float(t_tail(abs(value) / error, df)) if error > 0 else 0.0
            for value, error, df in sides
        )

    def size(pair: tuple[int, int]) -> float:
        return 0.0 if math.isnan(people[pair][0]) else abs(people[pair][0])

    pair = min(people, key=lambda pair: (p(pair), -size(pair)))
    # The one that people prefer is named first.
    better = pair if people[pair][0] >= 0 else pair[::-1]
    return float(1 - (1 - p(pair)) ** len(people)), better
