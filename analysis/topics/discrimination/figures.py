"""The figures on differences between systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure_of import FigureOf, Panels, estimates_in
from analysis.render.forest import ForestStyle, Mark, forest, symmetrical
from analysis.render.formatting import digits, points, with_minus
from analysis.render.labels import distinct_labels, shortened
from analysis.render.panels import JUDGES_DRAWN

#: Line, marker and color of each curve in a panel.
_LINES = (
    (INK, "-", "o"), (ACCENT, "--", "s"), (MUTED, "-.", "^"), (INK, ":", "D"), (ACCENT, "-", "v"),
    (MUTED, "--", "P"), (INK, "-.", "X"), (ACCENT, ":", "*"),
)  # fmt: skip


#: Pairs from which points are joined without marks.
_MARKED = 40


def name_of(analysis: Analysis, estimate: Estimate) -> str:
    """Whose scores a record on systems is about."""
    if estimate.params.get("of"):
        return "mean of raters"
    scorer = estimate.scorers[0]
    kind = analysis.scorer_kinds.get(scorer)
    return f"{scorer} (the rater)" if kind == "human" else scorer


def drawn(analysis: Analysis, names: Iterable[str]) -> list[str]:
    """Of these names the first judges, or metrics where there is no judge, and people."""
    by_kind: dict[str, list[str]] = {"judge": [], "metric": [], "people": []}
    for name in dict.fromkeys(names):
        kind = str(analysis.scorer_kinds.get(name))
        by_kind[kind if kind in by_kind else "people"].append(name)
    return [*(by_kind["judge"] or by_kind["metric"])[:JUDGES_DRAWN], *by_kind["people"]]


def _curves(analysis: Analysis) -> list[tuple[str, list[tuple[str, list[Estimate]]]]]:
    """Scorers, with the defined p of each construct."""
    by_name: dict[str, dict[str, list[Estimate]]] = {}
    for e in analysis.estimates.select("randomized_tukey_hsd_p"):
        if e.defined:
            by_construct = by_name.setdefault(name_of(analysis, e), {})
            by_construct.setdefault(e.constructs[0], []).append(e)
    return [
        (name, list(by_name[name].items()))
        for name in drawn(analysis, by_name)
        # A single pair makes no curve.
        if any(len(pairs) > 2 for pairs in by_name[name].values())
    ]


def _draw(
    analysis: Analysis, name: str, curves: list[tuple[str, list[Estimate]]], key: str
) -> Drawing:
    with canvas(2.9, 2.7) as (figure, axes):
        axes.axhline(0.05, color=MUTED, linewidth=0.8, dashes=(4, 2))
        counts = []
        longest = 1
        for (construct, pairs), (color, line, mark) in zip(curves, _LINES, strict=False):
            p = np.sort([e.value for e in pairs])[::-1]
            longest = max(longest, p.size)
            axes.plot(
                np.arange(1, p.size + 1), p, color=color, linestyle=line, linewidth=1.1,
                marker=mark if p.size <= _MARKED else "", markersize=3.2,
                label=shortened(construct, 14),
            )  # fmt: skip
            counts.append(f"{construct}: {np.count_nonzero(p < 0.05)} of {p.size} below .05")
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlim(0.5, longest + 0.5)
        axes.set_yticks([0, 0.05, 0.5, 1], ["0", ".05", ".5", "1"])
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("pairs of systems, largest p first")
        axes.set_ylabel(analysis.headings["randomized_tukey_hsd_p"])
        axes.grid(axis="y", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=7, handlelength=3.2, loc="upper right")
        head(figure, name)
        return as_svg(figure, key, f"p of all pairs of systems, {name}", "; ".join(counts))


def _more(_analysis: Analysis, panels: Panels) -> str:
    more = any(len(curves) > len(_LINES) for _, curves in panels)
    return f" The first {len(_LINES)} constructs are drawn." if more else ""


asl_curves = FigureOf(
    "asl-curves",
    "How many pairs of systems differ significantly?",
    "p of every pair of systems by the randomized Tukey HSD test, the largest first. A "
    "curve that falls early has more significant differences; below the dashed line, p < "
    ".05. People's scores rest on the responses that they rated.",
    _curves,
    _draw,
    "asl",
    note=_more,
    data=lambda _, panels: estimates_in([curves[: len(_LINES)] for _, curves in panels]),
)


#: Pairs of systems in one panel; of more are in the tables and in estimates.csv only.
PAIRS_DRAWN = 15

#: Characters of a system's name.
NAME_ROOM = 12


def _of_systems(analysis: Analysis) -> Iterator[tuple[Any, ...]]:
    """Constructs, pairs of systems, the first judge's differences, and people's if comparable."""
    for construct, data in analysis.context.whole.items():
        judge = next(iter(data.judges or data.scorers), None)
        records = [
            e
            for e in analysis.estimates.select("system_difference", construct=construct)
            if e.has_interval
        ]
        judge_records = [e for e in records if e.scorers == (judge,)]
        people = [e for e in records if e.n_raters or e.scorers[0] in data.adjudicated]
        if judge and judge_records and analysis.context.differences_withheld(construct, judge):
            people = []
        pairs = list(dict.fromkeys(e.systems for e in judge_records or people))
        if 0 < len(pairs) <= PAIRS_DRAWN:
            yield construct, pairs, judge_records, people


def _draw_differences(
    analysis: Analysis,
    construct: str,
    pairs: list[tuple[str, ...]],
    judge: list[Estimate],
    people: list[Estimate],
    key: str,
) -> Drawing:
    estimates = [*judge, *people]
    scale = analysis.scores.scale(construct, estimates[0].scorers[0])
    both = bool(judge and people)
    marks = [
        Mark.of(pairs.index(e.systems), e, width=1.2, shift=shift, **style)
        for records, shift, style in (
            (judge, 0.14 * both, {}),
            (people, -0.14 * both, {"color": INK, "marker": "s", "filled": False}),
        )
        for e in records
        if e.systems in pairs
    ]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    short = dict(zip(names, distinct_labels(names, NAME_ROOM), strict=True))
    reach = symmetrical(estimates)
    decimals = max(0, digits(scale) + (1 if reach[1] < 1 else 0))
    return forest(
        key,
        f"Differences between systems on {construct}",
        "; ".join(
            f"{name_of(analysis, e)}, {' minus '.join(e.systems)}: "
            f"{with_minus(points(e.value, scale, 1))}"
            for e in estimates
        ),
        (analysis.scores.full_name(construct),),
        ["−".join(short[name] for name in pair) for pair in pairs],
        marks,
        ForestStyle(
            "difference in points",
            width=2.9,
            row=0.24,
            reach=reach,
            form=lambda value: f"{value:.{decimals}f}",
        ),
    )


def _whose(analysis: Analysis, panels: Panels) -> str:
    names = dict.fromkeys(name_of(analysis, e) for e in estimates_in(panels))
    return (
        f" ({', '.join(names)}). Filled: the judge on all its scores; open squares: people on what "
        f"they rated. Bars: {analysis.options.level:.0%} simultaneous intervals for all pairs of a "
        "panel, queries resampled. Where a bar does not reach the line the two systems differ "
        "significantly."
    )


system_differences = FigureOf(
    "system-differences",
    "How far do systems differ, by the judge and by people?",
    "Mean of the first system minus that of the second, in points",
    _of_systems,
    _draw_differences,
    "system-differences",
    note=_whose,
)
