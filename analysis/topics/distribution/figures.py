"""The figures on distributions of scores: histograms, and shares at the ends of the scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    RULE,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
    name_rows,
)
from analysis.render.figure_of import FigureOf, Panels, estimates_in, if_several
from analysis.render.formatting import percent
from analysis.render.histogram import BARS, draw_shares, shares, value_edges
from analysis.render.labels import distinct_labels
from analysis.render.panels import (
    HEIGHT,
    JUDGES_DRAWN,
    WIDTH,
    Panel,
    left_out,
    panels,
)


def distributions(analysis: Analysis) -> Iterator[Figure]:
    """Panels of all constructs, on the responses that people rated where there are any."""
    drawings, data = [], []
    for number, panel in enumerate(panels(analysis)):
        drawing, table = _draw(analysis, panel, f"distribution-{number}")
        drawings.append(drawing)
        data.append(table)
    if not drawings:
        return
    yield Figure(
        key="distributions",
        title="How the judge and people use the scale",
        caption=(
            f"Share of scores by value, in {BARS} equal steps (fewer where a scale has fewer "
            "values): bars for the judge (or metric), a line for single human ratings, both on the "
            "responses that people rated. The share exactly at the top of a declared scale is "
            "written out."
            f"{left_out(analysis)}"
        ),
        drawings=tuple(drawings),
        data=pd.concat(data, ignore_index=True),
    )


def _draw(analysis: Analysis, panel: Panel, key: str) -> tuple[Drawing, pd.DataFrame]:
    ratings = panel.data.ratings
    rated = np.isfinite(ratings).any(axis=1)
    judged = panel.judge[rated] if rated.any() else panel.judge
    judge = judged[np.isfinite(judged)]
    human = ratings[np.isfinite(ratings)]
    if human.size and (human.min() < panel.low or human.max() > panel.high):
        human = human[:0]
    ends = panel.low, panel.high
    edges = value_edges(*ends, judge, human)
    judge_shares, human_shares = shares(judge, edges), shares(human, edges)
    with canvas(WIDTH, HEIGHT * 0.8) as (figure, axes):
        draw_shares(axes, edges, ends, judge_shares, human_shares if human.size else None)
        head(figure, analysis.scores.full_name(panel.construct), panel.named_scorer)
        notes = _at_top(panel, judge, human)
        for line, (text, color) in enumerate(zip(notes, (ACCENT, INK), strict=False)):
            axes.text(0.02, 0.99 - 0.11 * line, text, transform=axes.transAxes, va="top",
                      color=color, size=7)  # fmt: skip
        drawing = as_svg(
            figure, key, f"{panel.name}: distribution of scores",
            f"{judge.size} {panel.kind} scores and {human.size} human ratings; {', '.join(notes)}.",
        )  # fmt: skip
    table = pd.DataFrame(
        {
            "construct": panel.construct,
            "scorer": panel.scorer,
            "from": edges[:-1],
            "to": edges[1:],
            "judge_share": judge_shares,
            "human_share": human_shares,
        }
    )
    return drawing, table


def _at_top(
    panel: Panel, judge: npt.NDArray[np.float64], human: npt.NDArray[np.float64]
) -> list[str]:
    """Whose marks these are, with the share at the top of a declared scale."""
    notes = []
    for name, values in ((f"▮ {panel.kind}", judge), ("— people", human)):
        if not values.size:
            continue
        at_top = percent(float(np.mean(values == panel.high)))
        notes.append(f"{name}: {at_top} at {panel.high:g}" if panel.scale_declared else name)
    return notes


#: Systems drawn in one panel, and the characters of a name.
SYSTEMS_DRAWN, NAME_ROOM = 16, 20

Row = tuple[Estimate, Estimate]


def _rows(analysis: Analysis, construct: str, scorer: str) -> list[Row]:
    first = analysis.estimates.first
    rows = []
    for system in analysis.scores.systems:
        where = {"construct": construct, "scorer": scorer, "scope": f"system:{system}"}
        low, high = first("share_at_min", **where), first("share_at_max", **where)
        if low is not None and high is not None and low.defined and high.defined:
            rows.append((low, high))
    return rows


def _bounds(analysis: Analysis) -> Iterator[tuple[Any, ...]]:
    """Constructs and judges, rows of at least two systems, and the end of the axis."""
    panels = [
        (construct, scorer, rows[:SYSTEMS_DRAWN])
        for construct, data in analysis.context.whole.items()
        for scorer in data.judges[:JUDGES_DRAWN]
        if len(rows := _rows(analysis, construct, scorer)) > 1
    ]
    most = max((e.value for e in estimates_in(panels)), default=0.0)
    reach = min(1.0, max(0.05, 1.1 * most))
    return ((*panel, reach) for panel in if_several(panels))


def _draw_bounds(
    analysis: Analysis, construct: str, scorer: str, rows: list[Row], reach: float, key: str
) -> Drawing:
    with canvas(WIDTH, 0.8 + 0.22 * len(rows) + 0.14 * bool(scorer)) as (figure, axes):
        place = np.arange(len(rows))[::-1]
        low, high = ([row[end].value for row in rows] for end in (0, 1))
        axes.hlines(place, 0, np.maximum(low, high), color=RULE, linewidth=0.8)
        axes.plot(low, place, "s", color=MUTED, markersize=4.5, markerfacecolor="none")
        axes.plot(high, place, "o", color=ACCENT, markersize=4.5)
        axes.set_xlim(-0.02 * reach, reach)
        name_rows(
            axes, place, distinct_labels([row[0].systems[0] for row in rows], NAME_ROOM), grid=False
        )
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        axes.set_xlabel("□ at the bottom   ● at the top", loc="right")
        head(figure, analysis.scores.full_name(construct), scorer)
        shares = "; ".join(
            f"{row[0].systems[0]} {percent(row[0].value)} and {percent(row[1].value)}"
            for row in rows
        )
        name = ", ".join(filter(None, (analysis.scores.full_name(construct), scorer)))
        return as_svg(
            figure, key, f"{name}: ends of the scale", f"At the bottom and at the top: {shares}."
        )


def _not_drawn(analysis: Analysis, _panels: Panels) -> str:
    cut = len(analysis.scores.systems) > SYSTEMS_DRAWN
    first = f" The first {SYSTEMS_DRAWN} systems are drawn." if cut else ""
    return f"{left_out(analysis)}{first}"


bounds = FigureOf(
    "bounds-by-system",
    "Share of each system's scores at the ends of the scale",
    "Share of a system's scores exactly at the bottom (open squares) and at the top "
    "(filled circles) of the declared scale. Responses at one end can't be "
    "distinguished.",
    _bounds,
    _draw_bounds,
    "bounds",
    note=_not_drawn,
)
