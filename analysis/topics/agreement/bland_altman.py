"""Differences of judge and people against their mean, with the limits of agreement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, SOFT, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import points
from analysis.render.panels import HEIGHT, WIDTH, Panel, left_out, panels, several_scorers

#: Cells along each axis into which responses are counted.
CELLS = 25

_LIMITS = ("bland_altman_lower", "bland_altman_bias", "bland_altman_upper")


def bland_altman(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct and judge with limits of agreement."""
    several = several_scorers(analysis)
    drawings, data = [], []
    for number, panel in enumerate(panels(analysis)):
        where = {"construct": panel.construct, "scorer": panel.scorer, "scope": "pooled"}
        found = [analysis.estimates.first(name, **where) for name in _LIMITS]
        limits = [e for e in found if e is not None and e.defined]
        if len(limits) != len(_LIMITS):
            continue
        counted = _cells(panel)
        drawings.append(_draw(analysis, panel, counted, limits, f"limits-{number}", several))
        data.append(counted.assign(construct=panel.construct, scorer=panel.scorer))
    if not drawings:
        return
    adjudicated = analysis.options.reference == "adjudicated"
    people = "the adjudicated value" if adjudicated else "the mean of a response's raters"
    yield Figure(
        key="bland-altman",
        title="How far is the judge from people on a single response?",
        caption=(
            f"Judge minus {people} (up) against the mean of the two (across), counted in cells of "
            f"a {CELLS} by {CELLS} grid; a dot's area is the number of responses. Solid line: mean "
            "difference. Dashed lines: limits of agreement, 1.96 standard deviations to each side; "
            f"bands: their {analysis.options.level:.0%} intervals, queries resampled. A slope "
            f"says that the judge uses the scale more widely or narrowly.{left_out(analysis)}"
        ),
        drawings=tuple(drawings),
        data=pd.concat(data, ignore_index=True)[
            ["construct", "scorer", "mean", "difference", "responses"]
        ],
    )


def _cells(panel: Panel) -> pd.DataFrame:
    """Responses counted by cell of mean and difference, at the mean of what is in it."""
    human = panel.data.reference
    both = np.isfinite(human) & np.isfinite(panel.judge)
    mean = (human[both] + panel.judge[both]) / 2
    difference = panel.judge[both] - human[both]
    table = pd.DataFrame({"mean": mean, "difference": difference})
    cell = [_cell(table[name].to_numpy()) for name in ("mean", "difference")]
    groups = table.groupby(cell)
    counted = groups.mean()
    counted["responses"] = groups.size()
    return counted.reset_index(drop=True)


def _cell(values: np.ndarray) -> np.ndarray:
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    return np.asarray(np.clip(((values - low) / span * CELLS).astype(int), 0, CELLS - 1))


def _draw(
    analysis: Analysis,
    panel: Panel,
    counted: pd.DataFrame,
    limits: list[Estimate],
    key: str,
    several: bool,
) -> Drawing:
    scale = analysis.context.human_scale(panel.construct)
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        size = counted["responses"].to_numpy(dtype=float)
        for limit in limits:
            middle = limit.statistic == "bland_altman_bias"
            if limit.has_interval:
                axes.axhspan(limit.ci_low, limit.ci_high, color=SOFT, linewidth=0, zorder=0)
            style = "-" if middle else (0, (3, 2))
            axes.axhline(limit.value, color=INK if middle else MUTED, linewidth=0.9, zorder=1,
                         linestyle=style)  # fmt: skip
        area = 5 + 70 * size / max(size.max(), 12)
        axes.scatter(counted["mean"], counted["difference"], s=area, color=ACCENT, alpha=0.55,
                     linewidths=0, zorder=2)  # fmt: skip
        margin = 0.05 * (panel.high - panel.low)
        axes.set_xlim(panel.low - margin, panel.high + margin)
        axes.locator_params(axis="y", nbins=5)
        axes.locator_params(axis="x", nbins=4)
        adjudicated = analysis.options.reference == "adjudicated"
        axes.set_xlabel(f"mean of {panel.kind} and {'reference' if adjudicated else 'people'}")
        axes.set_ylabel(f"{panel.kind} minus {'reference' if adjudicated else 'people'}")
        low, bias, high = (points(e.value, scale) for e in limits)
        said = f"bias {bias}, limits {low} to {high}"
        head(figure, panel.construct, panel.scorer if several else "", said)
        name = f"{panel.construct}, {panel.scorer}" if several else panel.construct
        total = int(size.sum())
        return as_svg(
            figure, key, f"{name}: limits of agreement", f"{total} responses; {said} points."
        )
