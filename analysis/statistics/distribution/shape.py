"""Properties of one system's scores on one construct: ties, bounds and the shape of the scores.

These are the quantities of the CCRS paper's tables 5, 6 and 13 to 16. Conventions: quartiles by
linear interpolation; the variance divides by n - 1; skewness and excess kurtosis are the moment
coefficients g1 and g2 (dividing by n; at the paper's n = 4719 the bias-corrected ones differ by
less than .03); the geometric mean is 0 as soon as one score is 0, and undefined with a negative
one. Missing scores (NaN) do not enter.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NOISE,
    QueryStatistic,
    as_codes,
    as_values,
    centered,
    comparable,
    counts_by_query,
    in_row_blocks,
    ratio,
    undefined,
    weighted_counts,
)


@dataclass(frozen=True)
class PopulationStatistics:
    """Description of n scores, in points (variance in squared points); NaN where undefined."""

    n: int
    mean: float
    geometric_mean: float
    median: float
    midhinge: float
    variance: float
    minimum: float
    maximum: float
    range: float
    interquartile_range: float
    skewness: float
    excess_kurtosis: float
    reasons: dict[str, str]


@dataclass(frozen=True)
class Bounds:
    """How many of n scores are at the scale's ends; shares are NaN when n is 0."""

    n: int
    count_at_min: int
    count_at_max: int
    share_at_min: float
    share_at_max: float


def population_statistics(scores: npt.ArrayLike) -> PopulationStatistics:
    """Statistics of scores (n,); `reasons` names each that is NaN, and why."""
    x = _finite(scores)
    n = x.size
    nan = float("nan")
    if n == 0:
        names = [field.name for field in fields(PopulationStatistics)][1:-1]
        why = dict.fromkeys(names, "there are no scores")
        return PopulationStatistics(
            0, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, reasons=why
        )
    reasons: dict[str, str] = {}
    low, median, high = (float(q) for q in np.quantile(x, [0.25, 0.5, 0.75]))
    geometric = nan
    if x.min() < 0:
        reasons["geometric_mean"] = f"a score is negative ({x.min():g})"
    elif x.min() == 0:
        geometric = 0.0
    else:
        geometric = float(np.exp(np.mean(np.log(x))))
    variance = nan
    if n >= 2:
        variance = float(np.var(x, ddof=1)) if x.min() < x.max() else 0.0
    else:
        reasons["variance"] = "a variance needs at least 2 scores"
    skewness = kurtosis = nan
    if np.unique(comparable(x)).size == 1:
        reasons["skewness"] = reasons["excess_kurtosis"] = f"all scores are {x[0]:g}"
    else:
        deviation = centered(x)
        deviation /= np.abs(deviation).max()
        deviation -= deviation.mean()
        second = float(np.mean(deviation**2))
        skewness = float(np.mean(deviation**3)) / second**1.5
        kurtosis = float(np.mean(deviation**4)) / second**2 - 3
    return PopulationStatistics(
        n=n,
        mean=float(x.mean()),
        geometric_mean=geometric,
        median=median,
        midhinge=(low + high) / 2,
        variance=variance,
        minimum=float(x.min()),
        maximum=float(x.max()),
        range=float(x.max() - x.min()),
        interquartile_range=high - low,
        skewness=skewness,
        excess_kurtosis=kurtosis,
        reasons=reasons,
    )


def bounds(scores: npt.ArrayLike, minimum: float, maximum: float) -> Bounds:
    """Scores (n,) at the ends of the declared scale, but for float noise."""
    _check_scale(minimum, maximum)
    x = _finite(scores)
    at_min = int(np.count_nonzero(_at(x, minimum, minimum, maximum)))
    at_max = int(np.count_nonzero(_at(x, maximum, minimum, maximum)))
    shares = (at_min / x.size, at_max / x.size) if x.size else (float("nan"), float("nan"))
    return Bounds(x.size, at_min, at_max, *shares)


def at_bound(
    scores: npt.ArrayLike, minimum: float, maximum: float, end: Literal["min", "max"]
) -> FloatArray:
    """1 where a score (n,) is at that end of the scale, 0 elsewhere, NaN where it is missing."""
    _check_scale(minimum, maximum)
    x = as_values(scores, "scores")
    at_end = _at(x, minimum if end == "min" else maximum, minimum, maximum)
    return np.where(np.isfinite(x), at_end.astype(np.float64), np.nan)


def tie_probability(scores: npt.ArrayLike) -> float:
    """Probability that two different responses of scores (n,) have equal scores; NaN for n < 2."""
    x = _finite(scores)
    return tie_probability_of_weights(x, np.zeros(x.size, dtype=np.int64)).point


def tie_probability_of_weights(
    scores: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> QueryStatistic:
    """Tie probability as a function of query weights.

    Two copies of one response in a resample do not count as a pair: they would add ties that no two
    responses have, and move the interval up.
    """
    x, codes, total, dropped = _scored(scores, query, n_queries)
    reason = None if x.size >= 2 else f"a pair needs 2 scores, there are {x.size}"
    if reason is not None:
        return _undefined(codes, total, x.size, dropped, reason)
    distinct, index = np.unique(comparable(x), return_inverse=True)
    marginals = counts_by_query(index, codes, distinct.size, total)
    per_query = np.bincount(codes, minlength=total).astype(np.float64)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        counts = weighted_counts(marginals, weights)
        copies = weights**2 @ per_query
        tied = (counts**2).sum(axis=1) - copies
        pairs = (weights @ per_query) ** 2 - copies
        return ratio(tied, pairs, pairs > 0)

    return QueryStatistic(
        lambda weights: in_row_blocks(weighted_statistic, weights, 2 * distinct.size + total),
        per_query > 0,
        x.size,
        dropped,
    )


def _finite(scores: npt.ArrayLike) -> FloatArray:
    array = as_values(scores, "scores")
    if array.ndim != 1:
        raise ValueError(f"scores have shape {array.shape}, expected (n,)")
    return array[np.isfinite(array)]


def _scored(
    scores: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None
) -> tuple[FloatArray, npt.NDArray[np.int64], int, int]:
    array = as_values(scores, "scores")
    codes, total = as_codes(query, array.size, n_queries)
    present = np.isfinite(array)
    return array[present], codes[present], total, int(np.count_nonzero(~present))


def _undefined(
    codes: npt.NDArray[np.int64], total: int, n: int, dropped: int, reason: str
) -> QueryStatistic:
    contributing = np.bincount(codes, minlength=total) > 0
    return QueryStatistic(undefined, contributing, n, dropped, reason)


def _at(x: FloatArray, end: float, minimum: float, maximum: float) -> npt.NDArray[np.bool_]:
    # Of the end itself, not of a wide scale: on 0 to 1e16 a score of 0.5 is not 0.
    return np.abs(x - end) <= NOISE * max(abs(end), min(1.0, maximum - minimum))


def _check_scale(minimum: float, maximum: float) -> None:
    if not minimum < maximum:
        raise ValueError(f"scale from {minimum} to {maximum}: the minimum must be below")
