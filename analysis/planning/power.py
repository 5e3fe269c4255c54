"""Power: the chance that a report makes a claim that is true, by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.core.errors import AnalysisError
from analysis.core.statistic import Target
from analysis.planning.components import Components
from analysis.planning.planned_claims import CLAIMS
from analysis.planning.simulated_study import Design, simulated
from analysis.planning.simulation import Advance, check_numbers


@dataclass(frozen=True)
class PowerOfDesign:
    """Share of simulated studies of one design whose report makes the claim.

    `error` is the Monte Carlo standard error of `power`; `figure` is the report's own figure,
    averaged over the studies; all are NaN, with a reason, where the claim does not arise. `target`
    are the raters that the claim is about.
    """

    claim: str
    effect: float
    target: Target
    queries: int
    raters: int
    responses: int
    ratings: int
    power: float
    error: float
    figure: float
    reason: str | None = None


@dataclass(frozen=True)
class DesignNeeded:
    """Queries from which a claim has the wanted power, by raters; None with the reason."""

    claim: str
    effect: float
    target: Target
    raters: int
    queries: int | None
    responses: int | None
    ratings: int | None
    hours: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PowerPlan:
    """What was simulated, and what follows for each claim and number of raters."""

    components: Components
    claims: Mapping[str, float]
    cells: tuple[PowerOfDesign, ...]
    answers: tuple[DesignNeeded, ...]
    responses_per_query: int
    level: float
    assurance: float
    runs: int
    judged: int
    minutes: float
    seed: int

    def smallest(self, claim: str) -> DesignNeeded | None:
        """The answer with the fewest ratings; None where no design has the wanted power."""
        answers = [a for a in self.answers if a.claim == claim and a.ratings is not None]
        return min(answers, key=lambda a: (a.ratings or 0, a.raters), default=None)

    def as_json(self) -> dict[str, Any]:
        """The plan as values for JSON, null for NaN."""
        content = asdict(self) | {"claims": dict(self.claims)}
        for cell in content["cells"]:
            for key in ("power", "error", "figure"):
                cell[key] = None if math.isnan(cell[key]) else cell[key]
        smallest = (self.smallest(claim) for claim in self.claims)
        return content | {"smallest": [asdict(answer) for answer in smallest if answer]}


def power(
    components: Components,
    claims: Mapping[str, float],
    *,
    queries: Sequence[int] = (25, 50, 100, 200),
    raters: Sequence[int] = (2, 3, 5, 10),
    responses_per_query: int = 4,
    judged: int = 1000,
    minutes: float = 1.0,
    level: float = 0.95,
    assurance: float = 0.8,
    runs: int = 100,
    seed: int = 0,
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
    queries, raters, responses_per_query, judged, minutes, level, seed, progress
        As for `plan`; `progress` counts simulated studies.
    assurance
        The wanted power.
    runs
        Simulated studies for each design, on which all claims are decided.

    Returns
    -------
    PowerPlan
        With a cell for each design and claim, and an answer for each claim and number of raters.

    Raises
    ------
    AnalysisError
        A claim is unknown, an effect is not a number or not above 0 where it is a margin, or a
        number is too small.

    Notes
    -----
    Claims are those about one construct and one judge, two judges or two systems; a report that
    compares more adjusts for all of them, and has less power. Between two numbers of queries the
    normal quantile of the power is interpolated in the root of their number.
    """
    for name, effect in claims.items():
        if name not in CLAIMS:
            raise AnalysisError(f"{name!r} can't be claimed; there are {', '.join(CLAIMS)}")
        if not math.isfinite(effect) or (name == "non_inferiority" and not effect > 0):
            raise AnalysisError(f"claim {name}={effect:g}: give a number, of a margin above 0")
    check_numbers(queries, raters, responses_per_query, runs, judged, minutes)
    designs = [Design(q, r, responses_per_query) for r in raters for q in queries]
    cells: list[PowerOfDesign] = []
    for done, design in enumerate(designs):
        reasons = {
            name: _reason(name, effect, components, design) for name, effect in claims.items()
        }
        decisions: dict[str, list[tuple[float, bool]]] = {name: [] for name in claims}
        for run in range(runs):
            if progress is not None:
                progress(done * runs + run, len(designs) * runs)
            study = simulated(components, design, level, seed, run, judged)
            for name, effect in claims.items():
                if reasons[name] is None:
                    decision = CLAIMS[name].decide(study, effect)
                    decisions[name].append((decision.figure, decision.made))
        cells += [
            _cell(name, effect, design, decisions[name], reasons[name])
            for name, effect in claims.items()
        ]
    if progress is not None:
        progress(len(designs) * runs, len(designs) * runs)
    answers = [
        _answer([c for c in cells if (c.claim, c.raters) == (name, count)], assurance, minutes)
        for name in claims
        for count in raters
    ]
    return PowerPlan(
        components, dict(claims), tuple(cells), tuple(answers), responses_per_query, level,
        assurance, runs, judged, minutes, seed,
    )  # fmt: skip


def _reason(name: str, effect: float, components: Components, design: Design) -> str | None:
    claim = CLAIMS[name]
    if design.raters < claim.raters:
        return f"needs {claim.raters} raters"
    if design.responses < claim.responses:
        return f"needs {claim.responses} responses to a query"
    return claim.problem(components, design.responses, effect)


def _cell(
    name: str,
    effect: float,
    design: Design,
    decisions: Sequence[tuple[float, bool]],
    reason: str | None,
) -> PowerOfDesign:
    share = error = figure = float("nan")
    if reason is None:
        figures, made = np.array(decisions).T
        share, figure = float(made.mean()), float(np.nanmean(figures))
        # Of a share of 0 or 1 the plain error would be 0.
        shrunk = (made.sum() + 1) / (made.size + 2)
        error = math.sqrt(shrunk * (1 - shrunk) / made.size)
    return PowerOfDesign(
        name, effect, CLAIMS[name].target(design.raters), design.queries, design.raters,
        design.n_responses, design.n_ratings, share, error, figure, reason,
    )  # fmt: skip


def _answer(cells: Sequence[PowerOfDesign], wanted: float, minutes: float) -> DesignNeeded:
    """The answer for cells of one claim and number of raters."""
    first = cells[0]
    asked = first.claim, first.effect, first.target, first.raters

    def without(reason: str) -> DesignNeeded:
        return DesignNeeded(*asked, None, None, None, None, reason)

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
    n = needed * (first.responses // first.queries)
    return DesignNeeded(*asked, needed, n, n * first.raters, n * first.raters * minutes / 60)


def _between(below: PowerOfDesign, above: PowerOfDesign, wanted: float) -> int:
    """Queries with the wanted power, between a design that lacks it and one that has it."""
    quantile = NormalDist().inv_cdf
    low, high = (quantile(min(max(c.power, 0.005), 0.995)) for c in (below, above))
    share = (quantile(wanted) - low) / (high - low) if high > low else 1.0
    root = math.sqrt(below.queries)
    root += min(share, 1.0) * (math.sqrt(above.queries) - root)
    return math.ceil(root**2 - 1e-9)
