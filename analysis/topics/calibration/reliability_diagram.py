"""Reliability diagram: what people say where the judge gives a score."""

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


def reliability_diagram(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge that shares people's scale."""
    found: list[tuple[str, str, list[Estimate]]] = []
    for construct, data in analysis.rated.items():
        for scorer in speaking(data)[:JUDGES_DRAWN]:
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
            "two agree on average; below it the judge is too kind. Ticks at the bottom: the bins' "
            f"ends.{left_out(analysis)}"
        ),
        drawings=tuple(
            _draw(analysis, *part, f"reliability-{number}", several)
            for number, part in enumerate(found)
        ),
        data=to_frame(e for _, _, bins in found for e in bins),
    )


def _draw(
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
