"""The figures on a judge's level: bias by system, reliability diagram, error by level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
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
    interval_bar,
    name_rows,
    zero_line,
)
from analysis.render.formatting import on_scale, points
from analysis.render.labels import told_apart
from analysis.render.panels import HEIGHT, JUDGES_DRAWN, WIDTH, left_out

#: Systems drawn in one panel; more than that are left to the tables.
SYSTEMS_DRAWN = 16

#: Characters of a system's name.
NAME_ROOM = 20


def bias_by_system(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge with at least two systems."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        judges = data.judges
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
        title="Is the judge more lenient towards some systems?",
        caption=(
            "Judge minus people on the construct's scale, over the responses of each system that "
            "both scored. "
            f"Bars: {analysis.options.level:.0%} intervals{of_raters}, queries resampled. "
            "Right of the line the judge is too lenient; a system further right than the others is "
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
        zero_line(axes)
        for at, row in zip(place, rows, strict=True):
            interval_bar(axes, at, row, ACCENT, 2)
        axes.plot([row.value for row in rows], place, "o", color=INK, markersize=4)
        axes.set_xlim(*reach)
        name_rows(axes, place, told_apart([row.systems[0] for row in rows], NAME_ROOM))
        axes.locator_params(axis="x", nbins=5)
        head(figure, construct, scorer if several else "")
        # Aligned right, it may reach below the systems' names.
        unit = on_scale(scale).removeprefix("on a ").replace("scale from", "scale") or "points"
        axes.set_xlabel(f"judge minus people, {unit}", loc="right")
        said = "; ".join(f"{row.systems[0]} {points(row.value, scale)}" for row in rows)
        return as_svg(figure, key, f"{name}: bias by system", f"Judge minus people: {said}.")


def reliability_diagram(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge that shares people's scale."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        for scorer in data.examined[:JUDGES_DRAWN]:
            bins = analysis.estimates.select("reliability_bin", construct=construct, scorer=scorer)
            if len(bins) > 1:
                found.append((construct, scorer, bins))
    if not found:
        return
    several = len({scorer for _, scorer, _ in found}) > 1
    yield Figure(
        key="reliability-diagram",
        title="What do people say where the judge gives a score?",
        caption=(
            "Responses in up to 10 bins of the judge's score with about equally many in each: mean "
            "of people against mean of the judge. Bars: "
            f"{analysis.options.level:.0%} intervals, queries resampled. On the dashed line the "
            "two agree on average; below it the judge is too lenient. Ticks at the bottom: the "
            "bins' "
            f"ends.{left_out(analysis)}"
        ),
        drawings=tuple(
            _draw_diagram(analysis, *part, f"reliability-{number}", several)
            for number, part in enumerate(found)
        ),
        data=to_frame(e for _, _, bins in found for e in bins),
    )


def _draw_diagram(
    analysis: Analysis, construct: str, scorer: str, bins: list[Estimate], key: str, several: bool
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    x = np.array([float(str(e.params["judge_mean"])) for e in bins])
    y = np.array([e.value for e in bins])
    ends = (scale.min, scale.max) if scale else (min(*x, *y), max(*x, *y))
    room = 0.04 * (ends[1] - ends[0])
    with canvas(WIDTH, HEIGHT + 0.14 * several) as (figure, axes):
        axes.plot(ends, ends, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for at, e in zip(x, bins, strict=True):
            if e.has_interval:
                axes.vlines(at, e.ci_low, e.ci_high, color=ACCENT, linewidth=2)
        axes.plot(x, y, "o-", color=INK, markersize=3.5, linewidth=0.7)
        parts = [float(str(e.params["judge_high"])) for e in bins]
        axes.vlines(parts, ends[0] - room, ends[0], color=MUTED, linewidth=0.8)
        axes.set_xlim(ends[0] - room, ends[1] + room)
        axes.set_ylim(ends[0] - room, ends[1] + room)
        axes.grid(color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, construct, scorer if several else "")
        axes.set_xlabel("judge")
        axes.set_ylabel("people")
        said = "; ".join(
            f"judge {points(a, scale)}, people {points(b, scale)}"
            for a, b in zip(x, y, strict=True)
        )
        return as_svg(figure, key, f"{construct}, {scorer}: reliability diagram", f"{said}.")


def error_by_level(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        for scorer in data.examined[:JUDGES_DRAWN]:
            levels = analysis.estimates.select("error_by_level", construct=construct, scorer=scorer)
            if len(levels) > 1:
                found.append((construct, scorer, levels))
    if not found:
        return
    several = len({scorer for _, scorer, _ in found}) > 1
    splits = {e.params["split"] for _, _, levels in found for e in levels}
    how = (
        "The level is the mean of one half of a response's raters and the error is against the "
        "other half, so that a value that is high by chance does not make the judge look severe. "
        if "halves" in splits
        else ""
    )
    if "none" in splits:
        how += (
            "Filled squares: with one rating of most responses, level and error share its noise, "
            "which alone makes the error fall from left to right. "
        )
    yield Figure(
        key="error-by-level",
        title="Is the judge more lenient towards bad responses?",
        caption=(
            "Judge minus people by the level of people's value, about equally many responses a "
            f"level. {how}Bars: {analysis.options.level:.0%} intervals, queries resampled."
            f"{left_out(analysis)}"
        ),
        drawings=tuple(
            _draw_level(analysis, *part, f"level-{number}", several)
            for number, part in enumerate(found)
        ),
        data=to_frame(e for _, _, levels in found for e in levels),
    )


def _draw_level(
    analysis: Analysis, construct: str, scorer: str, levels: list[Estimate], key: str, several: bool
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    x = np.array([float(str(e.params["human_mean"])) for e in levels])
    y = np.array([e.value for e in levels])
    marker = "s" if levels[0].params["split"] == "none" else "o"
    with canvas(WIDTH, HEIGHT + 0.14 * several) as (figure, axes):
        axes.axhline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for at, e in zip(x, levels, strict=True):
            if e.has_interval:
                axes.vlines(at, e.ci_low, e.ci_high, color=ACCENT, linewidth=2)
        axes.plot(x, y, f"{marker}-", color=INK, markersize=3.5, linewidth=0.7)
        if scale:
            room = 0.04 * scale.width
            axes.set_xlim(scale.min - room, scale.max + room)
        axes.grid(color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, construct, scorer if several else "")
        axes.set_xlabel("people")
        axes.set_ylabel("judge minus people")
        said = "; ".join(
            f"people {points(a, scale)}, error {points(b, scale)}"
            for a, b in zip(x, y, strict=True)
        )
        return as_svg(figure, key, f"{construct}, {scorer}: error by level", f"{said}.")
