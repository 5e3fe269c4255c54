"""What a judge's error depends on: the system, the level that people see, the length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.degrees_of_freedom import rests_on_few
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.interval import withheld
from analysis.core.resampling import PERCENTILE_FROM, Scheme
from analysis.core.response_words import response_words
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.calibration.error_by_system import error_by_system_given_human
from analysis.statistics.calibration.judge_error import error_by_level
from analysis.statistics.calibration.recalibration import error_per_doubling
from analysis.statistics.distribution.shape import bounds
from analysis.statistics.reliability.severity import severities
from analysis.topics.distribution.people_by_system import adjusted_people
from study.base.scales import Scale

OTHER_RATERS = (
    "the systems were not rated by the same raters to the same extent, so that raters' severity "
    "cannot be told from an error that depends on the system"
)

#: With a larger share of its scores at an end of the scale, a judge's preference for a system is
#: withheld. At 58% fair judges are reported to favor a system in .04 to .07 of studies, at 67% in
#: up to .15 where true values are skewed, systems far apart and queries 200.
SATURATED = 0.6

UNKNOWN_PREFERENCE = "whether it favors a system cannot be told from its level"


def judge_error(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    """Judge minus people by system at the same human value, by level and by length."""
    data = scored.data
    adjudicated = data.reference_kind == "adjudicated"
    ratings = data.reference[:, None] if adjudicated else data.ratings
    if len(data.systems) > 1:
        yield from _by_system(context, scored, ratings)
    yield from _by_level(context, scored, ratings)
    yield from _by_length(context, scored)


def _leveled(ratings: FloatArray, data: ConstructData) -> FloatArray:
    """Ratings minus each rater's severity, which would otherwise count as noise between raters.

    Where severities can't be estimated they stay in.
    """
    points = severities(ratings, data.query, data.n_queries).points
    return np.asarray(ratings - np.where(np.isfinite(points), points, 0.0))


def saturated(values: FloatArray, scale: Scale) -> str | None:
    """Why scores (n,) on a scale can't show a preference for a system; None where they can.

    Scores that are all at one of the two ends, such as exact match, are not cut there.
    """
    ends = bounds(values, scale.min, scale.max)
    if ends.count_at_min and ends.count_at_min + ends.count_at_max == ends.n:
        return None
    for share, end in ((ends.share_at_max, "maximum"), (ends.share_at_min, "minimum")):
        if share > SATURATED:
            return f"{share:.0%} of its scores are at the {end}: {UNKNOWN_PREFERENCE}"
    return None


def _no_preference(context: Context, scored: ComparedScores) -> str | None:
    """Why nothing can be said about a preference for a system."""
    data = scored.data
    if adjusted_people(context, data.construct) is not None:
        return OTHER_RATERS
    scale = context.human_scale(data.construct)
    rated = np.isfinite(data.reference) & np.isfinite(scored.values)
    return saturated(scored.values[rated], scale) if scale and rated.any() else None


def _by_system(context: Context, scored: ComparedScores, ratings: FloatArray) -> Iterator[Estimate]:
    data = scored.data
    reason = _no_preference(context, scored)
    if reason:
        for system in data.systems:
            where = {"systems": (system,), "scope": f"system:{system}"}
            record = scored.record() | where
            yield Estimate("error_by_system_given_human", reason=reason, **record)
        return
    errors = error_by_system_given_human(
        scored.values, _leveled(ratings, data), data.query, data.produced, data.n_queries
    )
    family, point = errors.effects, errors.effects.points()
    contributing = np.asarray(family.contributing[:, 0])
    count = int(np.count_nonzero(contributing))
    level = context.options.level
    intervals = [withheld(level, "none", "an interval needs at least 2 queries")] * point.size
    if np.isfinite(point).any() and count > 1:
        scheme: Scheme = "bootstrap" if count >= PERCENTILE_FROM else "jackknife"
        values = context.rated_resampling.evaluate(
            family.weighted_statistic, scheme, contributing if scheme == "jackknife" else None
        )
        joint = simultaneous_intervals(
            point,
            values,
            scheme,
            level,
            context.options.seed,
            weights=family.weights[0],
            queries=contributing,
        )
        # The curve that systems share rests on all queries, the distance from it on the system's.
        both = np.isfinite(scored.values) & np.isfinite(data.reference)
        answered = [np.unique(data.query[both & of]).size for of in data.produced.T]
        intervals = [
            withheld(level, joint.method, few)
            if (few := rests_on_few(n, count))
            else joint.at(place)
            for place, n in enumerate(answered)
        ]
    for place, (system, interval) in enumerate(zip(data.systems, intervals, strict=True)):
        yield Estimate(
            "error_by_system_given_human",
            value=float(point[place]),
            **interval.fields,
            n_responses=int(family.n_responses[place]),
            n_queries=count,
            n_dropped=int(family.n_dropped[place]),
            reason=family.reasons[place] or interval.reason,
            params={"noise": errors.noise},
            **scored.record() | {"systems": (system,), "scope": f"system:{system}"},
        )


def _by_level(context: Context, scored: ComparedScores, ratings: FloatArray) -> Iterator[Estimate]:
    data = scored.data
    errors = error_by_level(
        scored.values, ratings, data.query, data.n_queries, seed=context.options.seed
    )
    resampled = ResampledFamily(context, errors.error, context.rated_resampling)
    for place in range(len(errors.level)):
        yield resampled.estimate(
            "error_by_level",
            place,
            params={
                "bin": place + 1,
                "human_mean": float(errors.level[place]),
                "human_low": float(errors.low[place]),
                "human_high": float(errors.high[place]),
                "split": errors.split,
            },
            **scored.record(),
        )


def _by_length(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    data = scored.data
    words = response_words(context.scores, data)
    if not np.isfinite(words).any():
        return
    error = scored.values - data.reference
    statistic = error_per_doubling(error, words, data.query, data.n_queries)
    # Responses without a word or without a length are dropped from pairs that are complete.
    complete = int(np.count_nonzero(np.isfinite(error)))
    statistic = replace(statistic, n_dropped=complete - statistic.n_responses)
    yield context.estimate("error_by_length", statistic, **scored.record())
