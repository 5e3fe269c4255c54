"""The figures on corrected means and on composites of the constructs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing, Figure
from analysis.render.forest import ForestStyle, Mark, forest
from analysis.render.formatting import correlation, points, with_minus
from analysis.render.labels import shortened
from analysis.render.panels import JUDGES_DRAWN
from analysis.topics.correction.composite import LEARNED

#: Systems in one panel; more are in the tables and in estimates.csv only.
SYSTEMS_DRAWN = 20

#: Characters of a system's name.
NAME_ROOM = 14


def spoken_of(analysis: Analysis, construct: str) -> list[str]:
    """Scorers of a construct whose corrected means are shown, judges before metrics."""
    return analysis.context.whole[construct].examined[:JUDGES_DRAWN]


def means_of(analysis: Analysis, construct: str, scorer: str) -> list[Estimate]:
    """Corrected means of one scorer: over all responses, then by system."""
    return [
        e
        for e in analysis.estimates.select("ppi_mean", construct=construct)
        if e.scorers[0] == scorer and e.scope != "system_level" and e.params
    ]


def beside(analysis: Analysis, statistic: str, mean: Estimate) -> Estimate | None:
    """Another figure of the same scorer and system."""
    candidates = analysis.estimates.select(
        statistic, construct=mean.constructs[0], scope=mean.scope
    )
    same = (e for e in candidates if e.scorers == mean.scorers and e.systems == mean.systems)
    return next(same, None)


def corrected_means(analysis: Analysis) -> Iterator[Figure]:
    """A panel for each construct and judge with corrected means of systems."""
    panels = []
    for construct in analysis.context.whole:
        for scorer in spoken_of(analysis, construct):
            means = [e for e in means_of(analysis, construct, scorer) if e.has_interval]
            by_system = [e for e in means if e.systems]
            if 0 < len(by_system) <= SYSTEMS_DRAWN:
                panels.append((construct, scorer, by_system))
    if not panels:
        return
    several = len({scorer for _, scorer, _ in panels}) > 1
    drawn = [e for *_, means in panels for e in means]
    alone = [beside(analysis, "weighted_human_mean", e) for e in drawn]
    yield Figure(
        key="corrected-means",
        title="How would people have rated all responses?",
        caption=(
            "Means in points of people's scale. Filled: corrected; squares: people on what they "
            f"rated; bars: {analysis.options.level:.0%} intervals, queries left out in turn. "
            "Triangles: the judge on all responses, where it is on people's scale. The corrected "
            "mean speaks of all responses, for these raters."
        ),
        drawings=tuple(
            _draw(analysis, construct, scorer if several else "", means, f"corrected-{number}")
            for number, (construct, scorer, means) in enumerate(panels)
        ),
        data=to_frame([*drawn, *(e for e in alone if e is not None)]),
    )


def _draw(
    analysis: Analysis, construct: str, scorer: str, means: list[Estimate], key: str
) -> Drawing:
    scale = analysis.context.human_scale(construct)
    common = analysis.context.differences_withheld(construct, means[0].scorers[0]) is None
    marks = []
    for row, e in enumerate(means):
        people = beside(analysis, "weighted_human_mean", e)
        if people is not None and people.defined:
            style = {"color": INK, "marker": "s", "filled": False, "width": 0.9, "shift": -0.18}
            marks.append(Mark.of(row, people, **style))
        marks.append(Mark.of(row, e, shift=0.1))
        judge = e.params["judge_mean"]
        if common and isinstance(judge, float) and np.isfinite(judge):
            marks.append(Mark(row, judge, color=MUTED, marker="^", filled=False, shift=0.1))
    return forest(
        key,
        f"Corrected means on {construct}",
        "; ".join(f"{e.systems[0]}: {with_minus(points(e.value, scale, 1))}" for e in means),
        (analysis.scores.full_name(construct), scorer),
        [shortened(e.systems[0], NAME_ROOM) for e in means],
        marks,
        ForestStyle("mean in points", width=2.9, row=0.3, margin=0.95, zero=False),
    )


#: Characters of a row's name.
NAME_ROOM_COMPOSITE = 18


def composite_correlations(analysis: Analysis) -> Iterator[Figure]:
    """A panel for each scorer: learned weights, equal weights and every construct alone."""
    panels: dict[tuple[str, str], list[Estimate]] = {}
    for scope in ("within_query", "pooled"):
        for e in analysis.estimates.select("composite_correlation", scope=scope):
            of = str(e.params["of"])
            if e.defined and ((of, "within_query") not in panels or scope == "within_query"):
                panels.setdefault((of, scope), []).append(e)
    if not panels:
        return
    scopes = {scope for _, scope in panels}
    where = " or ".join(
        words
        for scope, words in (("within_query", "within a query"), ("pooled", "over all responses"))
        if scope in scopes
    )
    yield Figure(
        key="composite",
        title="Which composite correlates most with people's overall rating?",
        caption=(
            f"Pearson correlation with {analysis.options.overall}, {where}, with "
            f"{analysis.options.level:.0%} intervals, queries resampled. Filled: learned weights, "
            "on queries that they were not learned from. Open: equal weights, and single "
            "constructs."
        ),
        drawings=tuple(
            _draw_composite(of, records, f"composite-{number}")
            for number, ((of, _), records) in enumerate(panels.items())
        ),
        data=to_frame(e for records in panels.values() for e in records),
    )


def _draw_composite(of: str, records: list[Estimate], key: str) -> Drawing:
    learned = [e.params["composite"] == LEARNED for e in records]
    return forest(
        key,
        f"Composites of {of}",
        "; ".join(f"{e.params['composite']}: {with_minus(correlation(e.value))}" for e in records),
        (f"scores of {of}",),
        [shortened(str(e.params["composite"]), NAME_ROOM_COMPOSITE) for e in records],
        [
            Mark.of(row, e, color=ACCENT if lead else INK, filled=lead, width=2 if lead else 1)
            for row, (e, lead) in enumerate(zip(records, learned, strict=True))
        ],
        ForestStyle("correlation with the overall rating", width=2.9, row=0.24, form=correlation),
    )
