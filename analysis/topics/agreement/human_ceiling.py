"""The human ceiling and the judge's place against it, and the bias for raters like these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, mean_over
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.human_ceiling import CeilingMeasure, human_ceiling
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these

MEASURES: tuple[CeilingMeasure, ...] = ("pearson", "kendall_tau_b")
SCOPES: tuple[Scope, ...] = ("pooled", "within_query")

ADJUDICATED = (
    "the reference is adjudicated: it favors the raters whose values it settled, so no human "
    "ceiling is given"
)


def ceilings(context: Context, measures: Sequence[CeilingMeasure] = MEASURES) -> Iterator[Estimate]:
    """`human_ceiling`, `judge_against_others` and their difference, by construct and scorer.

    Withheld against an adjudicated reference, which would favor those whose values it settled.
    """
    for data in context.rated.values():
        yield from ceilings_on(context, data, measures)


def ceilings_on(
    context: Context, data: ConstructData, measures: Sequence[CeilingMeasure] = MEASURES
) -> Iterator[Estimate]:
    """Those of one construct, for the scorers that `data` holds."""
    if not data.raters and not data.adjudicated:
        return
    for scorer in data.scorers:
        for measure in measures:
            for scope in SCOPES:
                yield from _ceiling(context, data, scorer, measure, scope)


def _ceiling(
    context: Context,
    data: ConstructData,
    scorer: str,
    measure: CeilingMeasure,
    scope: Scope,
) -> Iterator[Estimate]:
    names = ("human_ceiling", "judge_against_others", "human_ceiling_difference")
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": (scorer, *data.raters),
        "scope": scope,
        "target": "these_raters",
    }
    if data.reference_kind == "adjudicated":
        for name in names:
            yield Estimate(name, reason=ADJUDICATED, params={"measure": measure}, **record)
        return
    found = human_ceiling(
        data.ratings,
        data.scorers[scorer],
        data.query,
        scope,
        measure,
        n_queries=data.n_queries,
    )
    excluded = "; ".join(f"{data.raters[i]}: {why}" for i, why in found.excluded.items())
    params: dict[str, str | None] = {"measure": measure, "excluded": excluded or None}
    assert found.judge is not None  # noqa: S101  (a judge was given)
    assert found.difference is not None  # noqa: S101
    rater, judge = map(context.rated_resampling.replicates, (found.rater, found.judge))
    # The difference comes from the resamples of the two, which are dear.
    both = judge - rater if judge.values.size == rater.values.size else None
    parts = (found.rater, found.judge, found.difference)
    for name, statistic, resampled in zip(names, parts, (rater, judge, both), strict=True):
        why = " ".join(filter(None, [statistic.reason, f"({excluded})" if excluded else ""]))
        estimate = context.estimate(
            name,
            statistic,
            transform=None if name == "human_ceiling_difference" else "fisher_z",
            found=resampled,
            n_raters=len(found.used),
            params=params,
            **record,
        )
        if statistic.reason and why != statistic.reason:
            estimate = replace(estimate, reason=why)
        yield estimate


def raters_against_others(context: Context, scopes: Sequence[Scope] = SCOPES) -> Iterator[Estimate]:
    """`rater_against_others`: each rater's correlation with the mean of the other raters."""
    for construct, data in context.rated.items():
        if len(data.raters) < 2:
            continue
        for column, rater in enumerate(data.raters):
            own = data.ratings[:, column]
            rated = np.isfinite(own)
            others = np.full(len(own), np.nan)
            others[rated] = mean_over(np.delete(data.ratings[rated], column, axis=1))
            for scope in scopes:
                statistic = association(
                    "pearson",
                    own,
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
                    params={"measure": "pearson"},
                )


def biases(context: Context) -> Iterator[Estimate]:
    """Bias with an interval for raters like these, where scorer and people share a scale."""
    for construct, data in context.rated.items():
        for scorer, values in data.scorers.items():
            record: dict[str, Any] = {
                "constructs": (construct,),
                "scorers": (scorer, *data.raters),
                "target": "raters_like_these",
                "params": {"reference": "mean_of_raters"},
            }
            reason = context.differences_withheld(construct, scorer)
            if data.reference_kind == "adjudicated":
                reason = "an adjudicated value is no sample of raters"
            elif not data.raters:
                reason = data.reference_missing
            if reason:
                yield Estimate("bias", reason=reason, **record)
                continue
            found = bias_for_raters_like_these(
                values, data.ratings, data.query, context.options.level
            )
            given = found.interval.reason is None
            yield Estimate(
                "bias",
                value=found.value,
                ci_low=found.interval.low,
                ci_high=found.interval.high,
                ci_level=found.interval.level if given else None,
                method=found.interval.method if given else None,
                n_responses=found.n_responses,
                n_queries=found.n_queries,
                n_raters=found.n_raters,
                n_dropped=found.n_dropped,
                reason=found.interval.reason,
                **record,
            )
