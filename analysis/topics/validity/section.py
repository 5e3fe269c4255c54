"""Section of the report: whether constructs measure different things."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation, listed
from analysis.render.section import Section
from analysis.topics.validity import figures, human_constructs, judge_constructs, multitrait, tables

#: An HTMT above this means that two constructs are hardly distinguished (Henseler et al. 2015).
HARDLY_DISTINCT = 0.9

#: Pairs of methods with a sentence; the others are in the table.
METHODS_SUMMARIZED = 2


def reading(analysis: Analysis) -> Iterator[str]:
    """What goes together for the judge, for people, and across both."""
    yield from _judge(analysis)
    yield from _people(analysis)
    yield from islice(_methods(analysis), METHODS_SUMMARIZED)


def _judge(analysis: Analysis) -> Iterator[str]:
    for scorer in figures.scorers_correlated(analysis)[:1]:
        correlations = [
            e for e in figures.average_or_pooled(analysis, scorer, "pearson") if e.has_interval
        ]
        if len(figures.systems_correlated(analysis)) == 1:
            correlations = [e for e in correlations if e.systems]
        if not correlations:
            continue
        within = " within a system" if figures.systems_correlated(analysis) else ""
        high = max(correlations, key=lambda e: e.value)
        low = min(correlations, key=lambda e: e.value)
        if high is low:
            yield f"{scorer}: {_pair(high)} correlate {_stated(high)}{within}."
        else:
            yield (
                f"{scorer}: of its constructs {_pair(high)} correlate most ({_stated(high)}"
                f"{within}), {_pair(low)} least ({_stated(low)})."
            )


def _people(analysis: Analysis) -> Iterator[str]:
    select, first = analysis.estimates.select, analysis.estimates.first
    pairs = []
    for halo in select("halo"):
        parts = [
            next(
                e
                for e in select("human_construct_correlation", raters=raters)
                if e.constructs == halo.constructs
            )
            for raters in ("same", "cross")
        ]
        if halo.has_interval:
            pairs.append((halo, *parts))
    if not pairs:
        return
    halo, same, cross = max(pairs, key=lambda halo_and_parts: halo_and_parts[0].value)
    average = first("halo_average")
    all_words = (
        " over all pairs of constructs halo, what a rater carries from one to another, is "
        f"{_stated(average)}."
        if average is not None and average.has_interval
        else ""
    )
    # The largest of several is large by chance as well, and so it is called the largest.
    largest = f" Largest of {len(pairs)} pairs:" if len(pairs) > 1 else ""
    yield (
        f"People:{all_words}{largest} {_pair(halo)} correlate {correlation(same.value)} within a "
        f"rater and {correlation(cross.value)} across raters: halo {_stated(halo)}."
    )


def _methods(analysis: Analysis) -> Iterator[str]:
    select, first = analysis.estimates.select, analysis.estimates.first
    for convergent in select("mtmm_convergent"):
        where = {key: str(convergent.params[key]) for key in ("first", "second")}
        heterotrait = first("mtmm_heterotrait", **where)
        apart = first("mtmm_discriminant", **where)
        if not convergent.defined or heterotrait is None or apart is None or not apart.has_interval:
            continue
        close = [
            e
            for e in select("htmt", methods="two", **where)
            if e.defined and e.value > HARDLY_DISTINCT
        ]
        pairs = select("htmt", methods="two", **where)
        defined = sum(e.defined for e in pairs)
        undefined = (
            f" ({len(pairs) - defined} of {len(pairs)} undefined)" if defined < len(pairs) else ""
        )
        about_htmt = (
            f" Hardly distinguished (HTMT above {correlation(HARDLY_DISTINCT)}): "
            f"{listed([_pair(e) for e in close])}."
            if close
            else f" No two constructs have an HTMT above {correlation(HARDLY_DISTINCT)}{undefined}."
            if defined
            else ""
        )
        yield (
            f"{where['first'].capitalize() if where['first'] == 'people' else where['first']} and "
            f"{where['second']}: a construct correlates {correlation(convergent.value)} with "
            f"itself and {correlation(heterotrait.value)} with other constructs, a difference of "
            f"{_stated(apart)}.{about_htmt}"
        )


def _pair(estimate: Estimate) -> str:
    return " and ".join(estimate.constructs)


def _stated(estimate: Estimate) -> str:
    return f"{correlation(estimate.value)} {between(estimate)}".strip()


SECTION = Section(
    key="validity",
    title="Constructs among each other",
    statistics=(
        *judge_constructs.STATISTICS,
        *human_constructs.STATISTICS,
        *multitrait.STATISTICS,
    ),
    figures=(figures.correlation_matrices, figures.multitrait, figures.metric_sets),
    tables=(tables.construct_correlations, tables.people, tables.methods, tables.second_set),
    details=("human-constructs", "methods-and-constructs"),
    reading=reading,
)
