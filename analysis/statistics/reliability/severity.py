"""Each rater's severity, its change over time, and ratings with the use of the scale removed.

Additive model y = response + rater + error, responses and raters fixed: a rater is compared with
what others gave to the same responses, so that a rater of weak responses does not seem severe.
Positive is more lenient than the panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.query_statistic import (
    QueryStatistic,
    WeightedStatistic,
    as_codes,
    as_values,
    comparable,
    in_row_blocks,
    ratio,
    sums_by_query,
    undefined,
)
from analysis.core.unequal_queries import QueryWeights, by_leaving_out
from analysis.statistics.reliability.rater_pairs import table_of_ratings
from analysis.statistics.reliability.two_way import connected_groups

NO_COMPANY = "severity needs two raters with a common response"

#: An eigenvalue below this share of the largest counts as 0: raters that are not linked.
_NULL = 1e-10


@dataclass(frozen=True, eq=False)
class Severities:
    """Severity of each rater as a function of query weights (rows, Q): (rows, raters), in points.

    The mean over all ratings is 0. NaN for a rater without a rating under the weights, and for all
    where these leave raters unconnected. `reason` explains why they are undefined on the sample.
    """

    weighted_statistic: WeightedStatistic
    contributing: BoolArray  #: (Q,) queries with a response that two raters rated
    n_responses: npt.NDArray[np.int64]  #: (raters,) shared responses of each
    n_dropped: npt.NDArray[np.int64]  #: (raters,) responses that no other rater rated
    reason: str | None = None
    weights: QueryWeights | None = None  #: shared responses of each query

    @property
    def points(self) -> FloatArray:
        """Severities (raters,) on the sample."""
        ones = np.ones((1, self.contributing.size))
        points: FloatArray = self.weighted_statistic(ones)[0]
        return points


def severities(
    values: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> Severities:
    """Severities of the raters of values (n, raters), NaN where missing."""
    array = table_of_ratings(values)
    codes, total = as_codes(query, len(array), n_queries)
    present = np.isfinite(array)
    shared = present.sum(axis=1) >= 2
    raters = array.shape[1]
    indicator = present[shared].astype(np.float64)
    contributing = np.bincount(codes[shared], minlength=total) > 0
    counts = (present[shared].sum(axis=0), present[~shared].sum(axis=0))
    reason = None
    rated = np.flatnonzero(present.any(axis=0))
    if rated.size < 2 or not shared.any():
        reason = NO_COMPANY
    elif connected_groups(array) > 1:
        reason = "raters are not connected through common responses"
    if reason is not None:

        def none(weights: FloatArray) -> FloatArray:
            return np.full((weights.shape[0], raters), np.nan)

        return Severities(none, contributing, *counts, reason)
    y = np.where(present, array - np.nanmean(array), 0.0)[shared]
    m = indicator.sum(axis=1)
    # Responses are eliminated, query by query; what is left is a small system in the raters.
    system = np.einsum("ia,ib->iab", indicator, indicator) / -m[:, None, None]
    system[:, range(raters), range(raters)] += indicator
    right = y - indicator * (y.sum(axis=1) / m)[:, None]
    columns = np.column_stack([system.reshape(len(y), -1), right, indicator])
    sums = sums_by_query(columns, codes[shared], total)

    def solved(weights: FloatArray) -> FloatArray:
        summed = weights @ sums
        matrix = summed[:, : raters**2].reshape(-1, raters, raters)
        b = summed[:, raters**2 : raters**2 + raters]
        n = summed[:, raters**2 + raters :]
        rated_any = n > 0
        roots, vectors = np.linalg.eigh(matrix)
        top = roots[:, -1:]
        null = roots <= _NULL * np.where(top > 0, top, 1.0)
        inverse = np.where(null, 0.0, 1 / np.where(null, 1.0, roots))
        effects = np.einsum("rij,rj,rkj,rk->ri", vectors, inverse, vectors, b, optimize=True)
        linked = null.sum(axis=1) == 1 + (~rated_any).sum(axis=1)
        level = ratio(np.sum(n * effects, axis=1), n.sum(axis=1), n.sum(axis=1) > 0)
        out: FloatArray = effects - level[:, None]
        out[~rated_any] = np.nan
        out[~linked] = np.nan
        return out

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        return in_row_blocks(solved, weights, 4 * raters**2)

    weights = QueryWeights.from_responses(
        codes[shared],
        total,
        codes,
        lambda: by_leaving_out(severities(array, np.arange(len(array))).weighted_statistic, shared),
    )
    return Severities(weighted_statistic, contributing, *counts, weights=weights)


def deviations(values: npt.ArrayLike, severity: npt.ArrayLike) -> FloatArray:
    """Each rating minus the mean of the response's other ratings, both less severity; (n, raters).

    What is left of a rating once response and rater are taken out. NaN where no other rater rated.
    """
    array = as_values(values) - as_values(severity)
    present = np.isfinite(array)
    filled = np.where(present, array, 0.0)
    others = present.sum(axis=1, keepdims=True) - present
    total = filled.sum(axis=1, keepdims=True) - filled
    return array - ratio(total, others.astype(np.float64), others > 0)


def rater_drift(
    deviation: npt.ArrayLike,
    position: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Least-squares slope of a rater's deviations (n,) on their position (n,) in the rater's order.

    In points per rating: positive where the rater grows more lenient. NaN where either is missing.
    """
    y, x = as_values(deviation), as_values(position)
    codes, total = as_codes(query, y.size, n_queries)
    if x.shape != y.shape:
        raise ValueError(f"position has shape {x.shape}, deviation {y.shape}")
    used = np.isfinite(y) & np.isfinite(x)
    n = int(np.count_nonzero(used))
    dropped = int(np.count_nonzero(np.isfinite(y))) - n
    contributing = np.bincount(codes[used], minlength=total) > 0
    reason = None
    if n < 3:
        reason = f"a slope needs at least 3 ratings with a position, there are {n or 'none'}"
    elif np.ptp(x[used]) == 0:
        reason = "all ratings have one position"
    if reason is not None:
        return QueryStatistic(undefined, contributing, n, dropped, reason)
    a, b = x[used] - x[used].mean(), y[used] - y[used].mean()
    sums = sums_by_query(np.column_stack([np.ones(n), a, b, a * a, a * b]), codes[used], total)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        count, sa, sb, saa, sab = (weights @ sums).T
        spread = count * saa - sa**2
        return ratio(count * sab - sa * sb, spread, spread > 1e-12 * count * saa)

    return QueryStatistic(weighted_statistic, contributing, n, dropped)


ScaleUse = Literal["raw", "centered", "ranks"]


def by_scale_use(values: npt.ArrayLike, use: ScaleUse, severity: npt.ArrayLike) -> FloatArray:
    """Ratings (n, raters) unchanged, minus each rater's severity (raters,), or as mid-ranks.

    Ranks are taken within each rater, as shares between 0 and 1 of the rater's own ratings:
    (mid-rank - 1/2) / number. Only the rater's order is left in them.
    """
    if use not in get_args(ScaleUse):
        raise ValueError(f"use {use!r}: expected one of {', '.join(get_args(ScaleUse))}")
    array = table_of_ratings(values)
    if use == "raw":
        return array
    if use == "centered":
        return np.asarray(array - np.asarray(severity, dtype=np.float64))
    return np.column_stack([mid_ranks(column) for column in array.T]) if array.size else array


def mid_ranks(values: npt.ArrayLike) -> FloatArray:
    """Mid-ranks of values (n,) as shares of their number; NaN stays."""
    array = np.asarray(values, dtype=np.float64)
    present = np.isfinite(array)
    out: FloatArray = np.full(array.size, np.nan)
    if present.any():
        _, place, count = np.unique(
            comparable(array[present]), return_inverse=True, return_counts=True
        )
        out[present] = (np.cumsum(count) - count / 2)[place] / np.count_nonzero(present)
    return out
