"""Claims that a report makes, decided on a simulated study by the report's own functions.

Each has an effect that is true of the simulated studies. A tau-b is that with the true values: of
normal values with the correlation rho it is 2/pi * arcsin(rho), which is .83 and .63 for a rater
with the default components. With the mean of a few raters it is smaller, as in a report.
"""

from __future__ import annotations

from analysis.core.construct_data import mean_over
from analysis.core.interval import Interval
from analysis.planning.claim import Claim, ClaimOutcome, judge_with, rater_tau_b, worse_judge_tau_b
from analysis.planning.planned_answers import ANSWERS
from analysis.planning.simulated_study import Simulated, between_systems
from analysis.render.verdict_facts import ENOUGH_RATERS, outcome
from analysis.statistics.agreement.judge_comparison import Compared, MeasureScope
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these
from analysis.topics.agreement.judge_comparison import ALPHA, LEADING


def _shown(interval: Interval, effect: float) -> bool:
    """Whether an interval is on the side of 0 that the effect is on; of no effect, on either."""
    wanted = {"better", "worse"} if effect == 0 else {"better" if effect > 0 else "worse"}
    return outcome(interval.low, interval.high) in wanted


def _order(study: Simulated, effect: float) -> ClaimOutcome:
    judge = judge_with(study, rater_tau_b(study.components, study.design.responses, effect), 0)
    figure, interval = study.beside_a_rater(judge)
    return ClaimOutcome(figure, _shown(interval, effect), interval.p)


def _non_inferiority(study: Simulated, margin: float) -> ClaimOutcome:
    judge = judge_with(study, rater_tau_b(study.components, study.design.responses), 0)
    figure, interval = study.beside_a_rater(judge, 2 * study.level - 1)
    return ClaimOutcome(figure, interval.low > -margin)


def _judges(study: Simulated, effect: float) -> ClaimOutcome:
    tau = worse_judge_tau_b(study.components, study.design.responses, effect)
    other = judge_with(study, tau, 1)
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


#: By the use that the answer is about, or the id of the report's figure.
CLAIMS: dict[str, Claim] = {
    **ANSWERS,
    "human_ceiling_difference": Claim(
        _order,
        "judge orders better (above 0) or less well (below 0) than a rater",
        judge=rater_tau_b,
        like_these_from=ENOUGH_RATERS,
        family="verdict",
    ),
    "non_inferiority": Claim(
        _non_inferiority,
        "a judge that orders as well as a rater is worse by less than this margin",
        judge=lambda components, responses, _: rater_tau_b(components, responses),
        like_these_from=ENOUGH_RATERS,
    ),
    "judge_difference": Claim(
        _judges,
        "judge orders better than another one",
        1,
        judge=worse_judge_tau_b,
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
