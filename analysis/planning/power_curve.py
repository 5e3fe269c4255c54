"""Curves of power: the chance of a claim by number of queries, a line for each number of raters."""

from __future__ import annotations

from analysis.planning.curve import Line, lines_by_raters, simulations
from analysis.planning.planned_answers import ANSWERS
from analysis.planning.planned_claims import CLAIMS
from analysis.planning.power import PowerPlan
from analysis.render.drawing import Drawing
from analysis.render.formatting import counted


def drawn(plan: PowerPlan, claim: str) -> Drawing:
    """The curve of one claim."""
    lines: dict[int, Line] = {}
    for cell in plan.cells:
        if cell.claim == claim and cell.reason is None:
            lines.setdefault(cell.raters, []).append((cell.queries, cell.power))
    effect = plan.claims[claim]
    name = f"Power of {claim}" + ("" if effect is None else f" = {effect:g}")
    return lines_by_raters(
        f"power-{claim}",
        (name, CLAIMS[claim].description),
        lines,
        (plan.settings.assurance, f"wanted {plan.settings.assurance:g}"),
        "share of studies with this result",
        1.05,
        f"Power of {claim} by number of queries, a line for each number of raters",
    )


def caption(plan: PowerPlan) -> str:
    """How the curves were computed."""
    if plan.from_pilot:
        return _pilot_caption(plan)
    largest = max((cell.error for cell in plan.cells if cell.reason is None), default=0.0)
    report = plan.report
    text = (
        f"{simulations(plan)} Shown is the share of the studies whose report answers yes, or makes "
        f"the claim, with a Monte Carlo standard error of at most {largest:.0%}."
    )
    if any(name in ANSWERS for name in plan.claims):
        text += " Answers are for one construct, with the default margins."
    if any(CLAIMS[name].family is not None for name in plan.claims):
        text += (
            " Claims except non_inferiority are corrected for all comparisons of a report on "
            f"{counted(report.constructs, 'construct')} and {counted(report.judges, 'judge')}."
        )
    return text


def _pilot_caption(plan: PowerPlan) -> str:
    largest = max((cell.error for cell in plan.cells if cell.reason is None), default=0.0)
    return (
        f"{counted(plan.settings.runs, 'study', 'studies')} for each design, of queries that are "
        "drawn from the pilot with replacement, with its raters and its judge. Shown is the share "
        f"with a yes for these raters on one construct, with a Monte Carlo standard error of at "
        f"most {largest:.0%}: the chance if the figures stay as they are in the pilot."
    )
