"""The figures on raters: what more raters and queries would give, and each rater's severity."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    RULE,
    SOFT,
    Drawing,
    as_svg,
    canvas,
    head,
)
from analysis.render.figure_of import FigureOf
from analysis.render.forest import ForestStyle, Mark, forest
from analysis.render.formatting import correlation, points, with_minus
from analysis.render.labels import shortened
from analysis.render.panels import CONSTRUCTS_DRAWN, HEIGHT, WIDTH, estimates_by_construct
from study.base.scales import Scale

#: By number of raters: tone, dash and mark.
_LINES = {1: (MUTED, ":", "o"), 2: (INK, "--", "s"), 3: (INK, "-", "^"), 5: (ACCENT, "-", "D")}


def _curve(analysis: Analysis, construct: str, records: list[Estimate], key: str) -> Drawing:
    k = [int(str(e.params["k"])) for e in records]
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        low, high = ([getattr(e, end) for e in records] for end in ("ci_low", "ci_high"))
        if all(e.has_interval for e in records):
            axes.fill_between(k, low, high, color=SOFT, linewidth=0)
            for ends in (low, high):
                axes.plot(k, ends, color=MUTED, linewidth=0.6, dashes=(4, 2))
        axes.plot(k, [e.value for e in records], "o-", color=INK, markersize=3, linewidth=1.1)
        axes.set_ylim(min(0.0, *(v for v in low if np.isfinite(v)), 0.0) - 0.02, 1.02)
        axes.set_xticks([1, 2, 3, 5, 10])
        axes.yaxis.set_major_formatter(lambda value, _: with_minus(correlation(value)))
        axes.set_xlabel("raters averaged")
        axes.set_ylabel("ICC(A,k)")
        axes.grid(axis="y", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, analysis.scores.full_name(construct))
        values = "; ".join(
            f"{n}: {with_minus(correlation(e.value))}" for n, e in zip(k, records, strict=True)
        )
        return as_svg(
            figure,
            key,
            f"Reliability by number of raters on {analysis.scores.full_name(construct)}",
            values,
        )


reliability_of_means = FigureOf(
    "reliability-of-means",
    "How many raters make a reliable mean?",
    "Reliability ICC(A,k) of the mean of k raters, from that of one by Spearman and "
    "Brown's formula. Band: {level:.0%} interval for raters like these.",
    lambda analysis: estimates_by_construct(analysis, "spearman_brown", analysis.rated).items(),
    _curve,
    "mean-of-k",
)


def _lines(analysis: Analysis, construct: str, records: list[Estimate], key: str) -> Drawing:
    scale = analysis.context.human_scale(construct)
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        descriptions = []
        for raters, (color, dash, mark) in _LINES.items():
            rater_records = [e for e in records if e.params["raters"] == raters]
            queries = [int(str(e.params["queries"])) for e in rater_records]
            axes.plot(
                queries, [e.value for e in rater_records], color=color, linestyle=dash, marker=mark,
                markersize=3, linewidth=1.1, label=f"{raters} rater{'s' if raters > 1 else ''}",
            )  # fmt: skip
            descriptions.append(
                f"{raters}: "
                + ", ".join(
                    f"{points(e.value, scale, 1)} at {n}"
                    for n, e in zip(queries, rater_records, strict=True)
                )
            )
        axes.set_xscale("log")
        axes.set_xticks([25, 100, 400], ["25", "100", "400"])
        axes.set_xticks([], minor=True)
        axes.set_ylim(0, None)
        axes.set_xlabel("queries")
        axes.set_ylabel("points")
        axes.grid(axis="y", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=6.5, handlelength=3.2)
        head(figure, analysis.scores.full_name(construct))
        return as_svg(figure, key, f"Error of a difference on {construct}", "; ".join(descriptions))


def _errors(analysis: Analysis) -> Iterator[tuple[str, list[Estimate]]]:
    errors = estimates_by_construct(analysis, "system_difference_error", analysis.rated)
    return ((key, group) for key, group in errors.items() if any(e.value > 0 for e in group))


designs = FigureOf(
    "designs",
    "Would more queries or more raters help?",
    "Standard error of the difference of two systems' mean ratings, predicted from the "
    "variance components, for numbers of queries (across) and of raters who rate all of "
    "it (lines). A difference must be about twice this error to be significant.",
    _errors,
    _lines,
    "design",
)


#: Raters drawn; the table and its CSV have more.
RATERS_DRAWN = 16


def _raters(analysis: Analysis) -> Iterator[tuple[str, list[tuple[Estimate, Estimate]]]]:
    """Constructs, with the severity of each rater alone and jointly."""
    for construct in analysis.rated:
        single, joint = (
            analysis.estimates.select("rater_severity", construct=construct, interval=kind)
            for kind in ("single", "simultaneous")
        )
        pairs = [(a, b) for a, b in zip(single, joint, strict=True) if b.has_interval]
        if len(pairs) > 1:
            yield construct, pairs[:RATERS_DRAWN]


def _draw(
    analysis: Analysis, construct: str, pairs: list[tuple[Estimate, Estimate]], key: str
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    marks = []
    for row, (single, joint) in enumerate(pairs):
        marks.append(Mark.of(row, joint, color=INK, width=0.8))
        marks.append(Mark.of(row, single, point=INK, width=2.4))
    return forest(
        key,
        f"Severity of each rater on {construct}",
        "; ".join(_stated(single, scale) for single, _ in pairs),
        (analysis.scores.full_name(construct),),
        [shortened(e.scorers[0], 14) for e, _ in pairs],
        marks,
        ForestStyle("points more lenient than the panel", row=0.2),
    )


severities = FigureOf(
    "severities",
    "Is a rater severe or lenient?",
    "Each rater's mean less what the same responses get from the panel, by a model of "
    "response plus rater; right of the line the rater is more lenient. Thick bars: "
    "{level:.0%} intervals of each rater; thin bars: simultaneous {level:.0%} "
    "intervals. Jackknife over queries, for these raters.",
    lambda analysis: islice(_raters(analysis), CONSTRUCTS_DRAWN),
    _draw,
    "severity",
)


def _stated(e: Estimate, scale: Scale | None) -> str:
    return f"{e.scorers[0]} {with_minus(points(e.value, scale, 1))}"
