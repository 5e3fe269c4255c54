"""Shares of scores at the two ends of the scale, by system."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import percent
from analysis.render.labels import told_apart
from analysis.render.panels import JUDGES_DRAWN, WIDTH, left_out

#: Systems drawn in one panel, and the characters of a name.
SYSTEMS_DRAWN, NAME_ROOM = 16, 20

Row = tuple[Estimate, Estimate]


def bounds(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge with at least two systems and a declared scale."""
    found: list[tuple[str, str, list[Row]]] = []
    for construct, data in analysis.context.whole.items():
        judges = [name for name in data.scorers if data.kinds[name] == "judge"]
        for scorer in judges[:JUDGES_DRAWN]:
            rows = _rows(analysis, construct, scorer)
            if len(rows) > 1:
                found.append((construct, scorer, rows[:SYSTEMS_DRAWN]))
    if not found:
        return
    several = len({scorer for _, scorer, _ in found}) > 1
    most = max(e.value for _, _, rows in found for row in rows for e in row)
    reach = min(1.0, max(0.05, 1.1 * most))
    cut = len(analysis.scores.systems) > SYSTEMS_DRAWN
    yield Figure(
        key="bounds-by-system",
        title="How much of each system lies at the ends of the scale",
        caption=(
            "Share of a system's scores exactly at the bottom (open squares) and at the top "
            "(filled circles) of the declared scale. What lies at an end can't be told apart "
            f"there.{left_out(analysis)}"
            + (f" The first {SYSTEMS_DRAWN} systems are drawn." if cut else "")
        ),
        drawings=tuple(
            _draw(*part, reach, f"bounds-{number}", several) for number, part in enumerate(found)
        ),
        data=to_frame(e for _, _, rows in found for row in rows for e in row),
    )


def _rows(analysis: Analysis, construct: str, scorer: str) -> list[Row]:
    first = analysis.estimates.first
    rows = []
    for system in analysis.scores.systems:
        where = {"construct": construct, "scorer": scorer, "scope": f"system:{system}"}
        low, high = first("share_at_min", **where), first("share_at_max", **where)
        if low is not None and high is not None and low.defined and high.defined:
            rows.append((low, high))
    return rows


def _draw(
    construct: str, scorer: str, rows: list[Row], reach: float, key: str, several: bool
) -> Drawing:
    with canvas(WIDTH, 0.8 + 0.22 * len(rows) + 0.14 * several) as (figure, axes):
        place = np.arange(len(rows))[::-1]
        low, high = ([row[end].value for row in rows] for end in (0, 1))
        axes.hlines(place, 0, np.maximum(low, high), color=RULE, linewidth=0.8)
        axes.plot(low, place, "s", color=MUTED, markersize=4.5, markerfacecolor="none")
        axes.plot(high, place, "o", color=ACCENT, markersize=4.5)
        axes.set_xlim(-0.02 * reach, reach)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_yticks(place, told_apart([row[0].systems[0] for row in rows], NAME_ROOM))
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=4)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        axes.set_xlabel("□ at the bottom   ● at the top", loc="right")
        head(figure, construct, scorer if several else "")
        said = "; ".join(
            f"{row[0].systems[0]} {percent(row[0].value)} and {percent(row[1].value)}"
            for row in rows
        )
        name = f"{construct}, {scorer}" if several else construct
        return as_svg(
            figure, key, f"{name}: ends of the scale", f"At the bottom and at the top: {said}."
        )
