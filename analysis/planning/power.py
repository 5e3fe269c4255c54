"""Power: the chance that a report makes a claim that is true, by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.core.errors import AnalysisError
from analysis.core.statistic import Target
from analysis.planning.claim import ClaimOutcome
from analysis.planning.components import Components
from analysis.planning.designs import (
    Advance,
    Plan,
    PlanSettings,
    QueriesNeeded,
    SimulatedDesign,
    effort,
    size_of,
)
from analysis.planning.planned_claims import CLAIMS
from analysis.planning.planned_report import PlannedReport
from analysis.planning.simulated_study import Design, simulated

#: Likewise for claims: a share varies more than a width.
RUNS = 100


@dataclass(frozen=True, kw_only=True)
class PowerOfDesign(SimulatedDesign):
    """Share of simulated studies of one design whose report makes the claim.

    `power` is corrected for all comparisons of the planned report, `uncorrected` is that of a
    report without others. `error` is the Monte Carlo standard error of `power`; `figure` is the
    report's own figure, averaged over the studies; all are NaN, with a reason, where the claim does
    not arise. `target` are the raters that the claim is about.
    """

    claim: str
    effect: float | None
    """What is true of the judge; None: what is true of that of the pilot."""
    target: Target
    power: float = math.nan
    error: float = math.nan
    uncorrected: float = math.nan
    figure: float = math.nan


@dataclass(frozen=True, kw_only=True)
class QueriesForPower(QueriesNeeded):
    """Queries from which a claim has the wanted power."""

    claim: str
    effect: float | None
    target: Target


@dataclass(frozen=True, kw_only=True)
class PowerPlan(Plan[PowerOfDesign, QueriesForPower]):
    """The power in all designs, and an answer for each claim and number of raters.

    `p_needed` is the p at which a report makes a claim; a claim that is not corrected has none.
    """

    claims: Mapping[str, float | None]
    report: PlannedReport
    from_pilot: bool = False
    """Whether its studies are drawn from the queries of a pilot."""
    p_needed: Mapping[str, float] = field(default_factory=dict)

    def smallest(self, claim: str) -> QueriesForPower | None:
        """The answer with the fewest ratings; None where no design has the wanted power."""
        answers = [a for a in self.answers if a.claim == claim and a.ratings is not None]
        return min(answers, key=lambda a: (a.ratings or 0, a.raters), default=None)

    def as_json(self) -> dict[str, Any]:
        """The plan as values for JSON, null for NaN."""
        smallest = (self.smallest(claim) for claim in self.claims)
        return super().as_json() | {"smallest": [asdict(answer) for answer in smallest if answer]}


def power(
    components: Components,
    claims: Mapping[str, float],
    settings: PlanSettings | None = None,
    report: PlannedReport | None = None,
    progress: Advance | None = None,
) -> PowerPlan:
    """Simulate designs, and determine in which a report makes the claims.

    Parameters
    ----------
    components
        How much queries, responses, raters and the judge vary.
    claims
        Effect that is true by claim (`CLAIMS`): in points for bias and systems, else in tau-b; the
        margin of non-inferiority, where the judge is as good as a rater. With an effect of 0 the
        share is that of false claims, in either direction.
    settings
        Designs and number of simulated studies, on which all claims are decided.
    report
        Constructs and judges of the report, which corrects each claim for all of its comparisons.
    progress
        Called with the number of simulated studies and all of them.

    Returns
    -------
    PowerPlan
        With a cell for each design and claim, and an answer for each claim and number of raters.

    Raises
    ------
    AnalysisError
        A claim is unknown, or an effect is not a number or not above 0 where it is a margin.

    Notes
    -----
    Holm's method is applied as if no other comparison of the family were significant, so that the
    power is at least the one shown. Between two numbers of queries the normal quantile of the power
    is interpolated in the root of their number.
    """
    for name, effect in claims.items():
        if name not in CLAIMS:
            raise AnalysisError(f"{name!r} can't be claimed; there are {', '.join(CLAIMS)}")
        if not math.isfinite(effect) or (name == "non_inferiority" and not effect > 0):
            raise AnalysisError(f"claim {name}={effect:g}: give a number, of a margin above 0")
    settings, report = settings or PlanSettings(runs=RUNS), report or PlannedReport()
    p_needed = {
        name: report.p_needed(family, settings.responses_per_query, settings.level)
        for name in claims
        if (family := CLAIMS[name].family) is not None
        and settings.responses_per_query >= CLAIMS[name].responses
    }
    designs, runs = list(settings.designs()), settings.runs
    cells: list[PowerOfDesign] = []
    for done, design in enumerate(designs):
        reasons = {
            name: _reason(name, effect, components, design) for name, effect in claims.items()
        }
        outcomes: dict[str, list[ClaimOutcome]] = {name: [] for name in claims}
        for run in range(runs):
            if progress is not None:
                progress(done * runs + run, len(designs) * runs)
            study = simulated(
                components, design, settings.level, settings.seed, run, settings.judged,
                settings.width,
            )  # fmt: skip
            for name, effect in claims.items():
                if reasons[name] is None:
                    outcomes[name].append(CLAIMS[name].decide(study, effect))
        cells += [
            PowerOfDesign(
                claim=name,
                effect=effect,
                target=CLAIMS[name].target(design.raters),
                reason=reasons[name],
                **size_of(design),
                **shares(outcomes[name], p_needed.get(name, 1.0)),
            )
            for name, effect in claims.items()
        ]
    if progress is not None:
        progress(len(designs) * runs, len(designs) * runs)
    answers = [
        queries_for_power([c for c in cells if (c.claim, c.raters) == (name, count)], settings)
        for name in claims
        for count in settings.raters
    ]
    return PowerPlan(
        components=components, settings=settings, claims=dict(claims), report=report,
        p_needed=p_needed, cells=cells, answers=answers,
    )  # fmt: skip


def _reason(name: str, effect: float, components: Components, design: Design) -> str | None:
    claim = CLAIMS[name]
    if design.raters < claim.raters:
        return f"needs {claim.raters} raters"
    if design.responses < claim.responses:
        return f"needs {claim.responses} responses to a query"
    if design.responses > 1 and claim.several_responses_claim:
        return f"is of one response to a query; of several it is {claim.several_responses_claim}"
    return claim.problem(components, design.responses, effect)


def shares(outcomes: Sequence[ClaimOutcome], p_needed: float) -> dict[str, Any]:
    """Fields of a `PowerOfDesign`; none where no study was decided."""
    if not outcomes:
        return {}
    made = np.array([outcome.made for outcome in outcomes])
    corrected = made & [outcome.p <= p_needed for outcome in outcomes]
    # Of a share of 0 or 1 the plain error would be 0.
    shrunk = (corrected.sum() + 1) / (made.size + 2)
    return {
        "power": float(corrected.mean()),
        "error": math.sqrt(shrunk * (1 - shrunk) / made.size),
        "uncorrected": float(made.mean()),
        "figure": _mean([outcome.figure for outcome in outcomes]),
    }


def _mean(figures: Sequence[float]) -> float:
    """The mean of those that are defined; NaN without one."""
    defined = [figure for figure in figures if not math.isnan(figure)]
    return float(np.mean(defined)) if defined else math.nan


def queries_for_power(cells: Sequence[PowerOfDesign], settings: PlanSettings) -> QueriesForPower:
    """The answer for cells of one claim and number of raters."""
    first, wanted = cells[0], settings.assurance
    asked: dict[str, Any] = {"claim": first.claim, "effect": first.effect, "target": first.target}

    def without(reason: str) -> QueriesForPower:
        return QueriesForPower(raters=first.raters, reason=reason, **asked)

    if first.reason is not None:
        return without(first.reason)
    cells = sorted(cells, key=lambda cell: cell.queries)
    place = next((i for i, cell in enumerate(cells) if cell.power >= wanted), None)
    if place is None:
        last = cells[-1]
        return without(f"{last.power:.0%} with {last.queries:,} queries and {last.raters} raters")
    needed = cells[place].queries
    if place:
        needed = _between(cells[place - 1], cells[place], wanted)
    return QueriesForPower(**asked, **effort(needed, first.raters, settings))


def _between(below: PowerOfDesign, above: PowerOfDesign, wanted: float) -> int:
    """Queries with the wanted power, between a design that lacks it and one that has it."""
    quantile = NormalDist().inv_cdf
    low, high = (quantile(min(max(c.power, 0.005), 0.995)) for c in (below, above))
    share = (quantile(wanted) - low) / (high - low) if high > low else 1.0
    root = math.sqrt(below.queries)
    root += min(share, 1.0) * (math.sqrt(above.queries) - root)
    return math.ceil(root**2 - 1e-9)
