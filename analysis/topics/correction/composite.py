"""Weights of the constructs learnt from an overall rating."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.construct_data import Aligned, aligned
from analysis.core.context import CROWDED, LEVEL, Context
from analysis.core.estimates import Estimate
from analysis.core.interval import withheld
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.association import association
from analysis.statistics.correction.composite_weights import composite_weights, out_of_fold

LEARNED, EQUAL, PEOPLE = "learned weights", "equal weights", "people"

_SCOPES: tuple[Literal["within_query", "pooled"], ...] = ("within_query", "pooled")

#: Coverage below .935 by statistic, scope, and whether most overall ratings are one value; then by
#: number of queries. The lowest of the ways that are compared, in tests/coverage/coverage.csv.
MEASURED: dict[tuple[str, str, bool], dict[int, float]] = {
    ("composite_correlation_difference", "pooled", False): {15: 0.9, 30: 0.91, 60: 0.92, 150: 0.93},
    ("composite_correlation_difference", "within_query", False): {15: 0.93, 60: 0.93},
    ("composite_correlation", "pooled", True): {15: 0.92, 30: 0.93},
    ("composite_correlation_difference", "pooled", True): {15: 0.91, 30: 0.9, 60: 0.91, 150: 0.92},
    ("composite_correlation", "within_query", True): {15: 0.92},
    ("composite_correlation_difference", "within_query", True): {15: 0.93, 30: 0.93, 60: 0.93},
}

#: Numbers of queries of the simulation.
QUERIES = (15, 30, 60, 150)


def measured_coverage(statistic: str, scope: str, crowded: bool, n_queries: int) -> float | None:
    """Coverage of an interval; None where it is at least .935.

    Between two sizes of the simulation it is that of the lower one, below the lowest that of the
    lowest, which is then too high.
    """
    size = max((s for s in QUERIES if s <= n_queries), default=QUERIES[0])
    return MEASURED.get((statistic, scope, crowded), {}).get(size)


def composite(context: Context) -> Iterator[Estimate]:
    """Composites of every judge's scores, and of people's, where an overall rating is declared."""
    overall = context.options.overall
    if overall is None:
        return
    data = context.rated.get(overall)
    if data is None or data.reference_missing:
        why = f"no construct {overall}" if data is None else data.reference_missing
        yield Estimate("composite_weight", reason=f"the overall rating is missing: {why}")
        return
    for sample in _samples(context, overall):
        yield from _records(context, sample)


def has_composite(context: Context, overall: str) -> bool:
    """Whether a judge, or people, have values on two constructs beside the overall rating."""
    return any(True for _ in _samples(context, overall))


def _samples(context: Context, overall: str) -> Iterator[_Sample]:
    side_by_side = aligned(context.rated)
    judges = {
        name: kind
        for of in context.rated.values()
        for name, kind in of.kinds.items()
        if kind == "judge"
    }
    for name in (*judges, PEOPLE):
        sample = _sample(context, side_by_side, overall, name)
        if sample is not None:
            yield sample


@dataclass(frozen=True, eq=False)
class _Sample:
    """Responses with all of one scorer's constructs and an overall rating."""

    scorer: str
    overall: str
    constructs: tuple[str, ...]
    scores: FloatArray
    """(n, K), as shares of each scale, or in points where one is undeclared."""
    rated: FloatArray
    query: IntArray
    n_dropped: int
    unit: str
    people: tuple[str, ...]


def _sample(context: Context, table: Aligned, overall: str, scorer: str) -> _Sample | None:
    by_construct, scales = {}, []
    for key, data in context.rated.items():
        values = data.reference if scorer == PEOPLE else data.scorers.get(scorer)
        if key == overall or values is None or not np.isfinite(values).any():
            continue
        by_construct[key] = table.spread(key, values)
        scales.append(
            context.human_scale(key) if scorer == PEOPLE else context.scores.scale(key, scorer)
        )
    if len(by_construct) < 2:
        return None
    declared = [scale for scale in scales if scale is not None]
    scores = np.column_stack(list(by_construct.values()))
    if len(declared) == len(scales):
        scores = (scores - [scale.min for scale in declared]) / [s.width for s in declared]
    rated = table.spread(overall, context.rated[overall].reference)
    whole = np.isfinite(rated) & np.isfinite(scores).all(axis=1)
    return _Sample(
        scorer,
        overall,
        tuple(by_construct),
        scores[whole],
        rated[whole],
        table.query[whole],
        int((np.isfinite(rated) & ~whole).sum()),
        "scale" if len(declared) == len(scales) else "point",
        context.rated[overall].people,
    )


def _records(context: Context, sample: _Sample) -> Iterator[Estimate]:
    scorer = () if sample.scorer == PEOPLE else (sample.scorer,)
    record: dict[str, Any] = {
        "scorers": (*scorer, *sample.people),
        "target": "these_raters",
        "n_raters": len(sample.people) if context.options.reference == "mean_of_raters" else 0,
        "n_dropped": sample.n_dropped,
    }
    yield from _weights(context, sample, record)
    yield from _correlations(context, sample, record)


def _weights(context: Context, sample: _Sample, record: dict[str, Any]) -> Iterator[Estimate]:
    resampling = context.rated_resampling
    family = composite_weights(sample.scores, sample.rated, sample.query, resampling.n_queries)
    points = family.points()
    total = points.sum()
    # The jackknife at any number of queries: one product for all weights.
    for place, construct in enumerate(sample.constructs):
        weight = QueryStatistic(
            lambda weights, place=place: family.weighted_statistic(weights)[:, place],  # type: ignore[misc]
            family.contributing[:, place],
            int(family.n_responses[place]),
            reason=family.reasons[place],
        )
        interval = resampling.interval(weight, scheme="jackknife")
        if points[place] == 0:
            interval = withheld(interval.level, interval.method, "the weight is at its bound of 0")
        yield Estimate(
            "composite_weight",
            constructs=(construct, sample.overall),
            value=float(points[place]),
            **interval.fields,
            n_responses=weight.n_responses,
            n_queries=weight.n_queries,
            reason=family.reasons[place] or interval.reason,
            params={
                "of": sample.scorer,
                "overall": sample.overall,
                "unit": sample.unit,
                "share": float(points[place] / total) if total > 0 else None,
            },
            **record,
        )


def _correlations(context: Context, sample: _Sample, record: dict[str, Any]) -> Iterator[Estimate]:
    resampling = context.rated_resampling
    n_queries, seed = resampling.n_queries, context.options.seed
    learned = out_of_fold(sample.scores, sample.rated, sample.query, n_queries, seed)
    spread = sample.scores.std(axis=0) if len(sample.scores) else np.ones(len(sample.constructs))
    plain = sample.scores
    if sample.unit == "point":
        plain = plain / np.where(spread > 0, spread, 1.0)
    ways = {LEARNED: learned, EQUAL: plain.mean(axis=1)}
    ways |= dict(zip(sample.constructs, sample.scores.T, strict=True))
    for scope in _SCOPES:
        statistics = {
            name: association(
                "pearson", values, sample.rated, sample.query, scope,
                n_queries=n_queries, names=(name, sample.overall),
            )
            for name, values in ways.items()
        }  # fmt: skip
        for name, statistic in statistics.items():
            fields = {
                **record,
                "constructs": (name, sample.overall) if name in sample.constructs
                else (*sample.constructs, sample.overall),
                "scope": scope,
            }  # fmt: skip
            params = {"of": sample.scorer, "overall": sample.overall, "composite": name}
            yield _estimate(
                context, "composite_correlation", statistic, {**fields, "params": params}, True
            )
            if name != LEARNED:
                params = {"of": sample.scorer, "overall": sample.overall, "minus": name}
                yield _estimate(
                    context,
                    "composite_correlation_difference",
                    statistics[LEARNED] - statistic,
                    {**fields, "params": params},
                    False,
                )


def _estimate(
    context: Context, name: str, statistic: QueryStatistic, record: dict[str, Any], alone: bool
) -> Estimate:
    statistic = replace(statistic, n_dropped=record["n_dropped"] + statistic.n_dropped)
    rest = {key: value for key, value in record.items() if key != "n_dropped"}
    estimate = context.estimate(name, statistic, transform="fisher_z" if alone else None, **rest)
    crowded = context.crowding.get(str(record["params"]["overall"]), 0.0) >= CROWDED
    covers = measured_coverage(name, record["scope"], crowded, statistic.n_queries)
    if covers is None or not estimate.has_interval or context.options.level != LEVEL:
        return estimate
    return replace(estimate, params={**estimate.params, "measured_coverage": covers})


STATISTICS = (
    Statistic(
        "composite_weight",
        "Weight",
        "weight of the first construct for the overall rating; params.of (a judge, or people), "
        "unit (scale or point), share (of the sum of weights); query jackknife, none for a weight "
        "of 0",
        composite,
        range=(0, None),
        targets=("these_raters",),
        source="Lawson and Hanson 1974, chapter 23",
    ),
    Statistic(
        "composite_correlation",
        "r",
        "Pearson's r of the overall rating with params.composite: learned weights (out of fold), "
        "equal weights, or one construct",
        composite,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
    Statistic(
        "composite_correlation_difference",
        "Gain",
        "learned weights minus params.minus, on joint resamples",
        composite,
        range=(-2, 2),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
)
