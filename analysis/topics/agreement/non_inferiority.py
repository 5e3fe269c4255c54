"""Non-inferiority of a judge to a rater, by a declared margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from analysis.core.analysis import Analysis
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.interval import Interval
from analysis.core.pairs import Scope
from analysis.core.statistic import ORDER, Statistic, Target
from analysis.render.table_of import TableOf, each, in_words, param
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.topics.agreement import few_queries
from analysis.topics.agreement.human_ceiling import ADJUDICATED

_SCOPES: tuple[Scope, ...] = ("within_query", "pooled")


def non_inferiority(context: Context) -> Iterator[Estimate]:
    """`non_inferiority` of each judge to a rater, where a margin was declared."""
    margin = context.options.non_inferiority_margin
    if margin is None:
        return
    for scored in context.scored("judges", without_reference=True):
        if scored.data.raters or scored.data.adjudicated:
            for scope in _SCOPES:
                yield from _non_inferior(context, scored, scope, margin)


def _non_inferior(
    context: Context, scored: ComparedScores, scope: Scope, margin: float
) -> Iterator[Estimate]:
    """The difference from a rater, its lower end a one-sided bound at the report's level."""
    data, scorer, values, _ = scored
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": (scorer, *data.raters),
        "scope": scope,
    }
    params: dict[str, str | float | None] = {"margin": margin, "measure": ORDER}
    if data.reference_kind == "adjudicated":
        record["target"] = "these_raters"
        yield Estimate("non_inferiority", reason=ADJUDICATED, params=params, **record)
        return
    ceiling = human_ceiling(
        data.ratings, values, data.query, scope, ORDER, n_queries=data.n_queries
    )
    difference = ceiling.difference
    assert difference is not None  # noqa: S101  (a judge was given)
    one_sided = context.options.level
    resampling = context.rated_resampling
    # Both ends at this level have the error of one in each tail.
    two_sided = replace(resampling, level=2 * one_sided - 1)
    intervals: dict[Target, Interval] = {
        "these_raters": two_sided.interval_of(resampling.replicates(difference)),
        "raters_like_these": beside_a_further_rater(ceiling, two_sided),
    }
    for target, interval in intervals.items():
        outcome = None if interval.reason else "yes" if interval.low > -margin else "no"
        yield Estimate(
            "non_inferiority",
            value=difference.point,
            **interval.fields,
            **difference.counts,
            n_raters=len(ceiling.used),
            reason=difference.reason or interval.reason,
            target=target,
            params=params | {"one_sided_level": one_sided, "non_inferior": outcome},
            **record,
        )


STATISTICS = (
    Statistic(
        "non_inferiority",
        "Difference",
        "`judge_against_others` minus `human_ceiling` (params.measure: kendall_tau_b), with "
        "params.non_inferior at params.margin",
        non_inferiority,
        range=(-2, 2),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters", "raters_like_these"),
    ),
)


#: The rater that a judge is compared with, by target.
RATER = {"these_raters": "one of these raters", "raters_like_these": "a rater like these"}


def _bound(analysis: Analysis) -> str:
    level = analysis.options.level
    return (
        f" Brackets: {2 * level - 1:.0%} intervals, whose lower end is a bound at {level:.0%}; the "
        "judge is no worse where it is above minus the margin."
        f"{few_queries.non_inferior(analysis)}"
    )


non_inferiority_table = TableOf(
    "non-inferiority",
    "No worse than a rater, by the declared margin",
    "Judge minus rater, Kendall's tau-b with the mean of the other raters.",
    each("non_inferiority", "scope"),
    ("construct", "scorer", "scope",
     in_words("Compared with", lambda row: RATER[row.estimate.target or "these_raters"]),
     "non_inferiority", param("margin", "Margin", "g"), param("non_inferior", "No worse"),
     "queries"),
    heads=4,
    note=lambda analysis, _rows: _bound(analysis),
)  # fmt: skip
