"""The figures on a judge's level: bias by system, reliability diagram, error by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure_of import FigureOf, Panels, if_several
from analysis.render.forest import ForestStyle, Mark, forest, reach_of
from analysis.render.formatting import on_scale, points, with_minus
from analysis.render.labels import distinct_labels
from analysis.render.panels import HEIGHT, JUDGES_DRAWN, WIDTH, left_out
from study.base.scales import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Systems drawn in one panel; more than that are left to the tables.
SYSTEMS_DRAWN = 16

#: Characters of a system's name.
NAME_ROOM = 20


_Panel = tuple[str, str, list[Estimate]]
"""Construct and scorer of a panel, with the estimates that it shows."""


def _panels(
    analysis: Analysis, statistic: str, scorers: Literal["judges", "examined"] = "examined"
) -> list[_Panel]:
    """The estimates of the first scorers of each construct, where there are at least two."""
    panels = [
        (scored.construct, scored.scorer, estimates)
        for _, construct_scores in groupby(
            analysis.context.scored(scorers), key=lambda scored: scored.data
        )
        for scored in islice(construct_scores, JUDGES_DRAWN)
        if (
            estimates := analysis.estimates.select(
                statistic, construct=scored.construct, scorer=scored.scorer
            )
        )
    ]
    return [panel for panel in panels if len(panel[2]) > 1]


def _biases(analysis: Analysis) -> list[tuple[Any, ...]]:
    """Constructs, scorers, the biases by system of each, and the ends of their axis."""
    panels = [
        (construct, scorer, rows[:SYSTEMS_DRAWN])
        for construct, scorer, biases in _panels(analysis, "bias", "judges")
        if len(rows := [e for e in biases if e.scope.startswith("system:") and e.defined]) > 1
    ]
    ends = {analysis.context.human_scale(construct) for construct, _, _ in panels}
    common = reach_of([e for _, _, rows in panels for e in rows]) if len(ends) == 1 else None
    return [(*panel, common or reach_of(panel[2])) for panel in if_several(panels)]


def _draw(
    analysis: Analysis,
    construct: str,
    scorer: str,
    rows: list[Estimate],
    reach: tuple[float, float],
    key: str,
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    name = ", ".join(filter(None, (construct, scorer)))
    unit = on_scale(scale).removeprefix("on a ").replace("scale from", "scale") or "points"
    values = "; ".join(f"{row.systems[0]} {with_minus(points(row.value, scale))}" for row in rows)
    return forest(
        key,
        f"{name}: bias by system",
        f"Judge minus people: {values}.",
        (analysis.scores.full_name(construct), scorer),
        distinct_labels([row.systems[0] for row in rows], NAME_ROOM),
        [Mark.of(number, row, point=INK) for number, row in enumerate(rows)],
        ForestStyle(f"judge minus people, {unit}", margin=0.8 + 0.14 * bool(scorer), reach=reach),
    )


def _whose(analysis: Analysis, _panels: Panels) -> str:
    target_words = "" if analysis.options.reference == "adjudicated" else " for these raters"
    cut = len(analysis.scores.systems) > SYSTEMS_DRAWN
    return (
        f"{target_words}, queries resampled. Right of the line the judge is too lenient; a system "
        f"further right than the others is favored.{left_out(analysis)}"
        + (f" The first {SYSTEMS_DRAWN} systems are drawn." if cut else "")
    )


bias_by_system = FigureOf(
    "bias-by-system",
    "Is the judge more lenient towards some systems?",
    "Judge minus people on the construct's scale, over the responses of each system that "
    "both scored. Bars: {level:.0%} intervals",
    _biases,
    _draw,
    "bias",
    note=_whose,
)


@dataclass(frozen=True)
class _Curve:
    """A curve of means over bins: the param of the mean across, and the words of the drawing."""

    across: str
    labels: tuple[str, str]
    words: tuple[str, str]
    title: str
    decorate: Callable[[Axes, Scale | None, list[Estimate]], None]


def _draw_curve(
    curve: _Curve, analysis: Analysis, construct: str, scorer: str, bins: list[Estimate], key: str
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    x = [float(str(e.params[curve.across])) for e in bins]
    marker = "s" if bins[0].params.get("split") == "none" else "o"
    with canvas(WIDTH, HEIGHT + 0.14 * bool(scorer)) as (figure, axes):
        curve.decorate(axes, scale, bins)
        for at, e in zip(x, bins, strict=True):
            if e.has_interval:
                axes.vlines(at, e.ci_low, e.ci_high, color=ACCENT, linewidth=2)
        axes.plot(
            x, [e.value for e in bins], f"{marker}-", color=INK, markersize=3.5, linewidth=0.7
        )
        axes.grid(color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, analysis.scores.full_name(construct), scorer)
        axes.set_xlabel(curve.labels[0])
        axes.set_ylabel(curve.labels[1])
        first, second = curve.words
        values = "; ".join(
            f"{first} {with_minus(points(at, scale))}, "
            f"{second} {with_minus(points(e.value, scale))}"
            for at, e in zip(x, bins, strict=True)
        )
        return as_svg(
            figure, key, f"{construct}, {bins[0].scorers[0]}: {curve.title}", f"{values}."
        )


def _diagonal(axes: Axes, scale: Scale | None, bins: list[Estimate]) -> None:
    """Equal axes with the line of agreement and the ends of the bins."""
    values = [v for e in bins for v in (float(str(e.params["judge_mean"])), e.value)]
    low, high = (scale.min, scale.max) if scale else (min(values), max(values))
    room = 0.04 * (high - low)
    axes.plot((low, high), (low, high), color=MUTED, linewidth=0.8, dashes=(3, 2))
    ends = [float(str(e.params["judge_high"])) for e in bins]
    axes.vlines(ends, low - room, low, color=MUTED, linewidth=0.8)
    axes.set_xlim(low - room, high + room)
    axes.set_ylim(low - room, high + room)


def _level_axis(axes: Axes, scale: Scale | None, _bins: list[Estimate]) -> None:
    """A line at no error, and the whole scale across."""
    axes.axhline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
    if scale:
        room = 0.04 * scale.width
        axes.set_xlim(scale.min - room, scale.max + room)


_DIAGRAM = _Curve(
    "judge_mean", ("judge", "people"), ("judge", "people"), "reliability diagram", _diagonal
)
_BY_LEVEL = _Curve(
    "human_mean", ("people", "judge minus people"), ("people", "error"), "error by level",
    _level_axis,
)  # fmt: skip


def _not_drawn(analysis: Analysis, _panels: Panels) -> str:
    return left_out(analysis)


reliability_diagram = FigureOf(
    "reliability-diagram",
    "How do people rate responses by the judge's score?",
    "Responses in up to 10 bins of the judge's score with about equally many in each: mean "
    "of people against mean of the judge. Bars: "
    "{level:.0%} intervals, queries resampled. On the dashed line the "
    "two agree on average; below it the judge is too lenient. Ticks at the bottom: the "
    "bins' ends.",
    lambda analysis: if_several(_panels(analysis, "reliability_bin")),
    partial(_draw_curve, _DIAGRAM),
    "reliability",
    note=_not_drawn,
)


def _how(analysis: Analysis, panels: Panels) -> str:
    """Whose noise is in level and error."""
    splits = {e.params["split"] for _, _, levels in panels for e in levels}
    how = (
        "The level is the mean of one half of a response's raters and the error is against the "
        "other half, so that a value that is high by chance does not make the judge look severe. "
        if "halves" in splits
        else ""
    )
    if "none" in splits:
        how += (
            "Filled squares: with one rating of most responses, level and error share its noise, "
            "which alone makes the error fall from left to right. "
        )
    level = analysis.options.level
    return f"{how}Bars: {level:.0%} intervals, queries resampled.{left_out(analysis)}"


error_by_level = FigureOf(
    "error-by-level",
    "Is the judge more lenient towards bad responses?",
    "Judge minus people by the level of people's value, about equally many responses a level. ",
    lambda analysis: if_several(_panels(analysis, "error_by_level")),
    partial(_draw_curve, _BY_LEVEL),
    "level",
    note=_how,
)
