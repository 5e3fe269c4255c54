"""Which of two responses is better: accuracy of pairs, with its table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.table_of import TableOf, TableRow, each, formatted, in_words, param
from analysis.statistics.agreement.pairwise_accuracy import (
    PairScope,
    PairwiseAccuracy,
    accuracy_beside_raters,
    accuracy_by_threshold,
    pairwise_accuracy,
    pairwise_accuracy_out_of_fold,
)
from analysis.topics.agreement.human_ceiling import ADJUDICATED

_SCOPES: tuple[PairScope, ...] = ("within_query", "pooled", "between_queries")


def pairwise(context: Context) -> Iterator[Estimate]:
    """`pairwise_accuracy`: raw, at the best tie threshold, and out of fold (params.calibration)."""
    for scored in context.scored():
        for scope in _SCOPES:
            yield from _in_scope(context, scored, scope)


def _in_scope(context: Context, scored: ComparedScores, scope: PairScope) -> Iterator[Estimate]:
    data = scored.data
    where = (scored.values, data.reference, data.query, scope)
    record = scored.record(scope)
    raw = pairwise_accuracy(*where, n_queries=data.n_queries)
    yield _estimate(context, raw, "none", 0.0, record)
    if raw.reason is not None:
        return
    best = accuracy_by_threshold(*where, n_queries=data.n_queries).best
    calibrated = pairwise_accuracy(*where, best, n_queries=data.n_queries)
    yield _estimate(context, calibrated, "in_sample", best, record)
    seed = context.options.seed
    outside = pairwise_accuracy_out_of_fold(*where, n_queries=data.n_queries, seed=seed)
    yield _estimate(context, outside, "out_of_fold", None, record)


def _estimate(
    context: Context,
    accuracy: PairwiseAccuracy,
    calibration: str,
    threshold: float | None,
    record: dict[str, Any],
) -> Estimate:
    interval = context.rated_resampling.interval_of(accuracy.replicates, "logit")
    params: dict[str, str | float | int | None] = {
        "calibration": calibration,
        "tie_threshold": threshold,
        "pairs": accuracy.n_pairs,
    }
    if calibration == "out_of_fold":
        low, high = accuracy.thresholds
        defined = not np.isnan(low)
        params |= {"lowest": low if defined else None, "highest": high if defined else None}
    return Estimate(
        "pairwise_accuracy",
        value=accuracy.point,
        **interval.fields,
        n_responses=accuracy.n_responses,
        n_queries=accuracy.n_queries,
        n_dropped=accuracy.n_dropped,
        reason=accuracy.reason or interval.reason,
        params=params,
        **record,
    )


def pairwise_beside_raters(context: Context) -> Iterator[Estimate]:
    """`pairwise_accuracy_difference` of each scorer and a rater, within queries."""
    for data, scorer, values, _ in context.scored():
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": (scorer, *data.raters),
            "scope": "within_query",
            "target": "these_raters",
        }
        if data.reference_kind == "adjudicated":
            yield Estimate("pairwise_accuracy_difference", reason=ADJUDICATED, **record)
            continue
        statistic = accuracy_beside_raters(data.ratings, values, data.query, data.n_queries)
        yield context.estimate(
            "pairwise_accuracy_difference", statistic, n_raters=len(data.raters), **record
        )


STATISTICS = (
    Statistic(
        "pairwise_accuracy",
        "Pairwise accuracy",
        "share of pairs ordered alike; params.calibration none, in_sample (at "
        "params.tie_threshold) or out_of_fold (thresholds from params.lowest to params.highest); "
        "params.pairs",
        pairwise,
        range=(0, 1),
        better="higher",
        scopes=("pooled", "between_queries", "within_query"),
        targets=("these_raters",),
        source="Deutsch, Foster and Freitag 2023",
    ),
    Statistic(
        "pairwise_accuracy_difference",
        "Difference of pairwise accuracies",
        "the judge's share of pairs ordered as the mean of the other raters orders them, minus a "
        "rater's, averaged over raters, on the same responses; ties as in `pairwise_accuracy`",
        pairwise_beside_raters,
        range=(-1, 1),
        better="higher",
        scopes=("within_query",),
        targets=("these_raters",),
    ),
)


def _best_threshold(row: TableRow) -> str:
    return _threshold(row.first("pairwise_accuracy", calibration="in_sample"))


pairwise_table = TableOf(
    "pairwise-accuracy",
    "Which of two responses is better",
    "{concordance}: of the pairs that people do not tie, with half of those that the judge ties. "
    "{pairwise_accuracy}: of all pairs; one that people tie is right only if the judge ties it. "
    "With a threshold, scores that differ by no more than it are tied. Best threshold: the best "
    "one for these data, which makes the share too high. Out of fold: thresholds chosen on other "
    "queries, on pairs inside a fold.",
    each("pairwise_accuracy", "scope", calibration="none"),
    ("construct", "scorer", "scope", formatted("concordance", ".1%"),
     formatted("pairwise_accuracy", ".1%", "{pairwise_accuracy}, as scored"),
     formatted("pairwise_accuracy", ".1%", "{pairwise_accuracy}, best threshold",
            calibration="in_sample"),
     in_words("Threshold", _best_threshold),
     formatted("pairwise_accuracy", ".1%", "{pairwise_accuracy}, out of fold",
            calibration="out_of_fold"),
     param("pairs", "Pairs", ",")),
    heads=3,
)  # fmt: skip


def _threshold(best: Estimate | None) -> str:
    return "" if best is None else f"{best.params['tie_threshold']:.3g}"
