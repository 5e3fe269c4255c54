"""The judge's error where people rate low and where they rate high."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import points
from analysis.render.panels import HEIGHT, JUDGES_DRAWN, WIDTH, left_out
from analysis.topics.calibration.estimates import speaking


def error_by_level(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        for scorer in speaking(data)[:JUDGES_DRAWN]:
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
        title="Is the judge kinder to bad responses?",
        caption=(
            "Judge minus people by the level of people's value, about equally many responses a "
            f"level. {how}Bars: {analysis.options.level:.0%} intervals, queries resampled."
            f"{left_out(analysis)}"
        ),
        drawings=tuple(
            _draw(analysis, *part, f"level-{number}", several) for number, part in enumerate(found)
        ),
        data=to_frame(e for _, _, levels in found for e in levels),
    )


def _draw(
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
