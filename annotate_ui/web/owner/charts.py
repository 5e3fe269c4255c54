"""The owner's charts, drawn like the report's figures, from what a table on the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

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
from analysis.render.labels import shortened

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
    with _drawing, canvas(_WIDTH, 0.5 + 0.35 * len(rows)) as (figure, axes):
        places = range(len(rows))[::-1]
        for place, row in zip(places, rows, strict=True):
            if row.low is not None and row.high is not None:
                axes.hlines(place, row.low, row.high, color=ACCENT, linewidth=2.5)
            if row.value is not None:
                axes.plot([row.value], [place], "o", color=ACCENT, markersize=6)
        axes.set_xlim(-1.02 if min(ends) < 0 else -0.02, 1.02)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_yticks(list(places), [shortened(row.name, _NAME) for row in rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=9)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
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
