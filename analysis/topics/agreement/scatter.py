"""Humans against judge: one panel a construct, crowded places drawn as larger dots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.render.drawing import ACCENT, MUTED, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import correlation
from analysis.render.panels import HEIGHT, WIDTH, Panel, left_out, panels, several_scorers

#: Cells along each axis into which responses are counted.
CELLS = 25


def against_humans(analysis: Analysis) -> Iterator[Figure]:
    """Panels of all constructs with a human reference on the scorer's own scale."""
    several = several_scorers(analysis)
    drawings, data = [], []
    for number, panel in enumerate(panels(analysis)):
        human = panel.data.reference
        both = np.isfinite(human) & np.isfinite(panel.judge)
        if not both.any() or human[both].min() < panel.low or human[both].max() > panel.high:
            continue
        counted = _cells(human[both], panel.judge[both], panel.low, panel.high)
        drawings.append(_draw(analysis, panel, counted, f"against-{number}", several))
        data.append(counted.assign(construct=panel.construct, scorer=panel.scorer))
    if not drawings:
        return
    adjudicated = analysis.options.reference == "adjudicated"
    people = "the adjudicated value" if adjudicated else "the mean of a response's raters"
    yield Figure(
        key="against-humans",
        title="What people say, and what the judge says",
        caption=(
            f"Each response by {people} (across) and the judge's score (up), counted in cells of a "
            f"{CELLS} by {CELLS} grid; a dot's area is the number of responses. On the dashed line "
            f"they agree; above it the judge is kinder. Constructs share one form of axes."
            f"{left_out(analysis)}"
        ),
        drawings=tuple(drawings),
        data=pd.concat(data, ignore_index=True)[
            ["construct", "scorer", "human", "judge", "responses"]
        ],
    )


def _cells(human: np.ndarray, judge: np.ndarray, low: float, high: float) -> pd.DataFrame:
    """Responses counted by cell, at the mean of the values in it."""
    width = (high - low) / CELLS
    cell = [np.clip(((v - low) / width).astype(int), 0, CELLS - 1) for v in (human, judge)]
    table = pd.DataFrame({"x": cell[0], "y": cell[1], "human": human, "judge": judge})
    groups = table.groupby(["x", "y"])
    counted = groups[["human", "judge"]].mean()
    counted["responses"] = groups.size()
    return counted.reset_index(drop=True)


def _draw(
    analysis: Analysis, panel: Panel, counted: pd.DataFrame, key: str, several: bool
) -> Drawing:
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        size = counted["responses"].to_numpy(dtype=float)
        axes.plot([panel.low, panel.high], [panel.low, panel.high], color=MUTED, linewidth=0.8,
                  dashes=(3, 2), zorder=1)  # fmt: skip
        area = 6 + 90 * size / max(size.max(), 12)
        axes.scatter(counted["human"], counted["judge"], s=area, color=ACCENT, alpha=0.55,
                     linewidths=0, zorder=2, clip_on=False)  # fmt: skip
        margin = 0.09 * (panel.high - panel.low)
        axes.set_xlim(panel.low - margin, panel.high + margin)
        axes.set_ylim(panel.low - margin, panel.high + margin)
        ticks = [panel.low, (panel.low + panel.high) / 2, panel.high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_aspect("equal")
        adjudicated = analysis.options.reference == "adjudicated"
        axes.set_xlabel("adjudicated" if adjudicated else "people")
        axes.set_ylabel(panel.kind)
        name = f"{panel.construct}, {panel.scorer}" if several else panel.construct
        said = _correlations(analysis, panel)
        head(figure, panel.construct, panel.scorer if several else "", said)
        total = int(size.sum())
        return as_svg(
            figure,
            key,
            f"{name}: judge against people",
            f"{total} responses; {said or 'no correlation is defined'}.",
        )


def _correlations(analysis: Analysis, panel: Panel) -> str:
    said = []
    for scope, name in (("within_query", "within a query"), ("pooled", "pooled")):
        found = analysis.estimates.first(
            "pearson", construct=panel.construct, scorer=panel.scorer, scope=scope
        )
        if found is not None and found.defined and "on" not in found.params:
            said.append(f"{correlation(found.value).replace('-', '−')} {name}")
    return f"r {', '.join(said)}" if said else ""
