"""The figures on constructs among each other: heat maps of their correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import Drawing, Figure
from analysis.render.formatting import counted, listed
from analysis.render.heat_map import NAME_ROOM, described, heat_map, matrix
from analysis.render.labels import distinct_labels

MEASURES = {"pearson": "Pearson", "spearman": "Spearman", "kendall_tau_b": "Kendall tau-b"}

#: Judges and systems drawn; more are left to the table and to estimates.csv.
JUDGES_DRAWN, SYSTEMS_DRAWN, CONSTRUCTS_DRAWN = 2, 8, 12


def correlation_matrices(analysis: Analysis) -> Iterator[Figure]:
    """Averages in three measures, then Pearson within each system."""
    scorers = scorers_correlated(analysis)
    drawn, omitted = scorers[:JUDGES_DRAWN], scorers[JUDGES_DRAWN:]
    several = len(scorers) > 1
    rest = f" Not drawn, see the table: {listed(omitted)}." if omitted else ""
    averaged, used = _drawn(_averages(analysis, drawn, several))
    systems = systems_correlated(analysis)
    if averaged:
        over = (
            f"The average over {len(systems)} systems by Fisher's z of the correlations within "
            "each system"
            if len(systems) > 1
            else "Over all responses"
        )
        yield Figure(
            key="construct-correlations",
            title="How strongly a judge's constructs correlate",
            caption=(
                f"{over}. The stronger the color of a cell, the larger the correlation; negative "
                f"ones are grey. A dash: undefined, with the reason in the data.{rest}"
            ),
            drawings=averaged,
            data=to_frame(used),
        )
    if len(systems) < 2:
        return
    drawings, used = _drawn(_by_system(analysis, drawn, systems[:SYSTEMS_DRAWN], several))
    more = f" The first {SYSTEMS_DRAWN} systems are drawn." if len(systems) > SYSTEMS_DRAWN else ""
    yield Figure(
        key="construct-correlations-by-system",
        title="The same within each system",
        caption=f"Pearson correlations over the responses of one system.{more}{rest}",
        drawings=drawings,
        data=to_frame(used),
    )


def scorers_correlated(analysis: Analysis) -> list[str]:
    """Judges and metrics with correlations between constructs, in the order of the records."""
    correlations = analysis.estimates.select("construct_correlation")
    return list(dict.fromkeys(e.scorers[0] for e in correlations))


def systems_correlated(analysis: Analysis) -> list[str]:
    """Systems within which constructs were correlated."""
    correlations = analysis.estimates.select("construct_correlation")
    return list(dict.fromkeys(e.systems[0] for e in correlations if e.systems))


def average_or_pooled(analysis: Analysis, scorer: str, measure: str) -> list[Estimate]:
    """The average over systems of each pair; else that of one system or of all responses."""
    averages = analysis.estimates.select(
        "construct_correlation_average", scorer=scorer, measure=measure
    )
    return averages or analysis.estimates.select(
        "construct_correlation", scorer=scorer, measure=measure
    )


#: Key, heading and correlations of a matrix.
_Matrix = tuple[str, tuple[str, ...], list[Estimate]]


def _averages(analysis: Analysis, scorers: Sequence[str], several: bool) -> Iterator[_Matrix]:
    for number, scorer in enumerate(scorers):
        for measure, name in MEASURES.items():
            key = f"construct-correlations-{number}-{measure}"
            correlations = average_or_pooled(analysis, scorer, measure)
            yield key, (name, scorer if several else ""), correlations


def _by_system(
    analysis: Analysis, scorers: Sequence[str], systems: Sequence[str], several: bool
) -> Iterator[_Matrix]:
    short = distinct_labels(systems, NAME_ROOM)
    for number, scorer in enumerate(scorers):
        for place, system in enumerate(systems):
            key = f"construct-correlations-{number}-of-{place}"
            where = {"scorer": scorer, "scope": f"system:{system}", "measure": "pearson"}
            correlations = analysis.estimates.select("construct_correlation", **where)
            yield key, (short[place], scorer if several else ""), correlations


def _drawn(matrices: Iterable[_Matrix]) -> tuple[tuple[Drawing, ...], list[Estimate]]:
    """The matrices with few enough constructs, and their correlations."""
    drawings, used = [], []
    for key, heading, correlations in matrices:
        constructs = list(dict.fromkeys(name for e in correlations for name in e.constructs))
        if 0 < len(constructs) <= CONSTRUCTS_DRAWN:
            values = {(e.constructs[0], e.constructs[1]): e.value for e in correlations}
            drawings.append(matrix(key, heading, constructs, values))
            used += correlations
    return tuple(drawings), used


#: Rows and columns drawn.
MOST = 20


def metric_sets(analysis: Analysis) -> Iterator[Figure]:
    """Rows: scores outside the second set; columns: those in it."""
    correlations = [e for e in analysis.estimates.select("metric_set_correlation") if e.constructs]
    sides = [list(dict.fromkeys(_scored(e, side) for e in correlations)) for side in (0, 1)]
    rows, columns = sides
    if not rows or not columns or len(rows) > MOST or len(columns) > MOST:
        return
    values = np.full((len(rows), len(columns)), np.nan)
    for e in correlations:
        values[rows.index(_scored(e, 0)), columns.index(_scored(e, 1))] = e.value
    names = [_named(side) for side in sides]
    systems = len(analysis.scores.systems)
    over = (
        f"within each system, averaged over {systems} systems by Fisher's z"
        if systems > 1
        else "over all responses"
    )
    pairs = {
        (names[0][rows.index(_scored(e, 0))], names[1][columns.index(_scored(e, 1))]): e.value
        for e in correlations
    }
    yield Figure(
        key="metric-sets",
        title="The constructs and the second set of metrics",
        caption=f"Pearson correlations {over}. A dash: undefined, with the reason in the data.",
        drawings=(
            heat_map(
                "metric-sets", ("Pearson",), names[0], names[1], values,
                described(pairs),
            ),
        ),
        data=to_frame(correlations),
    )  # fmt: skip


def _scored(estimate: Estimate, side: int) -> tuple[str, str]:
    return estimate.constructs[side], estimate.scorers[side]


def _named(scored: list[tuple[str, str]]) -> list[str]:
    """The construct, with its scorer where the construct has several."""
    constructs = [construct for construct, _ in scored]
    return [
        f"{construct}, {scorer}" if constructs.count(construct) > 1 else construct
        for construct, scorer in scored
    ]


#: Constructs by methods drawn; a larger matrix is in estimates.csv.
VARIABLES_DRAWN = 20


def multitrait(analysis: Analysis) -> Iterator[Figure]:
    """Methods in blocks; the correlations of one construct across methods are marked."""
    correlations = analysis.estimates.select("mtmm_correlation")
    variables = list(
        dict.fromkeys(
            variable
            for e in correlations
            for variable in zip((e.params["first"], e.params["second"]), e.constructs, strict=True)
        )
    )
    if not 3 <= len(variables) <= VARIABLES_DRAWN:
        return
    # Pairs are in the order of the variables; the last variable is only ever second.
    place = {variable: i for i, variable in enumerate(variables)}
    values = np.full((len(variables), len(variables)), np.inf)
    strong = set()
    for e in correlations:
        first, second = zip((e.params["first"], e.params["second"]), e.constructs, strict=True)
        i, j = sorted((place[first], place[second]))
        values[j, i] = e.value
        if e.params["kind"] == "monotrait_heteromethod":
            strong.add((j, i))
    names = [f"{trait}, {method}" for method, trait in variables]
    low = min(e.n_responses for e in correlations)
    high = max(e.n_responses for e in correlations)
    common = correlations[0].params["items"] == "common"
    over = (
        f"over the {counted(low, 'response')} that have every value"
        if common
        else f"each over the {low:,} to {high:,} responses with its two values"
    )
    pairs = {
        (
            f"{e.constructs[0]} of {e.params['first']}",
            f"{e.constructs[1]} of {e.params['second']}",
        ): e.value
        for e in correlations
    }
    yield Figure(
        key="multitrait",
        title="Does a construct agree with itself across methods, more than with other constructs?",
        caption=(
            f"Multitrait-multimethod matrix: Pearson correlations {over}. In frames and bold: one "
            "construct by two methods (convergent); they should exceed the other figures of "
            "their row and column. Blocks on the diagonal: different constructs by one method. "
            "People: a response's human reference, whose constructs may share halo."
        ),
        drawings=(
            heat_map(
                "multitrait", ("Constructs by method",), names[1:], names[:-1],
                values[1:, :-1], described(pairs),
                strong=lambda i, j: (i + 1, j) in strong,
            ),
        ),
        data=to_frame(correlations),
        wide=True,
    )  # fmt: skip
