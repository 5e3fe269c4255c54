"""Section of the report: system means corrected by ratings, and the composite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation, counted, listed, points
from analysis.render.section import Section
from analysis.topics.correction import composite, estimates, figures, tables

#: Constructs and composites of which sentences are made; the tables have the others.
CONSTRUCTS_SAID, COMPOSITES_SAID = 3, 2


def reading(analysis: Analysis) -> Iterator[str]:
    """How far the judge's level is off, which orders change, and what was saved."""
    yield from islice(_levels(analysis), CONSTRUCTS_SAID)
    yield from _orders(analysis)
    yield from _unjudged(analysis)
    yield from islice(_composites(analysis), COMPOSITES_SAID)


def _leading(analysis: Analysis) -> Iterator[tuple[str, str, list[Estimate]]]:
    for construct in analysis.context.whole:
        for scorer in tables.spoken_of(analysis, construct)[:1]:
            yield construct, scorer, tables.means_of(analysis, construct, scorer)


def _levels(analysis: Analysis) -> Iterator[str]:
    for construct, scorer, means in _leading(analysis):
        whole = next((e for e in means if e.scope == "pooled" and e.has_interval), None)
        if whole is None:
            continue
        scale = analysis.context.human_scale(construct)
        judge = whole.params["judge_mean"]
        said = f"{construct}: people would give all responses {points(whole.value, scale, 1)} "
        said += f"[{points(whole.ci_low, scale, 1)}, {points(whole.ci_high, scale, 1)}] on average"
        if analysis.context.differences_withheld(construct, scorer) is None:
            said += f", {scorer} gives {points(float(str(judge)), scale, 1)}"
        saved = tables.beside(analysis, "labels_saved", whole)
        if saved is not None and saved.defined:
            amount = f"{abs(saved.value):,.0f} further rated responses"
            said += (
                f"; its scores save {amount}"
                if saved.value >= 0.5
                else "; its scores make the interval no narrower"
            )
        yield f"{said}."


def _orders(analysis: Analysis) -> Iterator[str]:
    """Pairs that the judge's means order otherwise than the corrected ones, surely or not."""
    turned: list[str] = []
    surely: list[str] = []
    compared = 0
    for construct, _scorer, means in _leading(analysis):
        known = [e for e in means if e.systems and e.defined]
        differences = {
            (e.systems, e.scorers): e
            for e in analysis.estimates.select("ppi_difference", construct=construct)
        }
        for first, second in combinations(known, 2):
            pair = differences.get(((*first.systems, *second.systems), first.scorers))
            if pair is None or not pair.defined:
                continue
            compared += 1
            judge = float(str(pair.params["judge_difference"]))
            if judge * pair.value < 0:
                name = f"{' and '.join(pair.systems)} on {construct}"
                sure = pair.has_interval and pair.ci_low * pair.ci_high > 0
                (surely if sure else turned).append(name)
    if not compared:
        return
    if not turned and not surely:
        yield f"No pair of systems ({compared} compared) changes its order after correction."
        return
    if surely:
        yield (
            "Correction turns the judge's order round, with an interval that leaves out 0: "
            f"{listed(surely)}."
        )
    if turned:
        yield (
            f"{counted(len(turned), 'pair')} of {compared} stand in another order after "
            f"correction, within the uncertainty: {listed(turned, 4)}."
        )


def _unjudged(analysis: Analysis) -> Iterator[str]:
    found = [
        (construct, scorer, int(str(whole.params["judge_missing"])), whole.params["pool"])
        for construct, scorer, means in _leading(analysis)
        for whole in means[:1]
        if whole.defined and whole.params["judge_missing"]
    ]
    if found:
        counts = [
            f"{missing:,} of {pool:,} on {c} ({scorer})" for c, scorer, missing, pool in found
        ]
        yield (
            f"Responses without a score: {listed(counts)}; they stand at the mean of the others, "
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


SECTION = Section(
    key="corrected",
    title="Corrected scores",
    statistics=(
        *estimates.STATISTICS,
        *composite.STATISTICS,
    ),
    figures=(figures.corrected_means, figures.composite_correlations),
    tables=(tables.corrected_means, tables.corrected_differences, tables.composite_table),
    reading=reading,
)
