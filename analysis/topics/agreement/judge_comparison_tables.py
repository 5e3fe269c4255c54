"""Sentences and tables of the comparison of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import listed, p_value
from analysis.render.table import Cell, TableBuilder
from analysis.render.table_of import (
    Column,
    Line,
    TableOf,
    TableRow,
    each,
    formatted,
    human_scale,
    in_words,
    param,
)
from analysis.topics.agreement.judge_comparison import leading_measure

#: Ids of statistics whose heading names a measure of judge_difference that has none of its own.
_HEADING_OF = {"calibrated_pairwise_accuracy": "pairwise_accuracy"}

#: What the heading does not state.
_WITH = {"calibrated_pairwise_accuracy": ", best tie threshold"}

SCOPES = {
    "within_query": "within a query",
    "pooled": "over all responses",
    "system_level": "between systems",
}


def reading(analysis: Analysis) -> Iterator[str]:
    """Which judges order responses better than which, by construct."""
    for construct in analysis.rated:
        placed = analysis.estimates.select("judge_rank", construct=construct)
        if not placed or not placed[0].defined:
            continue
        measure = leading_measure(analysis.context, construct)
        orders = measure == "kendall_tau_b"
        where = f" {SCOPES[placed[0].scope]}" if orders else ""
        pairs = [
            e
            for e in _ranking(analysis, construct, placed[0].scope)
            if analysis.claims.hold("agreement", e)
        ]
        if not pairs:
            names = listed([e.scorers[0] for e in placed])
            does = "order responses" if orders else "choose categories"
            yield f"{construct}: {names} cannot be distinguished in how they {does}{where}."
            continue
        outcomes = []
        for e in pairs:
            first, second = e.scorers[:2] if e.value > 0 else e.scorers[1::-1]
            outcomes.append(f"{first} better than {second}")
        others = "; the others cannot be distinguished"
        all_differ = len(pairs) == len(placed) * (len(placed) - 1) // 2
        in_what = f"how they order responses{where} (tau-b" if orders else "categories (kappa"
        yield f"{construct}: {listed(outcomes)} in {in_what}){'' if all_differ else others}."


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The differences from which a judge is called better than another."""
    for construct in analysis.rated:
        placed = analysis.estimates.first("judge_rank", construct=construct)
        if placed is not None and placed.defined:
            yield from _ranking(analysis, construct, placed.scope)


def _ranking(analysis: Analysis, construct: str, scope: str) -> list[Estimate]:
    """Differences of judges in the measure by which they are ranked."""
    measure = leading_measure(analysis.context, construct)
    return analysis.estimates.select(
        "judge_difference", construct=construct, scope=scope, measure=measure
    )


ranks_table = TableOf(
    "judge-ranks",
    "Judges in order",
    "By tau-b with people, on nominal scales by kappa, on the responses that two judges both "
    "scored. Brackets: the places that remain possible, from significant differences (Holm's "
    "adjustment over all pairs of judges and constructs). Every judge of a group is "
    "significantly better than every one of a later group.",
    each("judge_rank", sort=lambda e: (e.constructs, e.value)),
    ("construct", "judge", formatted("judge_rank", ".0f"), param("group", "Group"),
     in_words("Pairs of responses", lambda row: SCOPES[row.estimate.scope])),
)  # fmt: skip


def _measure(row: TableRow) -> str:
    e = row.estimate
    return f"{measure_name(row.analysis.headings, str(e.params['measure']))}, {SCOPES[e.scope]}"


def _value(row: TableRow, built: TableBuilder) -> Cell:
    if row.estimate.params["measure"] == "rmse":
        return built.points(row.estimate, human_scale(row))
    return built.r(row.estimate)


def _on_williams(_analysis: Analysis, rows: Line) -> str:
    if not any("williams_p" in row.estimate.params for row in rows):
        return ""
    return (
        " Williams' test of two correlations takes responses as independent, so that it is "
        "made only where no two responses belong to one query; it is not adjusted."
    )


differences_table = TableOf(
    "judge-differences",
    "Differences between judges",
    "Agreement of the first judge with people minus that of the second, on the responses that "
    "both scored and people rated; of the root mean squared error, in points, the smaller is "
    "the better one. Best tie threshold: of each judge, chosen anew in every permutation. p: "
    "the two judges' scores, standardized but for the root mean squared error and kappa, "
    "change places query by query. Adjusted: by Holm's method over all pairs of judges and "
    "constructs in one measure.",
    each("judge_difference"),
    ("construct", in_words("Judges", "{e.scorers[0]} minus {e.scorers[1]}"),
     in_words("Measure", _measure), Column("{judge_difference}", _value),
     param("permutation_p", "Permutation p", p_value), param("holm", "Adjusted p", p_value),
     param("williams_p", "Williams' p", p_value), "queries"),
    heads=3,
    note=_on_williams,
)  # fmt: skip


def measure_name(headings: Mapping[str, str], measure: str) -> str:
    """Heading of a measure of `judge_difference`."""
    return headings[_HEADING_OF.get(measure, measure)] + _WITH.get(measure, "")
