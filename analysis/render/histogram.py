"""Shares of scores by value: bars, and a line over them for the scores that they are compared with.

The report draws a judge and people so; the owner's pages a rater and the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.render.drawing import ACCENT, INK, SOFT
from analysis.render.formatting import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = 20


def value_edges(low: float, high: float, *samples: FloatArray) -> FloatArray:
    """Equal steps over the scale; a step a value where there are few values."""
    values = np.unique(np.concatenate(samples))
    span = high - low
    if 1 < values.size <= 11:
        step = float(np.diff(values).min())
        count = round(span / step)
        on_grid = np.allclose((values - low) / step, np.round((values - low) / step))
        if on_grid and count <= BARS:
            return np.linspace(low - step / 2, high + step / 2, count + 2)
    return np.linspace(low, high, BARS + 1)


def shares(values: FloatArray, edges: FloatArray) -> FloatArray:
    """Share of the values in each step; 0 throughout where there are none."""
    counts = np.histogram(values, edges)[0]
    return counts / max(values.size, 1)


def draw_shares(
    axes: Axes,
    edges: FloatArray,
    ends: tuple[float, float],
    bars: FloatArray,
    line: FloatArray | None,
) -> None:
    """Draw shares as bars, and others as a line, on an axis that names the ends of the scale."""
    axes.bar(edges[:-1], bars, np.diff(edges), align="edge", color=SOFT, edgecolor=ACCENT,
             linewidth=0.7)  # fmt: skip
    if line is not None:
        axes.stairs(line, edges, color=INK, linewidth=1.3, baseline=None)
    drawn = [bars] if line is None else [bars, line]
    top = float(max(0.05, *(part.max(initial=0) for part in drawn)))
    axes.set_ylim(0, top * 1.4)
    axes.set_xlim(edges[0], edges[-1])
    low, high = ends
    ticks = [low, (low + high) / 2, high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([0, top], ["0", percent(top)])
