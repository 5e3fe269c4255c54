"""A forest plot: a row for each name, in it values with their intervals as bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from analysis.core.estimates import Estimate
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    PAGE,
    Drawing,
    as_svg,
    canvas,
    head,
    name_rows,
)
from analysis.render.formatting import with_minus
from analysis.render.panels import WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Mark:
    """A value in a row, with its interval as a bar; without an interval the marker alone."""

    row: int
    """The uppermost row is 0."""
    value: float
    low: float = math.nan
    high: float = math.nan
    color: str = ACCENT
    """Of the bar."""
    point: str | None = None
    """Color of the marker: that of the bar unless given."""
    marker: str = "o"
    filled: bool = True
    width: float = 2.0
    """Of the bar in points."""
    shift: float = 0.0
    """Upwards from the middle of the row, as a share of its height."""
    label: str = ""
    """In the legend, once for all marks of a label."""

    @classmethod
    def of(cls, row: int, estimate: Estimate, **style: Any) -> Self:
        """The mark of an estimate."""
        return cls(row, estimate.value, estimate.ci_low, estimate.ci_high, **style)


@dataclass(frozen=True)
class ForestStyle:
    """Sizes in inches, the axis and its words."""

    xlabel: str
    width: float = WIDTH
    row: float = 0.22
    """Height of a row."""
    margin: float = 0.85
    """Height of everything but the rows."""
    reach: tuple[float, float] | None = None
    """Ends of the axis: those of the marks unless given."""
    form: Callable[[float], str] | None = None
    """How a value of the axis is written."""
    zero: bool = True
    """Whether a line is drawn at 0, no difference."""
    sides: tuple[str, str] | None = None
    """What values left and right of 0 mean, written above the rows."""
    values: Sequence[str] = ()
    """Words at the right of each row."""
    legend: int = 0
    """Columns of the legend below; 0 draws none."""


def forest(
    key: str,
    title: str,
    description: str,
    heading: Sequence[str],
    rows: Sequence[str],
    marks: Sequence[Mark],
    style: ForestStyle,
) -> Drawing:
    """Draw marks in named rows; `description` states the same in words."""
    with canvas(style.width, style.margin + style.row * len(rows)) as (figure, axes):
        draw_rows(axes, rows, marks, style)
        head(figure, *heading)
        if style.legend:
            figure.legend(loc="outside lower center", ncols=style.legend, frameon=False, fontsize=7)
        return as_svg(figure, key, title, description)


def draw_rows(axes: Axes, rows: Sequence[str], marks: Sequence[Mark], style: ForestStyle) -> None:
    """Draw the rows, the axis and its words, without a heading."""
    if style.zero:
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
    labels: set[str] = set()
    for mark in marks:
        height = len(rows) - 1 - mark.row + mark.shift
        if math.isfinite(mark.low):
            axes.hlines(height, mark.low, mark.high, color=mark.color, linewidth=mark.width)
        color = mark.point or mark.color
        axes.plot(
            mark.value, height, mark.marker, color=color, markersize=4,
            markerfacecolor=color if mark.filled else PAGE,
            label="" if mark.label in labels else mark.label,
        )  # fmt: skip
        labels.add(mark.label)
    heights = np.arange(len(rows))[::-1]
    name_rows(axes, heights, rows, top=0.8 if style.sides else 0.6)
    if style.reach:
        axes.set_xlim(*style.reach)
    axes.locator_params(axis="x", nbins=5)
    form = style.form
    if form is not None:
        axes.xaxis.set_major_formatter(lambda value, _: with_minus(form(value)))
    # Aligned right, the words may reach below the names of the rows.
    axes.set_xlabel(style.xlabel, loc="right")
    if style.sides:
        room = 0.015 * float(np.ptp(axes.get_xlim()))
        for at, align, words in zip((-room, room), ("right", "left"), style.sides, strict=True):
            axes.text(at, len(rows) - 0.35, words, ha=align, va="bottom", color=MUTED, size=7)
    if style.values:
        right = axes.secondary_yaxis("right")
        right.set_yticks(heights, list(style.values))
        right.tick_params(length=0, labelcolor=INK, labelsize=7.5)
        right.spines["right"].set_visible(False)


def symmetrical(estimates: Sequence[Estimate], room: float = 0.07) -> tuple[float, float]:
    """Ends of an axis with 0 in the middle, on which all intervals have room."""
    ends = [abs(end) for e in estimates for end in (e.ci_low, e.ci_high) if math.isfinite(end)]
    reach = (1 + room) * max(ends)
    return -reach, reach


def reach_of(estimates: Sequence[Estimate], room: float = 0.06) -> tuple[float, float]:
    """Ends of an axis on which 0 and all values and intervals have room."""
    ends = [
        end for e in estimates for end in (e.value, e.ci_low, e.ci_high, 0.0) if math.isfinite(end)
    ]
    margin = room * ((max(ends) - min(ends)) or 1.0)
    return min(ends) - margin, max(ends) + margin
