"""Section of the report: system means corrected by ratings, and the composite, with tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation, counted, listed, points
from analysis.render.section import Section
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.correction import composite, estimates, figures, unseen_failures
from analysis.topics.correction.figures import beside, means_of, spoken_of

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


def corrected_means(analysis: Analysis) -> Iterator[Table]:
    """Judge, people and corrected mean by construct, scorer and system."""
    built, headings = TableBuilder(), analysis.headings
    means: list[Estimate] = []
    for construct in analysis.context.whole:
        scale = analysis.context.human_scale(construct)
        for scorer in spoken_of(analysis, construct):
            judge_scale = analysis.scores.scale(construct, scorer)
            for e in means_of(analysis, construct, scorer)[: SYSTEMS_SHOWN + 1]:
                means.append(e)
                judge = e.params["judge_mean"]
                lam = e.params["lambda"]
                built.add(
                    construct,
                    scorer,
                    e.systems[0] if e.systems else "all responses",
                    points(judge, judge_scale, 1) if isinstance(judge, float) else "",
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
        f"Judge's mean: of all its scores. {headings['weighted_human_mean']}: of the rated "
        "responses, weighted by 1 over the probability of having been drawn. "
        f"{headings['ppi_mean']}: people's mean plus lambda times (the judge's mean over all "
        "responses minus its mean over the rated ones), with queries left out in turn for the "
        "interval, whose target is the mean over queries like these, rated by these raters. "
        f"{headings['labels_saved']}: further rated responses that people's mean alone would need "
        f"for an interval as narrow. {headings['labels_needed']}: rated responses for an interval "
        f"that reaches {_wanted(analysis)} to each side.{unseen_failures.stated(means)}",
        ("Construct", "Scorer", "System", "Judge's mean", headings["weighted_human_mean"],
         headings["ppi_mean"], "Lambda", "Rated", headings["labels_saved"],
         headings["labels_needed"]),
        heads=3,
    )  # fmt: skip


def _wanted(analysis: Analysis) -> str:
    target = analysis.options.target_width
    return "5% of the scale" if target is None else f"{target:g} points"


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
        by_pair = {(e.constructs[0], e.systems): e for e in records}
        built = TableBuilder()
        for pair in pairs:
            built.add(" minus ".join(pair), *(_cell(analysis, built, by_pair, c, pair)
                                              for c in constructs))  # fmt: skip
        yield built.table(
            f"corrected-differences-{number + 1}",
            f"Differences between systems, corrected by ratings: {scorer}",
            f"{analysis.headings['ppi_difference']}: corrected mean of the first system minus "
            "that of the second, with an interval for this pair alone; below it the difference of "
            "the judge's means.",
            ("Pair", *constructs),
        )


def _cell(
    analysis: Analysis,
    built: TableBuilder,
    by_pair: dict[tuple[str, tuple[str, ...]], Estimate],
    construct: str,
    pair: tuple[str, ...],
) -> Cell:
    e = by_pair.get((construct, pair))
    if e is None:
        return Cell("")
    cell = built.points(e, analysis.context.human_scale(construct))
    judge = e.params["judge_difference"]
    judge_scale = analysis.scores.scale(construct, e.scorers[0])
    judge_difference = f"judge {points(judge, judge_scale, 1)}" if isinstance(judge, float) else ""
    return Cell(
        cell.text, cell.interval, cell.mark, (judge_difference,) if judge_difference else ()
    )


def composite_table(analysis: Analysis) -> Iterator[Table]:
    """Learned weights, and what they gain over equal weights and single constructs."""
    built, select = TableBuilder(), analysis.estimates.select
    r, gain = (
        analysis.headings[name]
        for name in ("composite_correlation", "composite_correlation_difference")
    )
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
        f"overall rating; with learned weights on queries that they were not learned from. {gain}: "
        "learned weights minus this one, within a query.",
        ("Scores of", "Composite", analysis.headings["composite_weight"], f"{r} within a query",
         f"{gain} within a query", f"{r}, pooled"),
        heads=2,
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
