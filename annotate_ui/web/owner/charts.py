"""Charts as SVG images. They hold no script and no style sheet, and say nothing a table doesn't."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor
from typing import Any, NamedTuple


class Theme(NamedTuple):
    """The colors of a chart, those of the pages."""

    ink: str
    muted: str
    rule: str
    accent: str


THEMES = {
    "light": Theme("#21201c", "#67645b", "#d9d5ca", "#1d5f8a"),
    "dark": Theme("#e7e4dc", "#a5a196", "#3d3d3c", "#7fb8dd"),
}
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
_WIDTH = 640
_LABEL = 190
_LINE = 34


@dataclass(frozen=True)
class ChartInterval:
    """A value with its interval; null where there is none."""

    name: str
    value: float | None
    low: float | None
    high: float | None


def intervals(rows: Sequence[ChartInterval], theme: str) -> str | None:
    """Return values with their intervals below each other, on one axis that holds 0 and 1."""
    ends = [x for row in rows for x in (row.value, row.low, row.high) if x is not None]
    if not ends:
        return None
    least, most = min(0.0, *ends), max(1.0, *ends)
    t, height = THEMES[theme], _LINE * len(rows) + 46

    def x(value: float) -> float:
        return _LABEL + (value - least) / (most - least) * (_WIDTH - _LABEL - 20)

    parts = []
    # Numbers of a wide axis would run into each other.
    apart = next(d for d in (0.25, 0.5, 1, ceil(most - least)) if (most - least) / d <= 8)
    for step in range(ceil(least / apart), floor(most / apart) + 1):
        tick = step * apart
        parts.append(_line(x(tick), 8, x(tick), height - 34, t.rule))
        parts.append(_text(x(tick), height - 14, f"{tick:g}", t.muted, "middle"))
    for place, row in enumerate(rows):
        y = 8 + _LINE * (place + 0.5)
        parts.append(_text(0, y + 5, _short(row.name), t.ink, "start"))
        if row.low is not None and row.high is not None:
            parts.append(_line(x(row.low), y, x(row.high), y, t.accent, 3))
        if row.value is not None:
            parts.append(f'<circle cx="{x(row.value):.1f}" cy="{y}" r="5" fill="{t.accent}"/>')
        else:
            parts.append(_text(x(least) + 8, y + 5, "–", t.muted, "start"))
    return _svg(height, parts)


def narrowing(construct: str, states: Sequence[dict[str, Any]], theme: str) -> str | None:
    """Return a construct's interval at each computation, by queries that entered it."""
    points = [
        one
        for state in states
        for one in state["constructs"]
        if one["construct"] == construct and one["half_width"] is not None
    ]
    if not points:
        return None
    t, height = THEMES[theme], 250
    lows, highs = [p["low"] for p in points], [p["high"] for p in points]
    bottom, top = min(lows), max(highs)
    span = (top - bottom) or 1.0
    counts = [p["queries"] for p in points]
    first, last = min(counts), max(counts)

    def x(count: float) -> float:
        return float(60 + (count - first) / ((last - first) or 1) * (_WIDTH - 90))

    def y(value: float) -> float:
        return float(14 + (top - value) / span * (height - 64))

    parts = []
    for value in (bottom, (bottom + top) / 2, top):
        parts.append(_line(60, y(value), _WIDTH - 20, y(value), t.rule))
        parts.append(_text(52, y(value) + 5, f"{value:.3g}", t.muted, "end"))
    for point in points:
        at = x(point["queries"])
        parts.append(_line(at, y(point["low"]), at, y(point["high"]), t.accent, 3))
        # Before the first question is complete there is the scale, and no mean.
        if point["value"] is not None:
            dot = f'<circle cx="{at:.1f}" cy="{y(point["value"]):.1f}" r="4" fill="{t.ink}"/>'
            parts.append(dot)
    for count in sorted({first, last}):
        anchor = "start" if count == first and first != last else "end"
        parts.append(_text(x(count), height - 24, f"{count}", t.muted, anchor))
    return _svg(height, parts)


def _svg(height: float, parts: Sequence[str]) -> str:
    size = f'width="{_WIDTH}" height="{height:g}" viewBox="0 0 {_WIDTH} {height:g}"'
    font = f'font-family="{escape(_FONT)}" font-size="14"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width}" stroke-linecap="round"/>'


def _text(x: float, y: float, text: str, color: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{color}">{escape(text)}</text>'


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
