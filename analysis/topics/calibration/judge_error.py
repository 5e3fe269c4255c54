"""What a judge's error depends on: the system, the level that people see, the length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.resampling import PERCENTILE_FROM, Scheme
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.calibration.judge_error import error_by_level, error_by_system_given_human
from analysis.statistics.calibration.recalibration import error_per_doubling
from analysis.statistics.reliability.severity import severities


def judge_error(
    context: Context, data: ConstructData, scorer: str, record: dict[str, Any]
) -> Iterator[Estimate]:
    """Judge minus people by system at the same human value, by level and by length."""
    ratings = people(data)
    if len(data.systems) > 1:
        yield from _by_system(context, data, scorer, ratings, record)
    yield from _by_level(context, data, scorer, ratings, record)
    yield from _by_length(context, data, scorer, record)


def people(data: ConstructData) -> FloatArray:
    """Human values (n, R): the raters', or the adjudicated one alone."""
    return data.reference[:, None] if data.reference_kind == "adjudicated" else data.ratings


def _leveled(ratings: FloatArray, data: ConstructData) -> FloatArray:
    """Ratings less each rater's severity, which else counts as something that raters do not share.

    Where severities can't be estimated they stay in.
    """
    points = severities(ratings, data.query, data.n_queries).points
    return np.asarray(ratings - np.where(np.isfinite(points), points, 0.0))


def _by_system(
    context: Context,
    data: ConstructData,
    scorer: str,
    ratings: FloatArray,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    found = error_by_system_given_human(
        data.scorers[scorer], _leveled(ratings, data), data.query, data.produced, data.n_queries
    )
    family, point = found.effects, found.effects.points()
    resampling = context.rated_resampling
    contributing = np.asarray(family.contributing[:, 0])
    count = int(np.count_nonzero(contributing))
    given, method, reasons = None, None, list(family.reasons)
    if np.isfinite(point).any() and count > 1:
        scheme: Scheme = "bootstrap" if count >= PERCENTILE_FROM else "jackknife"
        values = resampling.evaluate(
            family.of_weights, scheme, contributing if scheme == "jackknife" else None
        )
        given = simultaneous_intervals(
            point, values, scheme, context.options.level, context.options.seed
        )
        method = given.method
        reasons = [a or b for a, b in zip(reasons, given.reasons, strict=True)]
    for place, system in enumerate(data.systems):
        low, high = (given.low[place], given.high[place]) if given else (np.nan, np.nan)
        has = bool(np.isfinite(low))
        yield Estimate(
            "error_by_system_given_human",
            systems=(system,),
            scope=f"system:{system}",
            value=float(point[place]),
            ci_low=float(low),
            ci_high=float(high),
            ci_level=context.options.level if has else None,
            method=method if has else None,
            n_responses=int(family.n_responses[place]),
            n_queries=count,
            n_dropped=int(family.n_dropped[place]),
            reason=reasons[place] or (None if has else "an interval needs at least 2 queries"),
            params={"noise": found.noise},
            **record,
        )


def _by_level(
    context: Context,
    data: ConstructData,
    scorer: str,
    ratings: FloatArray,
    record: dict[str, Any],
) -> Iterator[Estimate]:
    found = error_by_level(
        data.scorers[scorer], ratings, data.query, data.n_queries, seed=context.options.seed
    )
    resampling = context.rated_resampling
    for place, values in enumerate(found.error.replicates(resampling)):
        yield resampled_estimate(
            context,
            "error_by_level",
            found.error,
            place,
            values,
            resampling,
            params={
                "bin": place + 1,
                "human_mean": float(found.level[place]),
                "human_low": float(found.low[place]),
                "human_high": float(found.high[place]),
                "split": found.split,
            },
            **record,
        )


def _by_length(
    context: Context, data: ConstructData, scorer: str, record: dict[str, Any]
) -> Iterator[Estimate]:
    words = response_words(context, data)
    if not np.isfinite(words).any():
        return
    error = data.scorers[scorer] - data.reference
    statistic = error_per_doubling(error, words, data.query, data.n_queries)
    # A response without a word or without a length was left out of a pair that is otherwise whole.
    whole = int(np.count_nonzero(np.isfinite(error)))
    statistic = replace(statistic, n_dropped=whole - statistic.n_responses)
    yield context.estimate("error_by_length", statistic, **record)


def response_words(context: Context, data: ConstructData) -> FloatArray:
    """Words (n,) of each response, NaN where the table has none."""
    frame = context.scores.frame
    if "response_words" not in frame or not frame["response_words"].notna().any():
        return np.full(len(data.responses), np.nan)
    rows = frame[frame["response_words"].notna()].drop_duplicates("response_id")
    named = rows.set_index(rows["response_id"].astype("object"))["response_words"]
    return named.reindex(list(data.responses)).to_numpy(dtype=np.float64)
