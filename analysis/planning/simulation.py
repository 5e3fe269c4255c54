"""How many queries and raters a half width needs, by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.core.errors import AnalysisError
from analysis.planning.components import Components
from analysis.planning.simulated_study import STATISTICS, Design, simulated

Advance = Callable[[int, int], None]

#: Largest extrapolation, as a multiple of the largest simulated number of queries.
_FARTHEST = 20


@dataclass(frozen=True)
class SimulatedDesign:
    """Half width of a figure's interval in one design: the mean over simulated studies.

    `assured` is the half width that a share of the studies (the plan's `assurance`) keeps to. Both
    are NaN, with a reason, where the figure is undefined in such a design.
    """

    statistic: str
    queries: int
    raters: int
    responses: int
    ratings: int
    half_width: float
    assured: float
    reason: str | None = None


@dataclass(frozen=True)
class NeededQueries:
    """Queries that reach a wanted half width with a number of raters; None with the reason.

    Where the smallest design that was simulated is enough, it is the answer: fewer may do.
    """

    statistic: str
    wanted: float
    raters: int
    queries: int | None
    responses: int | None
    ratings: int | None
    hours: float | None
    reason: str | None = None


@dataclass(frozen=True)
class StudyPlan:
    """What was simulated, and what follows for each wanted width and number of raters."""

    components: Components
    wanted: Mapping[str, float]
    cells: tuple[SimulatedDesign, ...]
    answers: tuple[NeededQueries, ...]
    responses_per_query: int
    level: float
    assurance: float
    runs: int
    judged: int
    minutes: float
    seed: int

    def as_json(self) -> dict[str, Any]:
        """The plan as values for JSON, null for NaN."""
        content = asdict(self) | {"wanted": dict(self.wanted)}
        for cell in content["cells"]:
            for key in ("half_width", "assured"):
                cell[key] = None if math.isnan(cell[key]) else cell[key]
        return content


def plan(
    components: Components,
    wanted: Mapping[str, float],
    *,
    queries: Sequence[int] = (25, 50, 100, 200),
    raters: Sequence[int] = (2, 3, 5, 10),
    responses_per_query: int = 4,
    judged: int = 1000,
    minutes: float = 1.0,
    level: float = 0.95,
    assurance: float = 0.8,
    runs: int = 40,
    seed: int = 0,
    progress: Advance | None = None,
) -> StudyPlan:
    """Simulate designs, and determine which reach the wanted half widths.

    Parameters
    ----------
    components
        How much queries, responses, raters and the judge vary.
    wanted
        Half width by statistic (`STATISTICS`): in points for bias and corrected means, else in
        units of the coefficient.
    queries, raters
        Numbers to simulate; every rater rates every response.
    responses_per_query
        Responses to each query, as many as systems.
    judged
        Queries with scores of the judge only, for corrected means.
    minutes
        A rater's working time for one response.
    level, assurance
        Level of the intervals, and the share of studies that shall reach the wanted width.
    runs, seed
        Simulated studies for each design.
    progress
        Called with the number of designs done and all of them.

    Returns
    -------
    StudyPlan
        With a cell for each design and statistic, and an answer for each wanted width and number
        of raters.

    Raises
    ------
    AnalysisError
        A statistic is unknown, a width is not above 0, or a number is too small.

    Notes
    -----
    The squared half width is fitted as a + b / queries (a: what raters leave even with endless
    queries), and solved for the wanted one. Half widths come from the functions of the report.
    """
    for name, width in wanted.items():
        if name not in STATISTICS:
            raise AnalysisError(f"{name!r} can't be planned for; there are {', '.join(STATISTICS)}")
        if not (math.isfinite(width) and width > 0):
            raise AnalysisError(f"wanted {name}={width:g}: give a half width above 0")
    check_numbers(queries, raters, responses_per_query, runs, judged, minutes)
    designs = [Design(q, r, responses_per_query) for r in raters for q in queries]
    cells: list[SimulatedDesign] = []
    for done, design in enumerate(designs):
        if progress is not None:
            progress(done, len(designs))
        cells += _cells(components, wanted, design, (level, assurance), runs, seed, judged)
    if progress is not None:
        progress(len(designs), len(designs))
    answers = [
        _answer(name, width, count, cells, responses_per_query, minutes)
        for name, width in wanted.items()
        for count in raters
    ]
    return StudyPlan(
        components, dict(wanted), tuple(cells), tuple(answers), responses_per_query, level,
        assurance, runs, judged, minutes, seed,
    )  # fmt: skip


def check_numbers(
    queries: Sequence[int],
    raters: Sequence[int],
    responses: int,
    runs: int,
    judged: int,
    minutes: float,
) -> None:
    """Raise AnalysisError where a number is too small to simulate."""
    least = {"queries": (queries, 5), "raters": (raters, 1)}
    for option, (numbers, fewest) in least.items():
        if not numbers or min(numbers) < fewest:
            raise AnalysisError(f"{option}: give numbers from {fewest} on")
    if responses < 1 or runs < 2 or judged < 2 or not minutes > 0:
        raise AnalysisError("responses, runs, judged queries and minutes: give more")


def _cells(
    components: Components,
    wanted: Mapping[str, float],
    design: Design,
    shares: tuple[float, float],
    runs: int,
    seed: int,
    judged: int,
) -> list[SimulatedDesign]:
    level, assurance = shares
    widths: dict[str, list[float]] = {name: [] for name in wanted}
    reasons: dict[str, str | None] = dict.fromkeys(wanted)
    for name in wanted:
        needs = STATISTICS[name]
        if design.raters < needs.raters:
            reasons[name] = f"needs {needs.raters} raters"
        elif design.responses < needs.responses:
            reasons[name] = f"needs {needs.responses} responses to a query"
    for run in range(runs):
        study = simulated(components, design, level, seed, run, judged)
        for name, half_widths in widths.items():
            if reasons[name] is None:
                interval = STATISTICS[name].interval(study)
                half_widths.append((interval.high - interval.low) / 2)
    cells = []
    for name, half_widths in widths.items():
        present = np.array([width for width in half_widths if math.isfinite(width)])
        reason = reasons[name]
        if reason is None and present.size < max(2, 0.9 * runs):
            reason = f"no interval in {runs - present.size} of {runs} simulated studies"
        nan = float("nan")
        cells.append(
            SimulatedDesign(
                name, design.queries, design.raters, design.n_responses, design.n_ratings,
                nan if reason else float(present.mean()),
                nan if reason else float(np.quantile(present, assurance)),
                reason,
            )
        )  # fmt: skip
    return cells


def _answer(
    name: str,
    width: float,
    raters: int,
    cells: Sequence[SimulatedDesign],
    responses: int,
    minutes: float,
) -> NeededQueries:
    of_raters = [c for c in cells if (c.statistic, c.raters) == (name, raters)]
    defined = [c for c in of_raters if c.reason is None]

    def without(reason: str) -> NeededQueries:
        return NeededQueries(name, width, raters, None, None, None, None, reason)

    if not defined:
        return without(of_raters[0].reason or "no interval")
    counts = [c.queries for c in defined]
    floor, slope = _fit(np.array(counts), np.array([c.assured for c in defined]))
    if width**2 <= floor:
        return without(f"{raters} raters leave {math.sqrt(floor):.3g}, however many queries")
    needed = max(math.ceil(slope / (width**2 - floor) * (1 - 1e-9)), 2)
    if needed > _FARTHEST * max(counts):
        return without(f"more than {_FARTHEST * max(counts):,} queries")
    # The fit is not valid below the simulated numbers: the smallest design is the answer.
    needed = max(needed, min(counts))
    n = needed * responses
    return NeededQueries(name, width, raters, needed, n, n * raters, n * raters * minutes / 60)


def _fit(
    queries: np.ndarray[Any, np.dtype[Any]], half_width: np.ndarray[Any, np.dtype[Any]]
) -> tuple[float, float]:
    """a and b, both at least 0, of half width^2 = a + b / queries, in relative least squares."""
    from scipy.optimize import nnls

    squares = half_width**2
    if queries.size == 1:
        return 0.0, float(squares[0] * queries[0])
    columns = np.column_stack([1 / squares, 1 / (queries * squares)])
    half_widths = nnls(columns, np.ones(queries.size))[0]
    return float(half_widths[0]), float(half_widths[1])
