"""Correlations averaged over queries or over systems, and those over all responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.render.table_of import TableOf, TableRow, coefficient, each, in_words
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.averaged_by_group import (
    averaged_over_queries,
    averaged_over_systems,
)

Measure = Literal["pearson", "kendall_tau_b"]
MEASURES: tuple[Measure, ...] = ("pearson", "kendall_tau_b")


def averages(context: Context) -> Iterator[Estimate]:
    """`average_correlation` over queries with several responses, and over systems."""
    for scored in context.scored():
        for measure in MEASURES:
            if scored.data.several_a_query:
                within = _correlation(scored, measure, None)
                averaged, without = averaged_over_queries(within)
                params = {"measure": measure, "groups": within.n_queries, "undefined": without}
                yield context.estimate(
                    "average_correlation", averaged, transform="fisher_z", params=params,
                    **scored.record("within_query"),
                )  # fmt: skip
            systems = [_correlation(scored, measure, name) for name in scored.data.systems]
            rated = [system for system in systems if system.n_responses]
            if len(rated) > 1:
                averaged, without = averaged_over_systems(rated)
                params = {"measure": measure, "groups": len(rated), "undefined": without}
                yield context.estimate(
                    "average_correlation", averaged, transform="fisher_z", params=params,
                    **scored.record("pooled"),
                )  # fmt: skip


def _correlation(scored: ComparedScores, measure: Measure, system: str | None) -> QueryStatistic:
    """Within queries, or over the responses of a system."""
    data = scored.data
    return association(
        measure,
        scored.values,
        np.asarray(data.reference),
        data.query,
        "within_query" if system is None else "pooled",
        items=None if system is None else data.produced_by(system),
        n_queries=data.n_queries,
    )


STATISTICS = (
    Statistic(
        "average_correlation",
        "Average",
        "mean of the correlations of the responses to one query (scope within_query; two responses "
        "or more), or of the responses of one system (pooled), each group counted once "
        "(params.measure: pearson, kendall_tau_b); params.undefined of params.groups have none, "
        "since all values of one side are equal or they are too few, and do not enter",
        averages,
        range=(-1, 1),
        better="higher",
        scopes=("within_query", "pooled"),
        targets=("these_raters",),
        source="Deutsch, Foster and Freitag 2023",
    ),
)

_GROUPS = {"within_query": "queries", "pooled": "systems"}


def _over_all_responses(row: TableRow) -> Estimate | None:
    where = {"construct": row.construct, "scorer": row.scorer, "scope": "pooled"}
    return row.analysis.estimates.first(row.where["measure"], **where)


by_group_table = TableOf(
    "averaged-by-group",
    "Correlations averaged over queries or systems",
    "The correlation of the responses to each query, or of each system, averaged, and the "
    "one over all responses. A group in which all values of one side are equal has none.",
    each("average_correlation", "scope", "measure",
         per=lambda e: (e.constructs, e.scorers, e.scope)),
    ("construct", "scorer", in_words("Averaged over", lambda row: _GROUPS[row.where["scope"]]),
     "measure", "average_correlation", coefficient(_over_all_responses, "All responses"),
     in_words("Undefined", "{e.params[undefined]} of {e.params[groups]}")),
    heads=4,
)  # fmt: skip
