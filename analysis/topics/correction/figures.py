"""The figures on corrected means and on composites of the constructs."""

from __future__ import annotations

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.drawing import ACCENT, INK, MUTED, Drawing
from analysis.render.figure_of import FigureOf, Panels, if_several
from analysis.render.forest import ForestStyle, Mark, forest
from analysis.render.formatting import correlation, points, with_minus
from analysis.render.labels import shortened
from analysis.render.panels import JUDGES_DRAWN
from analysis.render.sentence_templates import SCOPES
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


#: Corrected means, each with people's mean.
_Means = list[tuple[Estimate, Estimate | None]]


def _by_system(analysis: Analysis) -> list[tuple[str, str, _Means]]:
    """Constructs with their scorers, where there are several, and the means of systems."""
    panels = []
    for construct in analysis.context.whole:
        for scorer in spoken_of(analysis, construct):
            means = means_of(analysis, construct, scorer)
            by_system = [e for e in means if e.has_interval and e.systems]
            if 0 < len(by_system) <= SYSTEMS_DRAWN:
                beside_them = [(e, beside(analysis, "weighted_human_mean", e)) for e in by_system]
                panels.append((construct, scorer, beside_them))
    return if_several(panels)


def _draw(analysis: Analysis, construct: str, scorer: str, means: _Means, key: str) -> Drawing:
    scale = analysis.context.human_scale(construct)
    common = analysis.context.differences_withheld(construct, means[0][0].scorers[0]) is None
    marks = []
    for row, (e, people) in enumerate(means):
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
        "; ".join(f"{e.systems[0]}: {with_minus(points(e.value, scale, 1))}" for e, _ in means),
        (analysis.scores.full_name(construct), scorer),
        [shortened(e.systems[0], NAME_ROOM) for e, _ in means],
        marks,
        ForestStyle("mean in points", width=2.9, row=0.3, margin=0.95, zero=False),
    )


def _corrected_first(_analysis: Analysis, panels: Panels) -> list[Estimate]:
    pairs = [pair for *_, means in panels for pair in means]
    return [*(e for e, _ in pairs), *(people for _, people in pairs if people is not None)]


corrected_means = FigureOf(
    "corrected-means",
    "How would people have rated all responses?",
    "Means in points of people's scale. Filled: corrected; squares: people on what they "
    "rated; bars: {level:.0%} intervals, queries left out in turn. "
    "Triangles: the judge on all responses, where it is on people's scale. The corrected "
    "mean speaks of all responses, for these raters.",
    _by_system,
    _draw,
    "corrected",
    data=_corrected_first,
)


#: Characters of a row's name.
NAME_ROOM_COMPOSITE = 18


def _composites(analysis: Analysis) -> list[tuple[str, list[Estimate]]]:
    """Scorers with their composites within a query, or pooled where there are none."""
    panels: dict[tuple[str, str], list[Estimate]] = {}
    for scope in SCOPES:
        for e in analysis.estimates.select("composite_correlation", scope=scope):
            of = str(e.params["of"])
            if e.defined and ((of, "within_query") not in panels or scope == "within_query"):
                panels.setdefault((of, scope), []).append(e)
    return [(of, records) for (of, _), records in panels.items()]


def _draw_composite(_analysis: Analysis, of: str, records: list[Estimate], key: str) -> Drawing:
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


def _where(analysis: Analysis, panels: Panels) -> str:
    scopes = {e.scope for _, records in panels for e in records}
    where = " or ".join(words for scope, words in SCOPES.items() if scope in scopes)
    return (
        f"{where}, with {analysis.options.level:.0%} intervals, queries resampled. Filled: learned "
        "weights, on queries that they were not learned from. Open: equal weights, and single "
        "constructs."
    )


composite_correlations = FigureOf(
    "composite",
    "Which composite correlates most with people's overall rating?",
    "Pearson correlation with {overall}, ",
    _composites,
    _draw_composite,
    "composite",
    note=_where,
)
