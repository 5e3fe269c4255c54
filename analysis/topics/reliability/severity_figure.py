"""Each rater's severity, with intervals that hold for all raters at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.core.scales import Scale
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import points
from analysis.render.labels import shortened
from analysis.render.panels import WIDTH

#: Raters and constructs drawn; the table and its CSV have more.
RATERS_DRAWN, CONSTRUCTS_DRAWN = 16, 8


def severities(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct, a row a rater."""
    panels: dict[str, list[tuple[Estimate, Estimate]]] = {}
    for construct in analysis.rated:
        single, joint = (
            analysis.estimates.select("rater_severity", construct=construct, interval=kind)
            for kind in ("single", "simultaneous")
        )
        pairs = [(a, b) for a, b in zip(single, joint, strict=True) if b.has_interval]
        if len(pairs) > 1:
            panels[construct] = pairs[:RATERS_DRAWN]
    panels = dict(list(panels.items())[:CONSTRUCTS_DRAWN])
    if not panels:
        return
    level = f"{analysis.options.level:.0%}"
    yield Figure(
        key="severities",
        title="Is a rater severe or kind?",
        caption=(
            "Each rater's mean less what the same responses get from the panel, by a model of "
            "response plus rater; right of the line the rater is kinder. Thick bars: "
            f"{level} intervals of each rater; thin bars: intervals of which all hold at once with "
            f"{level}. Jackknife over queries, for these raters."
        ),
        drawings=tuple(
            _draw(analysis, construct, pairs, f"severity-{number}")
            for number, (construct, pairs) in enumerate(panels.items())
        ),
        data=to_frame(e for pairs in panels.values() for pair in pairs for e in pair),
    )


def _draw(
    analysis: Analysis, construct: str, pairs: list[tuple[Estimate, Estimate]], key: str
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    with canvas(WIDTH, 0.85 + 0.2 * len(pairs)) as (figure, axes):
        place = np.arange(len(pairs))[::-1]
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for at, (single, joint) in zip(place, pairs, strict=True):
            axes.hlines(at, joint.ci_low, joint.ci_high, color=INK, linewidth=0.8)
            if single.has_interval:
                axes.hlines(at, single.ci_low, single.ci_high, color=ACCENT, linewidth=2.4)
        axes.plot([e.value for e, _ in pairs], place, "o", color=INK, markersize=3.8)
        axes.set_yticks(place, [shortened(e.scorers[0], 14) for e, _ in pairs])
        axes.set_ylim(-0.6, len(pairs) - 0.4)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.set_xlabel("points kinder than the panel")
        head(figure, construct)
        said = "; ".join(_stated(single, scale) for single, _ in pairs)
        return as_svg(figure, key, f"Severity of each rater on {construct}", said)


def _stated(e: Estimate, scale: Scale | None) -> str:
    return f"{e.scorers[0]} {points(e.value, scale, 1)}".replace("-", "−")
