"""Whether a judge can replace a rater: the alternative annotator test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.statistic import Statistic
from analysis.render.table_of import TableOf, TableRow, each, formatted, in_words, param
from analysis.statistics.agreement.alternative_annotator import (
    Alignment,
    AlternativeAnnotator,
    alternative_annotator,
    constant_judge,
)

#: Name of the constant judge among the scorers of a record.
CONSTANT = "constant"
_SCOPES: tuple[Scope, ...] = ("within_query", "pooled")


def alternative_annotators(context: Context, only: Alignment | None = None) -> Iterator[Estimate]:
    """`alt_test_winning_rate` and `alt_test_advantage_probability` of judges and of a constant.

    `only` restricts the measures of closeness on ordered values.
    """
    for data, construct_scores in groupby(context.scored("judges"), key=lambda scored: scored.data):
        if data.reference_kind == "adjudicated":
            continue
        judges = list(construct_scores)
        for alignment in _alignments(context, data.construct):
            if only is not None and alignment not in {only, "equality"}:
                continue
            constant = _test(context, data, constant_judge(data.ratings, alignment), alignment)
            for scored in judges:
                yield from _judge_estimates(context, scored, alignment, constant)
            if any(scored.withheld is None for scored in judges):
                yield from _records(context, data, CONSTANT, constant, alignment, None)


def _alignments(context: Context, construct: str) -> tuple[Alignment, ...]:
    return ("equality",) if context.nominal([construct]) else ("rmse", "absolute_error")


def _test(
    context: Context, data: ConstructData, values: FloatArray, alignment: Alignment
) -> AlternativeAnnotator:
    epsilon = context.options.alt_test_epsilon
    return alternative_annotator(
        values, data.ratings, data.query, epsilon, alignment, data.n_queries
    )


def _judge_estimates(
    context: Context, scored: ComparedScores, alignment: Alignment, constant: AlternativeAnnotator
) -> Iterator[Estimate]:
    data, judge, values, withheld = scored
    if withheld is None:
        test = _test(context, data, values, alignment)
        yield from _records(context, data, judge, test, alignment, constant)
        return
    record = _record(context, data, judge, alignment)
    for name in ("alt_test_winning_rate", "alt_test_advantage_probability"):
        yield Estimate(name, reason=withheld, **record)


def _record(
    context: Context, data: ConstructData, scorer: str, alignment: Alignment
) -> dict[str, Any]:
    return {
        "constructs": (data.construct,),
        "scorers": (scorer, *data.raters),
        "target": "these_raters",
        "params": {"alignment": alignment, "epsilon": context.options.alt_test_epsilon},
    }


def _records(
    context: Context,
    data: ConstructData,
    scorer: str,
    test: AlternativeAnnotator,
    alignment: Alignment,
    constant: AlternativeAnnotator | None,
) -> Iterator[Estimate]:
    """Both figures; a pass is withheld where the constant judge passes as well."""
    record = _record(context, data, scorer, alignment)
    excluded = "; ".join(f"{data.raters[at]}: {why}" for at, why in test.excluded.items())
    passed = None if test.passed is None else "yes" if test.passed else "no"
    note = None
    if constant is not None and constant.passed:
        passed, note = "withheld", "a constant judge, the mean of all ratings, passes as well"
    params = record.pop("params") | {
        "passed": passed,
        "note": note,
        "replaced": sum(test.replaced) if test.reason is None else None,
        "excluded": excluded or None,
        "passed_p": test.passed_p,
        "failed_p": test.failed_p,
    }
    statistic = test.advantage
    reason = test.reason
    if reason and excluded:
        reason = f"{reason} ({excluded})"
    yield Estimate(
        "alt_test_winning_rate",
        value=test.winning_rate,
        **statistic.counts,
        n_raters=len(test.used),
        reason=reason,
        params=params,
        **record,
    )
    advantage = context.estimate(
        "alt_test_advantage_probability", statistic, transform="logit",
        n_raters=len(test.used), params=params, **record,
    )  # fmt: skip
    yield advantage if advantage.defined else replace(advantage, reason=reason)


STATISTICS = (
    Statistic(
        "alt_test_winning_rate",
        "Winning rate",
        "share of raters that the judge may replace, p-values adjusted by Benjamini and Yekutieli "
        "at .05 (params.alignment rmse, absolute_error or equality; params.epsilon; params.passed "
        "yes, no or withheld; params.passed_p of the pass, failed_p of its contrary); `scorers` "
        "begin with the judge, or with `constant` for the "
        "constant judge",
        alternative_annotators,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
        source="Calderon, Reichart and Dror 2025",
        nominal=True,
    ),
    Statistic(
        "alt_test_advantage_probability",
        "Advantage",
        "share of responses on which the judge is at least as close to the others as the left-out "
        "rater, averaged over raters",
        alternative_annotators,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
        source="Calderon, Reichart and Dror 2025",
        nominal=True,
    ),
)


def _where_any_is_defined(analysis: Analysis) -> Iterator[TableRow]:
    """That two raters are too few is stated once, in the section on what is not established."""
    rows = list(each("alt_test_winning_rate", "scorers", "alignment")(analysis))
    if any(row.estimate.defined for row in rows):
        yield from rows


def _named(row: TableRow) -> str:
    constant = row.scorer == CONSTANT
    return "a constant: the mean of all ratings" if constant else row.scorer


alternative_annotator_table = TableOf(
    "alternative-annotator",
    "Can the judge replace a rater?",
    "Alternative annotator test: share of raters that the judge may replace (half or more "
    "passes), and how often it is at least as close to the other raters as the left-out rater. "
    "Allowance epsilon {alt_test_epsilon:g}; p-values clustered by query and adjusted over "
    "raters. Where a constant passes as well, the judge's pass is withheld.",
    _where_any_is_defined,
    ("construct", in_words("Scorer", _named),
     in_words("Closeness", lambda row: row.where["alignment"].replace("_", " ")),
     formatted("alt_test_winning_rate", ".0%"), formatted("alt_test_advantage_probability", ".2f"),
     param("passed", "Passed"), "raters"),
)  # fmt: skip
