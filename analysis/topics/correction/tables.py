"""The tables of a report on corrected scores and on the composite."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import points
from analysis.render.panels import JUDGES_DRAWN
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.discrimination.tables import PAIRS_SHOWN

#: Systems of which a table lists the means.
SYSTEMS_SHOWN = 30


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
    found = analysis.estimates.select(statistic, construct=mean.constructs[0], scope=mean.scope)
    same = (e for e in found if e.scorers == mean.scorers and e.systems == mean.systems)
    return next(same, None)


def corrected_means(analysis: Analysis) -> Iterator[Table]:
    """Judge, people and corrected mean by construct, scorer and system."""
    built = TableBuilder()
    for construct in analysis.context.whole:
        scale = analysis.context.human_scale(construct)
        for scorer in spoken_of(analysis, construct):
            own = analysis.scores.scale(construct, scorer)
            for e in means_of(analysis, construct, scorer)[: SYSTEMS_SHOWN + 1]:
                judge = e.params["judge_mean"]
                lam = e.params["lambda"]
                built.add(
                    construct,
                    scorer,
                    e.systems[0] if e.systems else "all responses",
                    points(judge, own, 1) if isinstance(judge, float) else "",
                    built.points(beside(analysis, "weighted_human_mean", e), scale),
                    built.points(e, scale),
                    f"{lam:.2f}" if e.defined and isinstance(lam, float) else "",
                    f"{e.n_responses:,} of {e.params['pool']:,}",
                    built.number(beside(analysis, "labels_saved", e), ",.0f"),
                    built.number(beside(analysis, "labels_needed", e), ",.0f"),
                )
    yield built.table(
        "corrected-means",
        "Means, corrected by ratings",
        "Judge: mean of all its scores. People: mean of the rated responses, weighted by 1 over "
        "the probability of having been drawn. Corrected: people's mean plus lambda times (the "
        "judge's mean over all responses minus its mean over the rated ones), with queries left "
        "out in turn for the interval, whose target is the mean over queries like these, rated by "
        "these raters. Saved: further rated responses that people's mean alone would need for an "
        "interval as narrow. Needed: rated responses for an interval that reaches "
        f"{_wanted(analysis)} to each side.",
        ("Construct", "Scorer", "System", "Judge", "People", "Corrected", "Lambda", "Rated",
         "Saved", "Needed"),
        heads=3,
    )  # fmt: skip


def _wanted(analysis: Analysis) -> str:
    wanted = analysis.options.target_width
    return "5% of the scale" if wanted is None else f"{wanted:g} points"


def corrected_differences(analysis: Analysis) -> Iterator[Table]:
    """Corrected differences of all pairs by construct, a table a scorer."""
    by_scorer: dict[str, list[Estimate]] = {}
    for construct in analysis.context.whole:
        for scorer in spoken_of(analysis, construct):
            by_scorer.setdefault(scorer, []).extend(
                e
                for e in analysis.estimates.select("ppi_difference", construct=construct)
                if e.scorers[0] == scorer and e.systems
            )
    for number, (scorer, records) in enumerate(by_scorer.items()):
        pairs = list(dict.fromkeys(e.systems for e in records))
        constructs = list(dict.fromkeys(e.constructs[0] for e in records))
        if not 0 < len(pairs) <= PAIRS_SHOWN:
            continue
        found = {(e.constructs[0], e.systems): e for e in records}
        built = TableBuilder()
        for pair in pairs:
            built.add(" minus ".join(pair), *(_cell(analysis, built, found, c, pair)
                                              for c in constructs))  # fmt: skip
        yield built.table(
            f"corrected-differences-{number + 1}",
            f"Differences between systems, corrected by ratings: {scorer}",
            "Corrected mean of the first system minus that of the second, with an interval for "
            "this pair alone; below it the difference of the judge's means.",
            ("Pair", *constructs),
        )


def _cell(
    analysis: Analysis,
    built: TableBuilder,
    found: dict[tuple[str, tuple[str, ...]], Estimate],
    construct: str,
    pair: tuple[str, ...],
) -> Cell:
    e = found.get((construct, pair))
    if e is None:
        return Cell("")
    cell = built.points(e, analysis.context.human_scale(construct))
    judge = e.params["judge_difference"]
    own = analysis.scores.scale(construct, e.scorers[0])
    said = f"judge {points(judge, own, 1)}" if isinstance(judge, float) else ""
    return Cell(cell.text, cell.interval, cell.mark, (said,) if said else ())


def composite_table(analysis: Analysis) -> Iterator[Table]:
    """Learned weights, and what they gain over equal weights and single constructs."""
    built, select = TableBuilder(), analysis.estimates.select
    for e in select("composite_correlation", scope="within_query"):
        of, name = str(e.params["of"]), str(e.params["composite"])
        weight = next(
            (w for w in select("composite_weight", of=of) if w.constructs[0] == name), None
        )
        pooled = select("composite_correlation", scope="pooled", of=of, composite=name)
        gains = select("composite_correlation_difference", scope="within_query", of=of, minus=name)
        built.add(
            of,
            name,
            built.number(weight, ".2f"),
            built.r(e),
            built.r(gains[0] if gains else None),
            built.r(pooled[0] if pooled else None),
        )
    overall = analysis.options.overall
    yield built.table(
        "composite",
        f"Composite of the constructs against the overall rating, {overall}",
        "Weights by least squares, none below 0, in points of the overall rating for the width of "
        "a construct's scale (for a point where a scale is undeclared). Correlations with people's "
        "overall rating; with learned weights on queries that they were not learned from. Gain: "
        "learned weights minus this one, within a query.",
        ("Scores of", "Composite", "Weight", "r within a query", "Gain within a query",
         "r pooled"),
        heads=2,
    )  # fmt: skip
