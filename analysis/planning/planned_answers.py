"""Answers of a report that can be planned for: the chance of a yes, for these raters.

A simulated study is answered as a report answers it, on one construct. Its values have no ends of
the scale; the margin of a level is the default share of the scale's width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.options import Options
from analysis.core.tables import ScoreTable
from analysis.decisions.records import DecidingFigure, Use
from analysis.decisions.standards import LEVEL_SHARE
from analysis.pipeline.estimation import answers
from analysis.planning.claim import Claim, ClaimOutcome, judge_with, rater_tau_b
from analysis.planning.components import Components
from analysis.planning.simulated_study import Simulated
from study.base.scales import Scale

_JUDGE, _CONSTRUCT = "judge", "planned"

#: Simulated values are within this many widths of the scale around 0.
_FAR = 100


def _answered(use: Use, study: Simulated, judge: FloatArray, people: FloatArray) -> ClaimOutcome:
    """Whether the answer on a use is yes, with the figure that decides it."""
    options = Options(
        bias_margin=LEVEL_SHARE * study.width, level=study.level, seed=study.seed
    )  # fmt: skip
    found = answers(_table(study, judge, people), [use], options)
    decision = next(d for d in found if d.construct is None and d.target == "these_raters")
    return ClaimOutcome(_value(decision.binding), decision.answer == "yes")


def _value(figure: DecidingFigure | None) -> float:
    return np.nan if figure is None else figure.estimate.value


def _table(study: Simulated, judge: FloatArray, people: FloatArray) -> ScoreTable:
    """The study as a table of scores; the n-th response to each query is of the n-th system."""
    n, each = study.query.size, study.design.responses
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i}" for i in study.query],
            "system": [f"s{i % each}" for i in range(n)],
            "construct": _CONSTRUCT,
        }
    )
    parts = [base.assign(scorer=_JUDGE, scorer_kind="judge", value=judge)]
    parts += [
        base.assign(scorer=f"rater-{number + 1}", scorer_kind="human", value=values)
        for number, values in enumerate(people.T)
    ]
    end = _FAR * study.width
    scale = Scale(-end, end)
    return ScoreTable.from_frame(pd.concat(parts, ignore_index=True), {_CONSTRUCT: scale})


def _order(use: Use) -> Callable[[Simulated, float], ClaimOutcome]:
    """A judge whose tau-b is that of a rater plus the effect, without a bias."""

    def decide(study: Simulated, effect: float) -> ClaimOutcome:
        judge = judge_with(study, rater_tau_b(study.components, study.design.responses, effect), 0)
        return _answered(use, study, judge, study.ratings)

    return decide


def _level(study: Simulated, effect: float) -> ClaimOutcome:
    # The bias is beside these raters, whose mean severity is a part of their values.
    shift = effect + float((study.ratings - study.true[:, None]).mean())
    return _answered("report_level", study, study.judge + shift, study.ratings)


def _systems(study: Simulated, effect: float) -> ClaimOutcome:
    """Systems of which each is worse than the one before by the effect, for the judge as well."""
    better = -effect * (np.arange(study.query.size) % study.design.responses)
    judge = study.judge + study.components.slope * better
    return _answered("rank_systems", study, judge, study.ratings + better[:, None])


def _components_tau_b(components: Components, responses: int, effect: float) -> float:
    return rater_tau_b(components, responses, effect)


#: By use, as report.json has it.
ANSWERS: dict[str, Claim] = {
    "choose_between_responses": Claim(
        _order("choose_between_responses"),
        "yes to choosing between responses: the judge's tau-b minus a rater's",
        1,
        2,
        judge=_components_tau_b,
    ),
    "order_responses": Claim(
        _order("order_responses"),
        "yes to ordering responses to different queries: likewise",
        1,
        several_responses_claim="choose_between_responses",
        judge=_components_tau_b,
    ),
    "rank_systems": Claim(
        _systems, "yes to ranking systems that are so many points apart", 1, 2, points=True
    ),
    "report_level": Claim(
        _level, "yes to reporting a level: the judge's bias in points", 1, points=True
    ),
    "replace_rater": Claim(
        _order("replace_rater"),
        "yes to standing in for a rater: the judge's tau-b minus a rater's",
        3,
        judge=_components_tau_b,
    ),
}
