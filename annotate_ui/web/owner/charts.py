"""The owner's charts, by the report's drawings, of what a table on the page shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from threading import Lock
from typing import Any

import numpy as np

from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    PAGE,
    RULE,
    SOFT,
    as_image,
    canvas,
)
from analysis.render.forest import ForestStyle, Mark, draw_rows
from analysis.render.histogram import draw_shares, shares, value_edges
from analysis.render.labels import shortened
from analysis.render.panels import HEIGHT, WIDTH as PANEL_WIDTH
from study.base.scales import Scale

# The colors of the pages.
THEMES = {
    "light": dict(
        zip(
            (INK, MUTED, RULE, ACCENT, SOFT, PAGE),
            ("#21201c", "#67645b", "#d9d5ca", "#1d5f8a", "#eeece5", "#ffffff"),
            strict=True,
        )
    ),
    "dark": dict(
        zip(
            (INK, MUTED, RULE, ACCENT, SOFT, PAGE),
            ("#e7e4dc", "#a5a196", "#3d3d3c", "#7fb8dd", "#2a2a29", "#1b1b1a"),
            strict=True,
        )
    ),
}
_WIDTH = 6.7
_NAME = 24
# matplotlib's settings are global, and requests are answered by several threads.
_drawing = Lock()


@dataclass(frozen=True)
class ChartInterval:
    """A value with its interval; null where it is unknown."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def intervals(rows: Sequence[ChartInterval], theme: str) -> str | None:
    """Return values of -1 to 1 with their intervals below each other, on an axis of that range.

    The part below 0 is there where a value or an interval is.

    None where there is nothing to draw.
    """
    ends = [x for row in rows for x in (row.value, row.low, row.high) if x is not None]
    if not ends:
        return None
    marks = [
        Mark(place, _number(row.value), _number(row.low), _number(row.high))
        for place, row in enumerate(rows)
    ]
    style = ForestStyle("", reach=(-1.02 if min(ends) < 0 else -0.02, 1.02), zero=min(ends) < 0)
    with _drawing, canvas(_WIDTH, 0.5 + 0.35 * len(rows)) as (figure, axes):
        draw_rows(axes, [shortened(row.name, _NAME) for row in rows], marks, style)
        axes.tick_params(axis="y", labelsize=9)
        return as_image(figure, THEMES[theme])


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def days(counts: Mapping[date, int], theme: str) -> str | None:
    """Return how many values were entered a day; None where there are none."""
    if not counts:
        return None
    first, last = min(counts), max(counts)
    from matplotlib.ticker import MaxNLocator

    with _drawing, canvas(_WIDTH, 1.8) as (figure, axes):
        places = [day.toordinal() for day in counts]
        axes.bar(places, list(counts.values()), 0.8, color=ACCENT)
        # At least a week, so that one day is not as wide as the chart.
        axes.set_xlim(min(first.toordinal(), last.toordinal() - 6) - 0.6, last.toordinal() + 0.6)
        ends = sorted({first, last})
        axes.set_xticks([day.toordinal() for day in ends], [day.isoformat() for day in ends])
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.grid(axis="y", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        return as_image(figure, THEMES[theme])


def distribution(
    scale: Scale, own: Sequence[float], others: Sequence[float], theme: str
) -> str | None:
    """Return a rater's values as bars and those of others as a line, as shares by value.

    None where the rater has none.
    """
    if not own:
        return None
    ends = scale.min, scale.max
    rater_values, other_values = np.array(own), np.array(others, dtype=np.float64)
    edges = value_edges(*ends, rater_values, other_values)
    line = shares(other_values, edges) if others else None
    with _drawing, canvas(PANEL_WIDTH, 0.7 * HEIGHT) as (figure, axes):
        draw_shares(axes, edges, ends, shares(rater_values, edges), line)
        return as_image(figure, THEMES[theme])


def narrowing(construct: str, states: Sequence[dict[str, Any]], theme: str) -> str | None:
    """Return a construct's interval at each computation, by queries that entered it.

    None if it never had an interval.
    """
    points = [
        state
        for computed in states
        for state in computed["constructs"]
        if state["construct"] == construct and state["half_width"] is not None
    ]
    if not points:
        return None
    # Before the first question is complete, the interval is the scale and there is no mean.
    means = [point for point in points if point["value"] is not None]
    with _drawing, canvas(_WIDTH, 2.6) as (figure, axes):
        for point in points:
            axes.vlines(point["queries"], point["low"], point["high"], color=ACCENT, linewidth=2.5)
        (line,) = axes.plot(
            [point["queries"] for point in means],
            [point["value"] for point in means],
            "o",
            color=INK,
            markersize=5,
        )
        line.set_gid("means")
        axes.set_xticks(sorted({points[0]["queries"], points[-1]["queries"]}))
        axes.grid(axis="y", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        return as_image(figure, THEMES[theme])
