"""A forest plot: a row for each estimate, its interval as a bar, and a line at no difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.core.estimates import Estimate
from analysis.render.drawing import INK, MUTED, RULE

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes


def zero_line(axes: Axes) -> None:
    """A dashed line at 0: no difference."""
    axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))


def interval_bar(axes: Axes, at: float, estimate: Estimate, color: str, width: float) -> None:
    """The interval of an estimate as a bar at this height; nothing where there is none."""
    if estimate.has_interval:
        axes.hlines(at, estimate.ci_low, estimate.ci_high, color=color, linewidth=width)


def name_rows(
    axes: Axes,
    heights: npt.ArrayLike,
    names: Sequence[str],
    *,
    limits: tuple[float, float] | None = None,
    size: float | None = None,
    grid: bool = True,
) -> None:
    """Names at the heights of the rows, without an axis, and vertical lines to read values by.

    `limits` are the lowest and highest height drawn: from the number of rows unless given.
    """
    axes.set_ylim(*(limits or (-0.6, len(names) - 0.4)))
    axes.set_yticks(heights, names)
    axes.tick_params(
        axis="y", length=0, labelcolor=INK, **({} if size is None else {"labelsize": size})
    )
    axes.spines["left"].set_visible(False)
    if grid:
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
