"""The human ceiling and the judge's place against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from analysis.core.construct_data import mean_over
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.statistic import ORDER, Statistic
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.further_rater import (
    beside_a_further_rater,
    beside_the_average_rater,
)
from analysis.statistics.agreement.human_ceiling import CeilingMeasure, human_ceiling

MEASURES: tuple[CeilingMeasure, ...] = ("pearson", "kendall_tau_b")
SCOPES: tuple[Scope, ...] = ("pooled", "within_query")

#: The judge, a rater, and the difference of the two, in the order of a table's columns.
AGAINST_A_RATER = ("judge_against_others", "human_ceiling", "human_ceiling_difference")

ADJUDICATED = (
    "the reference is adjudicated: it favors the raters whose values it settled, so no human "
    "ceiling is given"
)


def ceilings(
    context: Context,
    measures: Sequence[CeilingMeasure] = MEASURES,
    scopes: Sequence[Scope] = SCOPES,
) -> Iterator[Estimate]:
    """`human_ceiling`, `judge_against_others` and their difference, by construct and scorer.

    Withheld against an adjudicated reference, which would favor those whose values it settled.
    """
    for scored in context.scored(without_reference=True):
        if scored.data.raters or scored.data.adjudicated:
            for measure in measures:
                for scope in scopes:
                    yield from _ceiling(context, scored, measure, scope)


def _ceiling(
    context: Context, scored: ComparedScores, measure: CeilingMeasure, scope: Scope
) -> Iterator[Estimate]:
    data, scorer, values, _ = scored
    names = ("human_ceiling", "judge_against_others", "human_ceiling_difference")
    withheld = (*names, "average_rater_difference") if measure == ORDER else names
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": (scorer, *data.raters),
        "scope": scope,
        "target": "these_raters",
    }
    if data.reference_kind == "adjudicated":
        for name in withheld:
            yield Estimate(name, reason=ADJUDICATED, params={"measure": measure}, **record)
        return
    result = human_ceiling(
        data.ratings, values, data.query, scope, measure, n_queries=data.n_queries
    )
    excluded = "; ".join(f"{data.raters[i]}: {why}" for i, why in result.excluded.items())
    params: dict[str, str | float | None] = {"measure": measure, "excluded": excluded or None}
    assert result.judge is not None  # noqa: S101  (a judge was given)
    assert result.difference is not None  # noqa: S101
    rater, judge = map(context.rated_resampling.replicates, (result.rater, result.judge))
    # The difference is formed from the resamples of the two, which are expensive.
    both = judge - rater if judge.values.size == rater.values.size else None
    parts = (result.rater, result.judge, result.difference)
    tied = (*result.undefined_shares, None)
    for name, statistic, replicates, share in zip(
        names, parts, (rater, judge, both), tied, strict=True
    ):
        estimate = context.estimate(
            name,
            statistic,
            transform=None if name == "human_ceiling_difference" else "fisher_z",
            replicates=replicates,
            n_raters=len(result.used),
            params=params if share is None else params | {"undefined_share": share},
            **record,
        )
        if statistic.reason and excluded:
            estimate = replace(estimate, reason=f"{statistic.reason} ({excluded})")
        yield estimate
    # The last one is the difference.
    interval = beside_a_further_rater(result, context.rated_resampling)
    yield replace(
        estimate,
        target="raters_like_these",
        **interval.fields,
        reason=estimate.reason if result.difference.reason else interval.reason,
        params=params,
    )
    if measure == ORDER:
        average = beside_the_average_rater(result, context.rated_resampling)
        yield replace(
            estimate,
            statistic="average_rater_difference",
            target="raters_like_these",
            **average.fields,
            reason=estimate.reason if result.difference.reason else average.reason,
            params=params,
        )


def raters_against_others(
    context: Context,
    measures: Sequence[CeilingMeasure] = MEASURES,
    scopes: Sequence[Scope] = SCOPES,
) -> Iterator[Estimate]:
    """`rater_against_others`: each rater's correlation with the mean of the other raters."""
    for construct, data in context.rated.items():
        if len(data.raters) < 2:
            continue
        for column, rater in enumerate(data.raters):
            ratings = data.ratings[:, column]
            rated = np.isfinite(ratings)
            others = np.full(len(ratings), np.nan)
            others[rated] = mean_over(np.delete(data.ratings[rated], column, axis=1))
            for measure, scope in product(measures, scopes):
                statistic = association(
                    measure,
                    ratings,
                    others,
                    data.query,
                    scope,
                    n_queries=data.n_queries,
                    names=(rater, "the mean of the other raters"),
                )
                yield context.estimate(
                    "rater_against_others",
                    statistic,
                    transform="fisher_z",
                    constructs=(construct,),
                    scorers=(rater, *(name for name in data.raters if name != rater)),
                    scope=scope,
                    target="these_raters",
                    n_raters=len(data.raters),
                    params={"measure": measure},
                )


STATISTICS = (
    Statistic(
        "human_ceiling",
        "Rater against the others",
        "a rater's correlation with the mean of the other raters, on responses that the judge "
        "scored too, averaged over raters (params.measure: pearson, kendall_tau_b; "
        "params.excluded names raters left out; for tau-b within a query params.undefined_share is "
        "the share of queries whose own tau-b is undefined, since all values of one side are tied)",
        ceilings,
        range=(-1, 1),
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
    Statistic(
        "judge_against_others",
        "Judge against the others",
        "the judge's correlation with the same means on the same responses",
        ceilings,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
    Statistic(
        "human_ceiling_difference",
        "Difference",
        "`judge_against_others` minus `human_ceiling`; all three are withheld against an "
        "adjudicated reference. For raters like these the interval is of the difference to a "
        "further rater, who is drawn as these were",
        ceilings,
        range=(-2, 2),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters", "raters_like_these"),
    ),
    Statistic(
        "average_rater_difference",
        "Difference from the average rater",
        "`human_ceiling_difference` with an interval for the average of the raters' population "
        "in place of one further rater (params.measure: kendall_tau_b)",
        ceilings,
        range=(-2, 2),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("raters_like_these",),
    ),
    Statistic(
        "rater_against_others",
        "r with the other raters",
        "one rater's correlation with the mean of the other raters (the rater is the first of "
        "`scorers`; params.measure: pearson, kendall_tau_b)",
        raters_against_others,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
)
