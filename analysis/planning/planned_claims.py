"""Claims that a report makes, decided on a simulated study by the report's own functions.

Each has an effect that is true of the simulated studies. A tau-b is that with the true values: of
normal values with the correlation rho it is 2/pi * arcsin(rho), which is .83 and .63 for a rater
with the default components. With the mean of a few raters it is smaller, as in a report.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import mean_over
from analysis.core.interval import Interval
from analysis.core.statistic import Target
from analysis.planning.components import Components
from analysis.planning.planned_report import Family
from analysis.planning.simulated_study import Simulated, between_systems
from analysis.render.verdict_order import ENOUGH_RATERS, outcome
from analysis.statistics.agreement.judge_comparison import Compared, MeasureScope
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these
from analysis.topics.agreement.judge_comparison import ALPHA, LEADING


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


def of_rater(components: Components, responses: int, effect: float = 0.0) -> float:
    """Tau-b of a rater with the true values, plus the effect."""
    return tau_b(_signal(components, responses), components.error) + effect


def of_other_judge(components: Components, responses: int, effect: float) -> float:
    """Tau-b of a judge that is worse than the components' judge by the effect."""
    signal = _signal(components, responses)
    return tau_b(components.slope * signal, components.judge) - effect


def _signal(components: Components, responses: int) -> float:
    """Standard deviation of the true values that are ordered: within a query, if there are some."""
    return (
        components.response if responses > 1 else math.hypot(components.query, components.response)
    )


def _judge(study: Simulated, tau: float, number: int) -> FloatArray:
    """Scores (n,) of a judge with this tau-b with the true values."""
    noise = noise_of(_signal(study.components, study.design.responses), tau)
    scores: FloatArray = study.true + noise * study.noise[number]
    return scores


def _shown(interval: Interval, effect: float) -> bool:
    """Whether an interval is on the side of 0 that the effect is on; of no effect, on either."""
    wanted = {"better", "worse"} if effect == 0 else {"better" if effect > 0 else "worse"}
    return outcome(interval.low, interval.high) in wanted


def _order(study: Simulated, effect: float) -> ClaimOutcome:
    judge = _judge(study, of_rater(study.components, study.design.responses, effect), 0)
    figure, interval = study.beside_a_rater(judge)
    return ClaimOutcome(figure, _shown(interval, effect), interval.p)


def _non_inferiority(study: Simulated, margin: float) -> ClaimOutcome:
    judge = _judge(study, of_rater(study.components, study.design.responses), 0)
    figure, interval = study.beside_a_rater(judge, 2 * study.level - 1)
    return ClaimOutcome(figure, interval.low > -margin)


def _judges(study: Simulated, effect: float) -> ClaimOutcome:
    tau = of_other_judge(study.components, study.design.responses, effect)
    other = _judge(study, tau, 1)
    people, names = mean_over(study.ratings), ("judge", "other")
    compared = Compared.of(study.judge, other, people, study.query, study.design.queries, names)
    scope: MeasureScope = "within_query" if study.design.responses > 1 else "pooled"
    difference = compared.difference(LEADING, scope)
    differ = compared.p(LEADING, scope, study.seed) <= ALPHA
    p = study.interval(difference).p
    return ClaimOutcome(difference.point, differ and difference.point * effect >= 0, p)


def _systems(study: Simulated, effect: float) -> ClaimOutcome:
    difference = between_systems(study, effect)
    return ClaimOutcome(
        difference.value, _shown(difference.interval, effect), difference.interval.p
    )


def _bias(study: Simulated, effect: float) -> ClaimOutcome:
    judge = study.judge + effect
    bias = bias_for_raters_like_these(judge, study.ratings, study.query, study.level)
    return ClaimOutcome(bias.value, _shown(bias.interval, effect), bias.interval.p)


#: By the id of the report's figure.
CLAIMS: dict[str, Claim] = {
    "human_ceiling_difference": Claim(
        _order,
        "judge orders better (above 0) or less well (below 0) than a rater",
        judge=of_rater,
        like_these_from=ENOUGH_RATERS,
        family="verdict",
    ),
    "non_inferiority": Claim(
        _non_inferiority,
        "a judge that orders as well as a rater is worse by less than this margin",
        judge=lambda components, responses, _: of_rater(components, responses),
        like_these_from=ENOUGH_RATERS,
    ),
    "judge_difference": Claim(
        _judges,
        "judge orders better than another one",
        1,
        judge=of_other_judge,
        family="agreement",
    ),
    "ppi_difference": Claim(
        _systems, "corrected difference of 2 systems", 1, 2, points=True, family="corrected"
    ),
    "bias": Claim(
        _bias,
        "judge is too lenient (above 0) or too strict",
        points=True,
        like_these_from=2,
        family="verdict",
    ),
}
