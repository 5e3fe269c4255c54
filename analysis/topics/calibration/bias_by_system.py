"""Bias by system: a judge that is kinder to some systems changes their order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import on_scale, points
from analysis.render.labels import told_apart
from analysis.render.panels import JUDGES_DRAWN, WIDTH, left_out

#: Systems drawn in one panel; more than that are left to the tables.
SYSTEMS_DRAWN = 16

#: Characters of a system's name.
NAME_ROOM = 20


def bias_by_system(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge with at least two systems."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        judges = [name for name in data.scorers if data.kinds[name] == "judge"]
        for scorer in judges[:JUDGES_DRAWN]:
            rows = [
                e
                for e in analysis.estimates.select("bias", construct=construct, scorer=scorer)
                if e.scope.startswith("system:") and e.defined
            ]
            if len(rows) > 1:
                found.append((construct, scorer, rows[:SYSTEMS_DRAWN]))
    if not found:
        return
    several = len({scorer for _, scorer, _ in found}) > 1
    ends = {analysis.context.human_scale(construct) for construct, _, _ in found}
    reach = _reach([e for _, _, rows in found for e in rows]) if len(ends) == 1 else None
    drawings = tuple(
        _draw(analysis, *part, reach or _reach(part[2]), f"bias-{number}", several)
        for number, part in enumerate(found)
    )
    of_raters = "" if analysis.options.reference == "adjudicated" else " for these raters"
    cut = len(analysis.scores.systems) > SYSTEMS_DRAWN
    yield Figure(
        key="bias-by-system",
        title="Is the judge kinder to some systems?",
        caption=(
            "Judge minus people on the construct's scale, over the responses of each system that "
            "both scored. "
            f"Bars: {analysis.options.level:.0%} intervals{of_raters}, queries resampled. "
            "Right of the line the judge is too kind; a system further right than the others is "
            f"favored.{left_out(analysis)}"
            + (f" The first {SYSTEMS_DRAWN} systems are drawn." if cut else "")
        ),
        drawings=drawings,
        data=to_frame(e for _, _, rows in found for e in rows),
    )


def _reach(rows: list[Estimate]) -> tuple[float, float]:
    ends = [v for e in rows for v in (e.value, e.ci_low, e.ci_high, 0.0) if not np.isnan(v)]
    low, high = min(ends), max(ends)
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def _draw(
    analysis: Analysis,
    construct: str,
    scorer: str,
    rows: list[Estimate],
    reach: tuple[float, float],
    key: str,
    several: bool,
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    name = f"{construct}, {scorer}" if several else construct
    with canvas(WIDTH, 0.8 + 0.22 * len(rows) + 0.14 * several) as (figure, axes):
        place = np.arange(len(rows))[::-1]
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for at, row in zip(place, rows, strict=True):
            if row.has_interval:
                axes.hlines(at, row.ci_low, row.ci_high, color=ACCENT, linewidth=2)
        axes.plot([row.value for row in rows], place, "o", color=INK, markersize=4)
        axes.set_xlim(*reach)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_yticks(place, told_apart([row.systems[0] for row in rows], NAME_ROOM))
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.locator_params(axis="x", nbins=5)
        head(figure, construct, scorer if several else "")
        # Aligned right, it may reach below the systems' names.
        unit = on_scale(scale).removeprefix("on a ").replace("scale from", "scale") or "points"
        axes.set_xlabel(f"judge minus people, {unit}", loc="right")
        said = "; ".join(f"{row.systems[0]} {points(row.value, scale)}" for row in rows)
        return as_svg(figure, key, f"{name}: bias by system", f"Judge minus people: {said}.")
