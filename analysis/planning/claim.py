"""A claim that a report makes and that can be planned for, with the judge that it is about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from analysis.core.arrays import FloatArray
from analysis.core.statistic import Target
from analysis.planning.components import Components
from analysis.planning.planned_report import Family
from analysis.planning.simulated_study import Simulated


@dataclass(frozen=True)
class ClaimOutcome:
    """What a report on one study has: its figure, and whether that alone supports the claim.

    `p` is what the report corrects for other comparisons; of a claim that it does not correct, 0.
    """

    figure: float
    made: bool
    p: float = 0.0


@dataclass(frozen=True)
class Claim:
    """A claim that can be planned for, with its effect and the least design that it needs.

    `decide` takes a simulated study and the effect. `judge` is the tau-b of the
    judge that the claim is about, from the components, the responses to a query and the effect.
    """

    decide: Callable[[Simulated, float], ClaimOutcome]
    description: str
    raters: int = 2
    responses: int = 1
    several_responses_claim: str = ""
    """The claim that takes its place from two responses to a query on; empty: it stays."""
    points: bool = False
    """Whether the effect is in points of the scale."""
    judge: Callable[[Components, int, float], float] | None = None
    like_these_from: int | None = None
    """Raters from which on it is about raters like these; None: it is about these raters."""
    family: Family | None = None
    """Comparisons that a report corrects it with; None: declared in advance, and not corrected."""

    def target(self, raters: int) -> Target:
        """About which raters the claim of a report on so many raters is."""
        least = self.like_these_from
        return "these_raters" if least is None or raters < least else "raters_like_these"

    def problem(self, components: Components, responses: int, effect: float) -> str | None:
        """Why no judge has this effect; None where one has."""
        if self.judge is None or 0 < (tau := self.judge(components, responses, effect)) <= 1:
            return None
        return f"needs a judge whose tau-b with the true values is {tau:.2g}"


def tau_b(signal: float, noise: float) -> float:
    """Tau-b of true values with the standard deviation `signal` and the same plus noise."""
    return 2 / math.pi * math.atan2(signal, noise)


def noise_of(signal: float, tau: float) -> float:
    """The standard deviation of the noise with which values have this tau-b, above 0."""
    return signal / math.tan(math.pi / 2 * tau)


def rater_tau_b(components: Components, responses: int, effect: float = 0.0) -> float:
    """Tau-b of a rater with the true values, plus the effect."""
    return tau_b(_signal(components, responses), components.error) + effect


def judge_tau_b(components: Components, responses: int) -> float:
    """Tau-b of the components' judge with the true values."""
    return tau_b(components.slope * _signal(components, responses), components.judge)


def worse_judge_tau_b(components: Components, responses: int, effect: float) -> float:
    """Tau-b of a judge that is worse than the components' judge by the effect."""
    return judge_tau_b(components, responses) - effect


def _signal(components: Components, responses: int) -> float:
    """Standard deviation of the true values that are ordered: within a query, if there are some."""
    return (
        components.response if responses > 1 else math.hypot(components.query, components.response)
    )


def judge_with(study: Simulated, tau: float, number: int) -> FloatArray:
    """Scores (n,) of a judge with this tau-b with the true values."""
    noise = noise_of(_signal(study.components, study.design.responses), tau)
    scores: FloatArray = study.true + noise * study.noise[number]
    return scores
