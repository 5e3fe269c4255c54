"""Curves of a plan: half width by number of queries, a line for each number of raters."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.planning.power import PowerPlan
from analysis.planning.simulated_study import STATISTICS
from analysis.planning.simulation import WidthPlan
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing, as_svg, canvas, head

_DASHES = ("-", "--", ":", "-.")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def drawn(plan: WidthPlan, name: str) -> Drawing:
    """The curve of one figure."""
    cells = [c for c in plan.cells if c.statistic == name and c.reason is None]
    lines: dict[int, Line] = {}
    for cell in cells:
        lines.setdefault(cell.raters, []).append((cell.queries, cell.assured))
    target = plan.wanted[name]
    unit = "points" if STATISTICS[name].points else "half width"
    highest = max((cell.assured for cell in cells), default=target)
    return lines_by_raters(
        f"plan-{name}",
        (f"Width of {name}", STATISTICS[name].description),
        lines,
        (target, f"wanted {target:g}"),
        (f"half width of the interval ({unit})" if unit == "points" else unit),
        1.15 * max(highest, target),
        f"Half width of {name} by number of queries, a line for each number of raters",
    )


#: Points (queries, value).
Line = list[tuple[int, float]]


def lines_by_raters(
    key: str,
    words: tuple[str, str],
    lines: Mapping[int, Line],
    target: tuple[float, str],
    unit: str,
    top: float,
    described: str,
) -> Drawing:
    """A line for each number of raters, by number of queries, and one across at the target."""
    with canvas(5.2, 3.2) as (figure, axes):
        for place, (raters, points) in enumerate(sorted(lines.items())):
            axes.plot(
                *zip(*points, strict=True),
                linestyle=_DASHES[place % len(_DASHES)],
                marker=_MARKS[place % len(_MARKS)],
                markersize=3.5,
                linewidth=1.1,
                color=INK,
                label=f"{raters} rater{'s' if raters > 1 else ''}",
            )
        value, name = target
        axes.axhline(value, color=ACCENT, linewidth=1)
        axes.annotate(
            name, (1, value), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", color=ACCENT, size=7,
        )  # fmt: skip
        axes.set_xlabel("queries")
        axes.set_ylabel(unit)
        axes.set_ylim(0, top)
        if lines:
            axes.legend(
                frameon=False,
                labelcolor=MUTED,
                fontsize=7,
                loc="upper left",
                bbox_to_anchor=(1, 1),
            )
        head(figure, *words)
        return as_svg(figure, key, words[0], described)


def caption(plan: WidthPlan) -> str:
    """How the curves were computed."""
    return (
        f"{simulations(plan)} Shown is the half width of the {plan.settings.level:.0%} interval "
        f"that {plan.settings.assurance:.0%} of the studies keep to."
    )


def simulations(plan: WidthPlan | PowerPlan) -> str:
    """What was simulated."""
    parts = ", ".join(
        f"{name} {value:g}"
        for name, value in (
            (field, round(getattr(plan.components, field), 2))
            for field in ("query", "response", "rater", "error", "judge", "slope")
        )
    )
    settings = plan.settings
    return (
        f"{settings.runs} simulated studies for each design, {settings.responses_per_query} "
        f"responses to a query, every rater rates all; standard deviations in points: {parts}."
    )
