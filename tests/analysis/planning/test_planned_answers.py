"""The planned chance of a yes: the answers of a report on the same values."""

import numpy as np
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.arrays import FloatArray
from analysis.core.errors import AnalysisError
from analysis.decisions.answers import decisions
from analysis.decisions.records import Use
from analysis.pipeline.estimation import analyse
from analysis.planning.claim import judge_with, rater_tau_b
from analysis.planning.components import Components
from analysis.planning.designs import PlanSettings
from analysis.planning.planned_answers import ANSWERS
from analysis.planning.power import power
from analysis.planning.simulated_study import Design, Simulated, simulated
from tests.analysis.planning.test_power import table

COMPONENTS = Components(judge=8)
USES: list[Use] = ["choose_between_responses", "rank_systems", "report_level", "replace_rater"]


def as_reported(use: Use, study: Simulated, judge: FloatArray, added: FloatArray) -> str:
    """The answer of the whole report on a study with this judge."""
    frame = table(study, {"judge": judge}).frame
    # Rows are by scorer, each with the responses in their order.
    values = frame["value"].to_numpy() + np.tile(added, len(frame) // added.size)
    scores = ScoreTable.from_frame(frame.assign(value=values), {"QR": Scale(-500, 500)})
    analysis = analyse(scores, options=Options(bias_margin=5.0, seed=study.seed))
    found = decisions(analysis, [("QR", "judge")], [use])
    return next(d.answer for d in found if d.construct is None and d.target == "these_raters")


@pytest.mark.parametrize("use", USES)
def test_an_answer_is_that_of_a_report_on_the_same_values(use: Use) -> None:
    effects = {"rank_systems": 6.0, "report_level": 1.0}
    for run in range(4):
        study = simulated(COMPONENTS, Design(40, 3, 3), 0.95, 0, run, 0)
        effect = effects.get(use, 0.0)
        judge, added = study.judge, np.zeros(study.query.size)
        if use == "rank_systems":
            added = -effect * (np.arange(study.query.size) % 3)
        elif use == "report_level":
            judge = judge + effect + (study.ratings - study.true[:, None]).mean()
        else:
            judge = judge_with(study, rater_tau_b(COMPONENTS, 3, effect), 0)
        planned = ANSWERS[use].decide(study, effect)
        assert planned.made == (as_reported(use, study, judge, added) == "yes")
        assert np.isfinite(planned.figure)


@pytest.mark.parametrize(
    ("use", "margin"), [("choose_between_responses", -0.1), ("report_level", 5.0)]
)
def test_a_judge_at_the_margin_seldom_gets_a_yes(use: str, margin: float) -> None:
    settings = PlanSettings(queries=(60,), raters=(3,), responses_per_query=3, runs=60)
    (cell,) = power(COMPONENTS, {use: margin}, settings).cells
    # .05 and 3 standard errors of 60 studies; a tau-b with the true values is further from it.
    assert cell.power <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_better_judges_and_more_queries_get_a_yes_more_often() -> None:
    settings = PlanSettings(queries=(20, 120), raters=(2,), responses_per_query=3, runs=20)
    near, far = (
        power(COMPONENTS, {"report_level": bias, "choose_between_responses": tau}, settings)
        for bias, tau in ((3.5, -0.05), (0.0, 0.1))
    )
    for claim in ("report_level", "choose_between_responses"):
        few, many = (c.power for c in near.cells if c.claim == claim)
        assert few <= many
        assert many <= [c.power for c in far.cells if c.claim == claim][1]
        assert far.cells[-1].power >= 0.8


def test_what_a_design_cannot_be_asked_has_its_reason() -> None:
    settings = PlanSettings(queries=(20,), raters=(2,), responses_per_query=1, runs=2)
    asked = dict.fromkeys(USES, 0.0) | {"order_responses": 0.0}
    reasons = {cell.claim: cell.reason for cell in power(COMPONENTS, asked, settings).cells}
    assert reasons["choose_between_responses"] == "needs 2 responses to a query"
    assert reasons["rank_systems"] == "needs 2 responses to a query"
    assert reasons["replace_rater"] == "needs 3 raters"
    assert reasons["report_level"] is None
    assert reasons["order_responses"] is None
    several = PlanSettings(queries=(20,), raters=(2,), responses_per_query=2, runs=2)
    (cell,) = power(COMPONENTS, {"order_responses": 0.0}, several).cells
    assert "choose_between_responses" in (cell.reason or "")
    with pytest.raises(AnalysisError, match="can't be claimed"):
        power(COMPONENTS, {"choose": 0.0}, several)
