"""What the mean of a judge's distribution adds to the number that the judge wrote.

A judge whose probabilities of scores are known is two scorers: NAME, the number that it wrote, and
"NAME (expected)", the mean of its distribution. Both are compared with people on the responses that
have both, so that their difference is of the scores alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.resampling import Replicates
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.pairwise_accuracy import PairwiseAccuracy, pairwise_accuracy

Measure = Literal["pearson", "kendall_tau_b", "pairwise_accuracy"]
Scope = Literal["within_query", "pooled"]


def expected_scores(
    context: Context,
    measures: Sequence[Measure] = get_args(Measure),
    scopes: Sequence[Scope] = get_args(Scope),
) -> Iterator[Estimate]:
    """`agreement_where_both` of either scorer, and `expected_gain`, by measure and scope."""
    for data, scorer, _, _ in context.scored():
        number = judge_of_expected(scorer, data.scorers)
        if number is not None:
            for scope, measure in product(scopes, measures):
                yield from _compared(context, data, number, scorer, measure, scope)


def _compared(
    context: Context,
    data: ConstructData,
    number: str,
    expected: str,
    measure: Measure,
    scope: Scope,
) -> Iterator[Estimate]:
    written, mean = data.scorers[number], data.scorers[expected]
    both = np.isfinite(written) & np.isfinite(mean)
    values = {name: np.where(both, data.scorers[name], np.nan) for name in (number, expected)}
    params = {"measure": measure, "reference": data.reference_kind}
    people = data.record(expected, scope)["scorers"][1:]
    gain = data.record(expected, scope) | {
        "scorers": (expected, number, *people),
        "params": params,
    }
    if measure == "pairwise_accuracy":
        accuracies = {name: _accuracy(data, scores, scope) for name, scores in values.items()}
        for name, scores in accuracies.items():
            record = data.record(name, scope) | {"params": params}
            yield _accuracy_estimate(
                context, "agreement_where_both", scores, scores.replicates, **record
            )
        second, first = accuracies[expected], accuracies[number]
        reason = second.reason or first.reason
        difference = (
            second.replicates - first.replicates
            if reason is None
            else Replicates(np.nan, np.empty(0), "jackknife", second.n_queries, reason)
        )
        yield _accuracy_estimate(context, "expected_gain", second, difference, logit=False, **gain)
        return
    statistics = {
        name: association(
            measure, scores, data.reference, data.query, scope, n_queries=data.n_queries,
            names=(name, "human reference"),
        )
        for name, scores in values.items()
    }  # fmt: skip
    for name, statistic in statistics.items():
        record = data.record(name, scope) | {"params": params}
        yield context.estimate("agreement_where_both", statistic, transform="fisher_z", **record)
    yield context.estimate("expected_gain", statistics[expected] - statistics[number], **gain)


def _accuracy(data: ConstructData, values: FloatArray, scope: Scope) -> PairwiseAccuracy:
    return pairwise_accuracy(values, data.reference, data.query, scope, n_queries=data.n_queries)


def _accuracy_estimate(
    context: Context,
    name: str,
    of: PairwiseAccuracy,
    replicates: Replicates,
    *,
    logit: bool = True,
    **record: object,
) -> Estimate:
    interval = context.rated_resampling.interval_of(replicates, "logit" if logit else None)
    return Estimate(
        name,
        value=replicates.point,
        **interval.fields,
        n_responses=of.n_responses,
        n_queries=of.n_queries,
        n_dropped=of.n_dropped,
        reason=replicates.reason or interval.reason,
        **record,  # type: ignore[arg-type]
    )


STATISTICS = (
    Statistic(
        "agreement_where_both",
        "Agreement where both",
        'of the number that a judge wrote and of the mean of its distribution ("NAME '
        '(expected)"), each with the reference, on the responses that have both (params.measure: '
        "pearson, kendall_tau_b, pairwise_accuracy; within a query and pooled)",
        expected_scores,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
        source="Wang et al. 2025, arXiv 2503.03064",
    ),
    Statistic(
        "expected_gain",
        "Gain",
        "`agreement_where_both` of the mean less that of the number; `scorers` begins with the two",
        expected_scores,
        range=(-2, 2),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
)
