"""Section of the report: several judges, each against people and against each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import Figure
from analysis.render.formatting import correlation, counted, listed
from analysis.render.heat_map import matrix
from analysis.render.section import Section
from analysis.render.table_of import (
    TableOf,
    TableRow,
    coefficient,
    each,
    formatted,
    in_points,
    in_words,
    number_of,
    scorer_scale,
)
from analysis.render.verdict_facts import VerdictFacts
from analysis.statistics.stability.run_factors import never_alone
from analysis.topics.judges import estimates
from analysis.topics.stability.section import by_difference

#: Pairs in the table, and judges in a drawing; the CSV has all.
ROWS_SHOWN, JUDGES_DRAWN = 30, 12


def reading(analysis: Analysis) -> Iterator[str]:
    """How far apart the judges are, from people and from each other."""
    for data, judges in estimates.judges_on(analysis.context):
        measure = "kappa" if analysis.context.nominal([data.construct]) else "pearson"
        pairs = [
            e.value
            for e in analysis.estimates.select(
                "judge_agreement", construct=data.construct, measure=measure
            )
            if e.defined
        ]
        if pairs:
            figure = "a kappa" if measure == "kappa" else "a correlation within queries"
            spread = f" ({correlation(min(pairs))} to {correlation(max(pairs))})"
            yield (
                f"{data.construct}: two of {counted(len(judges), 'judge')} agree with each other "
                f"by {figure} of {correlation(float(np.mean(pairs)))}"
                f"{' on average' + spread if len(pairs) > 1 else ''}."
            )
    yield from _confounded(analysis)


def _confounded(analysis: Analysis) -> Iterator[str]:
    variances = analysis.estimates.select("variance_between_judges")
    by_construct: dict[str, set[tuple[str, ...]]] = {}
    for e in variances:
        apart = tuple(str(e.params["differ"]).split(" + "))
        by_construct.setdefault(e.constructs[0], set()).add(apart)
    stated = set()
    for sets in by_construct.values():
        found_with = never_alone(sorted(sets))
        for name, others in found_with.items():
            both = [other for other in others if name in found_with.get(other, ())]
            group = tuple(sorted((name, *both)))
            required = tuple(other for other in others if other not in both)
            if (group, required) not in stated:
                stated.add((group, required))
                yield _never_alone(group, required)


def _never_alone(group: tuple[str, ...], required: tuple[str, ...]) -> str:
    """What differs only together, and only where others do that may differ without it."""
    where = f"only where {listed(required)} {'does' if len(required) == 1 else 'do'}"
    if len(group) > 1:
        only = f", and {where}" if required else ""
        return (
            f"Between judges {listed(group)} differ only together{only}: their "
            "effects are confounded."
        )
    if required:
        return f"Between judges {group[0]} differs {where}: its effect is confounded."
    return f"No two judges differ in {group[0]} alone: its effect is confounded."


def _judges_and_juries(analysis: Analysis) -> Iterator[TableRow]:
    for data, judges in estimates.judges_on(analysis.context):
        if not data.reference_missing:
            juries = [name for name in data.judges if name in analysis.options.derived_from]
            for judge in (*judges, *juries):
                yield TableRow(analysis, {"construct": data.construct, "scorer": judge})


def _kappa(row: TableRow) -> Estimate | None:
    return row.first("cohen_kappa", weights="quadratic") or row.first("cohen_kappa", weights="none")


def _replaced(row: TableRow) -> Estimate | None:
    rates = row.analysis.estimates.select("alt_test_winning_rate", **row.where)
    return next((e for e in rates if e.params["alignment"] in {"rmse", "equality"}), None)


beside_each_other = TableOf(
    "judges",
    "Judges compared with people",
    "Each judge against {reference_words}: Pearson's r and tau-b within a query, r "
    "minus that of a rater; r over all responses, bias and mean absolute difference in points; "
    "Cohen's kappa with a rater (quadratic weights; on nominal scales without weights, with "
    "the share of equal categories and the kappa minus that of a rater); share of raters that "
    "the judge may replace. Overlapping intervals of two judges do not show that they agree "
    "equally well, since both are compared with the same ratings.",
    _judges_and_juries,
    ("construct", "scorer",
     coefficient("pearson", "{pearson} within a query", scope="within_query"),
     coefficient("kendall_tau_b", "{kendall_tau_b} within a query", scope="within_query"),
     coefficient("human_ceiling_difference", "{human_ceiling_difference} from a rater",
                 measure="pearson", scope="within_query"),
     coefficient("pearson", "{pearson} pooled", scope="pooled"),
     in_points(lambda row: VerdictFacts(row.analysis, row.construct, row.scorer).bias, "{bias}"),
     in_points("mae", scope="pooled"), formatted("equal_categories", ".0%"),
     coefficient(_kappa, "{cohen_kappa}"),
     coefficient("kappa_difference", "{cohen_kappa} minus a rater's"),
     formatted(_replaced, ".0%", "{alt_test_winning_rate}"),
     number_of("n_responses", "Responses", lambda row: (
         row.first("pearson", scope="pooled") or row.first("equal_categories")))),
)  # fmt: skip


with_each_other = TableOf(
    "judge-agreement",
    "Two judges on the same responses",
    "{judge_agreement}: correlation within queries; share of equal scores, on "
    "nominal scales with Cohen's kappa; mean distance in points, and concordance (equal "
    "values, not only equal order), for two judges on one scale.",
    each("judge_agreement", "scorers", per=lambda e: (e.constructs, e.scorers), most=1),
    ("construct", "scorer", in_words("Other scorer", "{e.scorers[1]}"),
     coefficient("judge_agreement", "{pearson} within a query", measure="pearson"),
     formatted("judge_agreement", ".0%", "{raw_agreement}", measure="share_equal"),
     coefficient("judge_agreement", "{cohen_kappa}", measure="kappa"),
     in_points("judge_agreement", "{mean_absolute_difference}", scorer_scale,
               measure="mean_absolute_difference"),
     coefficient("judge_agreement", "{ccc}", measure="ccc"), "responses"),
    heads=3,
    most=ROWS_SHOWN,
    cut=" The first {most} of {all} pairs.",
)  # fmt: skip


what_differs = by_difference(
    "variance_between_judges",
    "between-judges",
    "What moves scores between judges",
    "Pairs of judges by what differs between the two, which is all that differs, for judges "
    "whose model, prompts and settings are known. Attributes that differ together are "
    "confounded.",
)


def agreement_matrix(analysis: Analysis) -> Iterator[Figure]:
    """Correlations between judges, a matrix for each construct."""
    drawings, used = [], []
    for number, (data, judges) in enumerate(estimates.judges_on(analysis.context)):
        measure = "kappa" if analysis.context.nominal([data.construct]) else "pearson"
        pairs = analysis.estimates.select(
            "judge_agreement", construct=data.construct, measure=measure
        )
        if 2 < len(judges) <= JUDGES_DRAWN:
            used += pairs
            values = {(e.scorers[0], e.scorers[1]): e.value for e in pairs}
            drawings.append(matrix(f"judges-{number}", (data.construct,), judges, values))
    if drawings:
        yield Figure(
            key="judges",
            title="How far do the judges agree with each other?",
            caption="Correlation within queries of each two judges; on nominal scales kappa.",
            drawings=tuple(drawings),
            data=to_frame(used),
        )


SECTION = Section(
    key="judges",
    title="Several judges",
    statistics=estimates.STATISTICS,
    figures=(agreement_matrix,),
    tables=(beside_each_other, with_each_other, what_differs),
    reading=reading,
    on_categories=(reading, agreement_matrix, beside_each_other, with_each_other),
)
