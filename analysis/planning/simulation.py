"""How many queries and raters a half width needs, by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.errors import AnalysisError
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
from analysis.planning.simulated_study import STATISTICS, Design, simulated

#: Largest extrapolation, as a multiple of the largest simulated number of queries.
_FARTHEST = 20


@dataclass(frozen=True, kw_only=True)
class WidthOfDesign(SimulatedDesign):
    """Half width of a figure's interval in one design: the mean over simulated studies.

    `assured` is the half width that a share of the studies (the plan's `assurance`) keeps to. Both
    are NaN, with a reason, where the figure is undefined in such a design.
    """

    statistic: str
    half_width: float
    assured: float


@dataclass(frozen=True, kw_only=True)
class QueriesForWidth(QueriesNeeded):
    """Queries that reach a wanted half width.

    Where the smallest design that was simulated is enough, it is the answer: fewer may do.
    """

    statistic: str
    wanted: float


@dataclass(frozen=True, kw_only=True)
class WidthPlan(Plan[WidthOfDesign, QueriesForWidth]):
    """The half widths of all designs, and an answer for each wanted width and number of raters."""

    wanted: Mapping[str, float]


def plan(
    components: Components,
    wanted: Mapping[str, float],
    settings: PlanSettings | None = None,
    progress: Advance | None = None,
) -> WidthPlan:
    """Simulate designs, and determine which reach the wanted half widths.

    Parameters
    ----------
    components
        How much queries, responses, raters and the judge vary.
    wanted
        Half width by statistic (`STATISTICS`): in points for bias and corrected means, else in
        units of the coefficient.
    settings
        Designs and number of simulated studies.
    progress
        Called with the number of designs done and all of them.

    Returns
    -------
    WidthPlan
        With a cell for each design and statistic, and an answer for each wanted width and number
        of raters.

    Raises
    ------
    AnalysisError
        A statistic is unknown, or a width is not above 0.

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
    settings = settings or PlanSettings()
    designs = list(settings.designs())
    cells: list[WidthOfDesign] = []
    for done, design in enumerate(designs):
        if progress is not None:
            progress(done, len(designs))
        cells += _cells(components, wanted, design, settings)
    if progress is not None:
        progress(len(designs), len(designs))
    answers = [
        _answer(
            name, width, [c for c in cells if (c.statistic, c.raters) == (name, count)], settings
        )
        for name, width in wanted.items()
        for count in settings.raters
    ]
    return WidthPlan(
        components=components, settings=settings, wanted=dict(wanted), cells=cells, answers=answers
    )


def _cells(
    components: Components, wanted: Mapping[str, float], design: Design, settings: PlanSettings
) -> list[WidthOfDesign]:
    widths: dict[str, list[float]] = {name: [] for name in wanted}
    reasons: dict[str, str | None] = dict.fromkeys(wanted)
    for name in wanted:
        needs = STATISTICS[name]
        if design.raters < needs.raters:
            reasons[name] = f"needs {needs.raters} raters"
        elif design.responses < needs.responses:
            reasons[name] = f"needs {needs.responses} responses to a query"
    for run in range(settings.runs):
        study = simulated(components, design, settings.level, settings.seed, run, settings.judged)
        for name, half_widths in widths.items():
            if reasons[name] is None:
                interval = STATISTICS[name].interval(study)
                half_widths.append((interval.high - interval.low) / 2)
    cells = []
    for name, half_widths in widths.items():
        present = np.array([width for width in half_widths if math.isfinite(width)])
        reason = reasons[name]
        if reason is None and present.size < max(2, 0.9 * settings.runs):
            missing = settings.runs - present.size
            reason = f"no interval in {missing} of {settings.runs} simulated studies"
        cells.append(
            WidthOfDesign(
                statistic=name,
                half_width=math.nan if reason else float(present.mean()),
                assured=math.nan if reason else float(np.quantile(present, settings.assurance)),
                reason=reason,
                **size_of(design),
            )
        )
    return cells


def _answer(
    name: str, width: float, cells: Sequence[WidthOfDesign], settings: PlanSettings
) -> QueriesForWidth:
    """The answer for cells of one statistic and number of raters."""
    raters = cells[0].raters
    defined = [c for c in cells if c.reason is None]

    def without(reason: str) -> QueriesForWidth:
        return QueriesForWidth(statistic=name, wanted=width, raters=raters, reason=reason)

    if not defined:
        return without(cells[0].reason or "no interval")
    counts = [c.queries for c in defined]
    floor, slope = _fit(np.array(counts), np.array([c.assured for c in defined]))
    if width**2 <= floor:
        return without(f"{raters} raters leave {math.sqrt(floor):.3g}, however many queries")
    needed = max(math.ceil(slope / (width**2 - floor) * (1 - 1e-9)), 2)
    if needed > _FARTHEST * max(counts):
        return without(f"more than {_FARTHEST * max(counts):,} queries")
    # The fit is not valid below the simulated numbers: the smallest design is the answer.
    needed = max(needed, min(counts))
    return QueriesForWidth(statistic=name, wanted=width, **effort(needed, raters, settings))


def _fit(queries: np.ndarray[Any, np.dtype[Any]], half_width: FloatArray) -> tuple[float, float]:
    """a and b, both at least 0, of half width^2 = a + b / queries, in relative least squares."""
    from scipy.optimize import nnls

    squares = half_width**2
    if queries.size == 1:
        return 0.0, float(squares[0] * queries[0])
    columns = np.column_stack([1 / squares, 1 / (queries * squares)])
    half_widths = nnls(columns, np.ones(queries.size))[0]
    return float(half_widths[0]), float(half_widths[1])
