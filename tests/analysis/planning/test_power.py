"""Power: claims are those of a report on the same values, at chance without an effect."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.arrays import FloatArray
from analysis.core.context import Context
from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import ORDER
from analysis.pipeline.estimation import analyse
from analysis.planning import claim as claims
from analysis.planning.claim import noise_of, tau_b
from analysis.planning.components import Components
from analysis.planning.designs import PlanSettings
from analysis.planning.plan_files import write_plan
from analysis.planning.planned_claims import CLAIMS
from analysis.planning.planned_report import PlannedReport
from analysis.planning.power import PowerPlan, power
from analysis.planning.simulated_study import Design, Simulated, simulated
from analysis.render.verdict_facts import outcome
from analysis.topics.agreement.association import biases
from analysis.topics.agreement.human_ceiling import ceilings
from analysis.topics.agreement.judge_comparison import differ, judges_compared
from analysis.topics.agreement.non_inferiority import non_inferiority
from analysis.topics.correction.estimates import correction

COMPONENTS = Components()
EFFECTS = {
    "human_ceiling_difference": -0.15,
    "non_inferiority": 0.1,
    "judge_difference": 0.15,
    "ppi_difference": 6.0,
    "bias": 6.0,
}
MARGIN = 0.1


def table(study: Simulated, judges: dict[str, FloatArray], better: float = 0.0) -> ScoreTable:
    """The study as a table, with these judges; the first system is `better` points better."""
    place = np.arange(study.query.size)
    system = place % study.design.responses
    added = np.where(system == 0, better, 0.0)
    rated = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in place],
            "query_id": [f"q{i}" for i in study.query],
            "system": [f"s{i}" for i in system],
        }
    )
    people = {f"rater-{i}": column for i, column in enumerate(study.ratings.T)}
    parts = [
        rated.assign(scorer=name, scorer_kind=kind, value=values + added)
        for kind, scorers in (("human", people), ("judge", judges))
        for name, values in scorers.items()
    ]
    for i, scores in enumerate(study.unrated.T):
        queries = [f"u{j}" for j in range(scores.size)]
        further = pd.DataFrame({"response_id": [f"{q}-{i}" for q in queries], "query_id": queries})
        value = scores + (better if i == 0 else 0.0)
        parts += [
            further.assign(system=f"s{i}", scorer=name, scorer_kind="judge", value=value)
            for name in judges
        ]
    frame = pd.concat(parts, ignore_index=True).assign(construct="QR")
    return ScoreTable.from_frame(frame, {"QR": Scale(-500, 500)})


def reported(study: Simulated, judges: dict[str, FloatArray], better: float = 0.0) -> EstimateList:
    """The estimates of a report on the study that the claims rest on."""
    context = Context(
        table(study, judges, better), None, Options(non_inferiority_margin=MARGIN, resamples=100)
    )
    return EstimateList(
        [
            *ceilings(context, (ORDER,)),
            *non_inferiority(context),
            *judges_compared(context),
            *biases(context),
            *correction(context),
        ]
    )


def of_report(study: Simulated, name: str, effect: float) -> tuple[Estimate, bool]:
    """A report's estimate for a claim, and whether it makes the claim."""
    per_query, raters = study.design.responses, study.design.raters
    target = CLAIMS[name].target(raters)
    judge = study.judge
    if name in {"human_ceiling_difference", "non_inferiority"}:
        tau = claims.rater_tau_b(COMPONENTS, per_query, effect if "human" in name else 0.0)
        judge = study.true + noise_of(COMPONENTS.response, tau) * study.noise[0]
    judges = {"judge": judge + (effect if name == "bias" else 0.0)}
    if name == "judge_difference":
        tau = claims.worse_judge_tau_b(COMPONENTS, per_query, effect)
        judges["other"] = study.true + noise_of(COMPONENTS.response, tau) * study.noise[1]
    estimates = reported(study, judges, effect if name == "ppi_difference" else 0.0)
    if name == "ppi_difference":
        (e,) = (e for e in estimates.select(name) if e.systems == ("s0", "s1"))
    elif name == "bias":
        (e,) = estimates.select(name, target=target)
    elif name == "judge_difference":
        (e,) = estimates.select(name, scope="within_query", measure=ORDER)
        return e, differ(e) and e.value > 0
    else:
        (e,) = estimates.select(name, scope="within_query", target=target, scorer="judge")
    if name == "non_inferiority":
        return e, e.params["non_inferior"] == "yes"
    return e, outcome(e.ci_low, e.ci_high) == ("better" if effect > 0 else "worse")


@pytest.mark.parametrize("raters", [3, 5])
@pytest.mark.parametrize("name", list(EFFECTS))
def test_a_claim_is_made_where_a_report_on_the_same_values_makes_it(name: str, raters: int) -> None:
    made = set()
    for run in range(4):
        study = simulated(COMPONENTS, Design(40, raters, 3), 0.95, 0, run, 60)
        decision = CLAIMS[name].decide(study, EFFECTS[name])
        e, of_the_report = of_report(study, name, EFFECTS[name])
        assert decision.figure == pytest.approx(e.value, abs=1e-9)
        assert decision.made == of_the_report
        # A report corrects the p of its estimate.
        if CLAIMS[name].family is not None:
            assert decision.p == pytest.approx(e.p, abs=1e-9)
        made.add(decision.made)
    assert made


def test_a_tau_b_is_that_of_normal_values() -> None:
    rng = np.random.default_rng(0)
    true = 15 * rng.normal(size=4000)
    noise = noise_of(15, 0.6)
    assert tau_b(15, noise) == pytest.approx(0.6)
    from scipy.stats import kendalltau

    other = true + noise * rng.normal(size=4000)
    # Standard error of tau about .008.
    assert kendalltau(true, other).statistic == pytest.approx(0.6, abs=0.03)


def small(seed: int = 0) -> PowerPlan:
    settings = PlanSettings(queries=(20, 40), raters=(1, 3), runs=4, judged=60, seed=seed)
    return power(COMPONENTS, EFFECTS, settings)


def test_same_seed_same_power_and_every_design_has_it_with_its_error() -> None:
    plan = small()
    assert plan.as_json() == small().as_json()
    assert plan.as_json() != small(seed=1).as_json()
    for cell in plan.cells:
        if cell.raters == 1 and CLAIMS[cell.claim].raters == 2:
            assert cell.reason == "needs 2 raters"
        else:
            assert 0 <= cell.power <= 1
            # Of a share of 0 or 1 as well.
            assert 0 < cell.error <= 0.25


def test_an_effect_that_no_judge_has_says_so() -> None:
    settings = PlanSettings(queries=(20,), raters=(3,), runs=2)
    plan = power(COMPONENTS, {"human_ceiling_difference": 0.5}, settings)
    assert "needs a judge whose tau-b with the true values is 1.1" in (plan.cells[0].reason or "")
    assert plan.smallest("human_ceiling_difference") is None
    for claim, message in (
        ({"alpha": 0.1}, "can't be claimed"),
        ({"non_inferiority": -0.1}, "above 0"),
        ({"bias": float("nan")}, "give a number"),
    ):
        with pytest.raises(AnalysisError, match=message):
            power(COMPONENTS, claim)


def test_a_plan_of_claims_as_files(tmp_path: Path) -> None:
    plan = small()
    for name in ("plan.json", "plan.csv", "plan.html"):
        write_plan(None, plan, ("a note",), tmp_path / name)
    content = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert content["widths"] is None
    assert len(content["power"]["cells"]) == 5 * 2 * 2
    frame = pd.read_csv(tmp_path / "plan.csv")
    assert list(frame["claim"].unique()) == list(EFFECTS)
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "a Monte Carlo standard error of at most" in page


@pytest.mark.slow
def test_the_power_is_the_share_of_reports_on_other_studies() -> None:
    design, runs, reports = Design(40, 5, 3), 200, 20
    settings = PlanSettings(queries=(40,), raters=(5,), responses_per_query=3, runs=runs, judged=60)
    plan = power(COMPONENTS, EFFECTS, settings)
    for cell in plan.cells:
        made = [
            of_report(simulated(COMPONENTS, design, 0.95, 1, run, 60), cell.claim, cell.effect)[1]
            for run in range(reports)
        ]
        share = np.mean(made)
        shrunk = (runs * cell.uncorrected + 1) / (runs + 2)
        error = np.sqrt(shrunk * (1 - shrunk) * (1 / runs + 1 / reports))
        assert abs(share - cell.uncorrected) < 3.5 * error, cell


@pytest.mark.slow
def test_without_an_effect_a_claim_is_made_at_the_nominal_level() -> None:
    zero = {name: 0.0 for name, claim in CLAIMS.items() if claim.family is not None}
    plan = power(COMPONENTS, zero, PlanSettings(queries=(40,), raters=(5,), runs=300, judged=200))
    for cell in plan.cells:
        # Monte Carlo standard errors .013 and, at a level of at most .01, .006.
        assert cell.uncorrected < 0.05 + 3.5 * 0.013, cell
        assert cell.power < 0.01 + 3.5 * 0.006, cell


@pytest.mark.parametrize(("constructs", "judges"), [(1, 1), (2, 3)])
def test_a_claim_is_corrected_as_in_a_report_with_so_many_comparisons(
    constructs: int, judges: int
) -> None:
    design, systems = Design(30, 3, 3), 3
    study = simulated(COMPONENTS, design, 0.95, 0, 1, 30)
    names = {f"judge-{i}": study.judge + 3 * i * study.noise[1] for i in range(judges)}
    first = table(study, names)
    frame = pd.concat([first.frame.assign(construct=f"C{i}") for i in range(constructs)])
    scales = {f"C{i}": Scale(-500, 500) for i in range(constructs)}
    analysis = analyse(ScoreTable.from_frame(frame, scales), options=Options(resamples=100))
    report = PlannedReport(constructs, judges)
    for key in ("verdict", "corrected", *(["agreement"] if judges > 1 else [])):
        family = analysis.claims.of(key)
        assert family is not None
        needed = family.alpha / family.comparisons
        assert report.p_needed(key, systems, 0.95) == pytest.approx(needed)
