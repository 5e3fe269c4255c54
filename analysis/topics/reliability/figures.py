"""The figures on raters: what more raters and queries would give, and each rater's severity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import (
    ACCENT,
    INK,
    MUTED,
    RULE,
    SOFT,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
)
from analysis.render.forest import ForestStyle, Mark, forest
from analysis.render.formatting import correlation, points, with_minus
from analysis.render.labels import shortened
from analysis.render.panels import CONSTRUCTS_DRAWN, HEIGHT, WIDTH, estimates_by_construct
from study.base.scales import Scale

#: By number of raters: tone, dash and mark.
_LINES = {1: (MUTED, ":", "o"), 2: (INK, "--", "s"), 3: (INK, "-", "^"), 5: (ACCENT, "-", "D")}


def reliability_of_means(analysis: Analysis) -> Iterator[Figure]:
    """ICC(A,k) against k, a panel a construct."""
    by_construct = estimates_by_construct(analysis, "spearman_brown", analysis.rated)
    if not by_construct:
        return
    yield Figure(
        key="reliability-of-means",
        title="How many raters make a reliable mean?",
        caption=(
            "Reliability ICC(A,k) of the mean of k raters, from that of one by Spearman and "
            f"Brown's formula. Band: {analysis.options.level:.0%} interval for raters like these."
        ),
        drawings=tuple(
            _curve(analysis.scores.full_name(construct), records, f"mean-of-k-{number}")
            for number, (construct, records) in enumerate(by_construct.items())
        ),
        data=to_frame(e for records in by_construct.values() for e in records),
    )


def _curve(construct: str, records: list[Estimate], key: str) -> Drawing:
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
        head(figure, construct)
        values = "; ".join(
            f"{n}: {with_minus(correlation(e.value))}" for n, e in zip(k, records, strict=True)
        )
        return as_svg(figure, key, f"Reliability by number of raters on {construct}", values)


def designs(analysis: Analysis) -> Iterator[Figure]:
    """Standard error of a difference against queries, a line a number of raters."""
    errors = estimates_by_construct(analysis, "system_difference_error", analysis.rated)
    by_construct = {key: group for key, group in errors.items() if any(e.value > 0 for e in group)}
    if not by_construct:
        return
    yield Figure(
        key="designs",
        title="Would more queries or more raters help?",
        caption=(
            "Standard error of the difference of two systems' mean ratings, predicted from the "
            "variance components, for numbers of queries (across) and of raters who rate all of "
            "it (lines). A difference must be about twice this error to be significant."
        ),
        drawings=tuple(
            _lines(analysis, construct, records, f"design-{number}")
            for number, (construct, records) in enumerate(by_construct.items())
        ),
        data=to_frame(e for records in by_construct.values() for e in records),
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


#: Raters drawn; the table and its CSV have more.
RATERS_DRAWN = 16


def severities(analysis: Analysis) -> Iterator[Figure]:
    """A panel a construct, a row a rater."""
    panels: dict[str, list[tuple[Estimate, Estimate]]] = {}
    for construct in analysis.rated:
        single, joint = (
            analysis.estimates.select("rater_severity", construct=construct, interval=kind)
            for kind in ("single", "simultaneous")
        )
        pairs = [(a, b) for a, b in zip(single, joint, strict=True) if b.has_interval]
        if len(pairs) > 1:
            panels[construct] = pairs[:RATERS_DRAWN]
    panels = dict(list(panels.items())[:CONSTRUCTS_DRAWN])
    if not panels:
        return
    level = f"{analysis.options.level:.0%}"
    yield Figure(
        key="severities",
        title="Is a rater severe or lenient?",
        caption=(
            "Each rater's mean less what the same responses get from the panel, by a model of "
            "response plus rater; right of the line the rater is more lenient. Thick bars: "
            f"{level} intervals of each rater; thin bars: simultaneous {level} "
            f"intervals. Jackknife over queries, for these raters."
        ),
        drawings=tuple(
            _draw(analysis, construct, pairs, f"severity-{number}")
            for number, (construct, pairs) in enumerate(panels.items())
        ),
        data=to_frame(e for pairs in panels.values() for pair in pairs for e in pair),
    )


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


def _stated(e: Estimate, scale: Scale | None) -> str:
    return f"{e.scorers[0]} {with_minus(points(e.value, scale, 1))}"
