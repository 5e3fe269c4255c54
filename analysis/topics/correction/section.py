"""Section of the report: system means corrected by ratings, and the composite, with tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, islice

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation, counted, listed, points
from analysis.render.section import Section
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    Line,
    TableOf,
    TableRow,
    coefficient,
    formatted,
    human_scale,
    in_points,
    in_words,
    param_in_points,
    scorer_scale,
    spread,
)
from analysis.topics.correction import composite, estimates, figures, unseen_failures
from analysis.topics.correction.figures import means_of, spoken_of

#: Constructs and composites of which sentences are made; the tables have the others.
CONSTRUCTS_SUMMARIZED, COMPOSITES_SUMMARIZED = 3, 2


def reading(analysis: Analysis) -> Iterator[str]:
    """How far the judge's level is off, which orders change, and what was saved."""
    yield from islice(_levels(analysis), CONSTRUCTS_SUMMARIZED)
    yield from _orders(analysis)
    yield from _unjudged(analysis)
    yield from islice(_composites(analysis), COMPOSITES_SUMMARIZED)


def _leading(analysis: Analysis) -> Iterator[tuple[str, str, list[Estimate]]]:
    for construct in analysis.context.whole:
        for scorer in figures.spoken_of(analysis, construct)[:1]:
            yield construct, scorer, figures.means_of(analysis, construct, scorer)


def _levels(analysis: Analysis) -> Iterator[str]:
    for construct, scorer, means in _leading(analysis):
        whole = next((e for e in means if e.scope == "pooled" and e.defined), None)
        if whole is None:
            continue
        if not whole.has_interval:
            yield f"{construct}: the corrected mean has no interval: {whole.reason}."
            continue
        scale = analysis.context.human_scale(construct)
        judge = whole.params["judge_mean"]
        sentence = f"{construct}: people would give all responses {points(whole.value, scale, 1)} "
        sentence += (
            f"[{points(whole.ci_low, scale, 1)}, {points(whole.ci_high, scale, 1)}] on average"
        )
        if analysis.context.differences_withheld(construct, scorer) is None:
            sentence += f", {scorer} gives {points(float(str(judge)), scale, 1)}"
        saved = figures.beside(analysis, "labels_saved", whole)
        if "ratings_alone" in whole.params:
            sentence += f"; these are the ratings alone, since {whole.params['ratings_alone']}"
        elif saved is not None and saved.defined:
            amount = f"{abs(saved.value):,.0f} further rated responses"
            sentence += (
                f"; its scores save {amount}"
                if saved.value >= 0.5
                else "; its scores make the interval no narrower"
            )
        yield f"{sentence}."


def _orders(analysis: Analysis) -> Iterator[str]:
    """Pairs that the judge's means order otherwise than the corrected ones, surely or not."""
    turned: list[str] = []
    surely: list[str] = []
    pairs = list(compared(analysis))
    for pair in pairs:
        judge = float(str(pair.params["judge_difference"]))
        if judge * pair.value < 0:
            name = f"{' and '.join(pair.systems)} on {pair.constructs[0]}"
            (surely if analysis.claims.hold("corrected", pair) else turned).append(name)
    if not pairs:
        return
    if not turned and not surely:
        yield f"No pair of systems ({len(pairs)} compared) changes its order after correction."
        return
    if surely:
        yield (
            "Correction by ratings reverses the judge's order, with a difference that is not 0: "
            f"{listed(surely)}."
        )
    if turned:
        yield (
            f"{counted(len(turned), 'pair')} of {len(pairs)} have another order after "
            f"correction, within the uncertainty: {listed(turned, 4)}."
        )


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The corrected differences of the leading scorers' systems."""
    for construct, _scorer, means in _leading(analysis):
        defined = [e for e in means if e.systems and e.defined]
        differences = {
            (e.systems, e.scorers): e
            for e in analysis.estimates.select("ppi_difference", construct=construct)
        }
        for first, second in combinations(defined, 2):
            pair = differences.get(((*first.systems, *second.systems), first.scorers))
            if pair is not None and pair.defined:
                yield pair


def _unjudged(analysis: Analysis) -> Iterator[str]:
    unjudged = [
        (construct, scorer, int(str(whole.params["judge_missing"])), whole.params["pool"])
        for construct, scorer, means in _leading(analysis)
        for whole in means[:1]
        if whole.defined and whole.params["judge_missing"]
    ]
    if unjudged:
        counts = [
            f"{missing:,} of {pool:,} on {c} ({scorer})" for c, scorer, missing, pool in unjudged
        ]
        yield (
            f"Responses without a score: {listed(counts)}; they count as the mean of the others, "
            "and people's ratings of such responses count like all others."
        )


def _composites(analysis: Analysis) -> Iterator[str]:
    for e in analysis.estimates.select(
        "composite_correlation_difference", scope="within_query", minus=composite.EQUAL
    ):
        if e.defined:
            of = e.params["of"]
            yield (
                f"Composite of the scores of {of}: with learned weights it correlates "
                f"{correlation(_learned(analysis, e).value)} within a query with "
                f"{analysis.options.overall}, {correlation(e.value)} {between(e)} more than with "
                "equal weights."
            )


def _learned(analysis: Analysis, e: Estimate) -> Estimate:
    return analysis.estimates.select(
        "composite_correlation", scope=e.scope, of=str(e.params["of"])
    )[0]


#: Pairs of systems in one table; estimates.csv has more.
PAIRS_SHOWN = 28

#: Systems of which a table lists the means.
SYSTEMS_SHOWN = 30


def _means(analysis: Analysis) -> Iterator[TableRow]:
    for construct in analysis.context.whole:
        for scorer in spoken_of(analysis, construct):
            for e in means_of(analysis, construct, scorer)[: SYSTEMS_SHOWN + 1]:
                yield TableRow.of(analysis, e, "scope", "scorers", "systems")


def _lambda(row: TableRow) -> str:
    value = row.estimate.params["lambda"]
    return f"{value:.2f}" if row.estimate.defined and isinstance(value, float) else ""


def _wanted(analysis: Analysis, rows: Line) -> str:
    target = analysis.options.target_width
    width = "5% of the scale" if target is None else f"{target:g} points"
    return f" {width} to each side.{unseen_failures.stated([row.estimate for row in rows])}"


corrected_means = TableOf(
    "corrected-means",
    "Means, corrected by ratings",
    "Judge's mean: of all its scores. {weighted_human_mean}: of the rated responses, weighted by 1 "
    "over the probability of having been drawn. {ppi_mean}: people's mean plus lambda times (the "
    "judge's mean over all responses minus its mean over the rated ones), with queries left out in "
    "turn for the interval, whose target is the mean over queries like these, rated by these "
    "raters. {labels_saved}: further rated responses that people's mean alone would need for an "
    "interval as narrow. {labels_needed}: rated responses for an interval that reaches",
    _means,
    ("construct", "scorer", "system", param_in_points("judge_mean", "Judge's mean"),
     in_points("weighted_human_mean"), in_points("ppi_mean"), in_words("Lambda", _lambda),
     in_words("Rated", "{e.n_responses:,} of {e.params[pool]:,}"),
     formatted("labels_saved", ",.0f"), formatted("labels_needed", ",.0f")),
    heads=3,
    note=_wanted,
)  # fmt: skip


def _spoken(analysis: Analysis) -> dict[tuple[str, str], None]:
    """Constructs with the scorers whose corrected means are shown."""
    return dict.fromkeys(
        (construct, scorer)
        for construct in analysis.context.whole
        for scorer in spoken_of(analysis, construct)
    )


def _pairs(analysis: Analysis) -> Iterator[TableRow]:
    spoken = _spoken(analysis)
    for e in analysis.estimates.select("ppi_difference"):
        if e.systems and (e.constructs[0], e.scorers[0]) in spoken:
            yield TableRow.of(analysis, e)


def _difference(row: TableRow, built: TableBuilder) -> Cell:
    judge = row.estimate.params["judge_difference"]
    words = f"judge {points(judge, scorer_scale(row), 1)}" if isinstance(judge, float) else ""
    cell = built.points(row.estimate, human_scale(row))
    return replace(cell, parts=(words,) if words else ())


corrected_differences = TableOf(
    "corrected-differences",
    "Differences between systems, corrected by ratings: {part}",
    "{ppi_difference}: corrected mean of the first system minus that of the second, with an "
    "interval for this pair alone; below it the difference of the judge's means.",
    _pairs,
    ("pair", spread(Column("", _difference))),
    heads=1,
    most=PAIRS_SHOWN,
    per=lambda analysis: dict.fromkeys(scorer for _, scorer in _spoken(analysis)),
    part=lambda row: row.scorer,
)  # fmt: skip


def _composite(statistic: str, name: str, **where: str) -> Callable[[TableRow], Estimate | None]:
    """An estimate of the composite of a row, whose name is the param or the field `name`."""
    return lambda row: row.first(
        statistic, **where, **{name: str(row.estimate.params["composite"])}
    )


composite_table = TableOf(
    "composite",
    "Composite of the constructs against the overall rating, {overall}",
    "Weights by least squares, none below 0, in points of the overall rating for the width of "
    "a construct's scale (for a point where a scale is undeclared). Correlations with people's "
    "overall rating; with learned weights on queries that they were not learned from. "
    "{composite_correlation_difference}: learned weights minus this one, within a query.",
    lambda analysis: (
        TableRow(analysis, {"of": e.params["of"]}, e)
        for e in analysis.estimates.select("composite_correlation", scope="within_query")
    ),
    (in_words("Scores of", "{e.params[of]}"), in_words("Composite", "{e.params[composite]}"),
     formatted(_composite("composite_weight", "construct"), ".2f", "{composite_weight}"),
     coefficient("composite_correlation", "{composite_correlation} within a query"),
     coefficient(_composite("composite_correlation_difference", "minus", scope="within_query"),
                 "{composite_correlation_difference} within a query"),
     coefficient(_composite("composite_correlation", "composite", scope="pooled"),
                 "{composite_correlation}, pooled")),
)  # fmt: skip


SECTION = Section(
    key="corrected",
    title="Corrected scores",
    statistics=(
        *estimates.STATISTICS,
        *composite.STATISTICS,
    ),
    figures=(figures.corrected_means, figures.composite_correlations),
    tables=(corrected_means, corrected_differences, composite_table),
    reading=reading,
    compared=compared,
)
