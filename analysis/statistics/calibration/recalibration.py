"""Recalibration of a judge: the line from its scores to people's values, and errors out of fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    QueryStatistic,
    as_codes,
    as_values,
    ratio,
    sums_by_query,
)
from analysis.core.resampling import FOLDS, folds
from analysis.core.statistic_family import StatisticFamily
from analysis.core.unequal_queries import QueryWeights, by_leaving_out

FEW = "a line needs 2 responses with both values, there are {n}"
CONSTANT = "the judge gives one score throughout, so no line can be drawn"
ONE_LENGTH = "all responses are equally long"


def recalibration_line(
    judge: npt.ArrayLike, human: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> StatisticFamily:
    """Slope and intercept, in this order, of the least-squares line of `human` on `judge` (n,).

    A slope of 1 with an intercept of 0 needs no recalibration; with a slope below 1 the judge
    spreads responses more widely than people do at a given score. Responses of a query are a
    cluster: the weights are those of queries. Noise in the human values does not bias the slope.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Mincer and Zarnowitz (1969), in Economic Forecasts and Expectations, 3-46; for shares Cox
    (1958), Biometrika 45:562-565.
    """
    return _line(judge, human, query, n_queries, CONSTANT)


def error_per_doubling(
    error: npt.ArrayLike, words: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> QueryStatistic:
    """Slope of `error` (n,) on the binary logarithm of the words (n,) of a response.

    Points that the judge's error grows by when a response is twice as long. A response without a
    word has no logarithm and does not enter.
    """
    length = np.asarray(words, dtype=np.float64)
    some = length > 0
    doublings = np.full(length.shape, np.nan)
    doublings[some] = np.log2(length[some])
    line = _line(doublings, error, query, n_queries, ONE_LENGTH)
    return QueryStatistic(
        lambda weights: line.weighted_statistic(weights)[:, 0],
        np.asarray(line.contributing[:, 0]),
        int(line.n_responses[0]),
        int(line.n_dropped[0]),
        line.reasons[0],
        weights=line.weights[0],
    )


def _line(
    across: npt.ArrayLike,
    up: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None,
    constant: str,
) -> StatisticFamily:
    pairs, _ = read_pairs(across, up, query, None, n_queries)
    origin = float(np.median(pairs.x)) if pairs.x.size else 0.0
    x, y = pairs.x - origin, pairs.y
    columns = np.column_stack([np.ones(x.size), x, y, x * x, x * y])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)
    reason = None
    if x.size < 2:
        reason = FEW.format(n=x.size)
    elif np.ptp(x) == 0:
        reason = constant

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        n, sum_x, sum_y, xx, xy = (weights @ sums).T
        some = n > 0
        spread = xx - ratio(sum_x * sum_x, n, some)
        slope = ratio(xy - ratio(sum_x * sum_y, n, some), spread, spread > NEGLIGIBLE * xx)
        intercept = ratio(sum_y - slope * sum_x, n, some) - slope * origin
        estimates = np.column_stack([slope, intercept])
        return estimates if reason is None else np.full_like(estimates, np.nan)

    family = StatisticFamily.from_same_responses(
        weighted_statistic, pairs.contributing, pairs.n_responses, pairs.n_dropped, [reason] * 2
    )

    def contributions() -> FloatArray:
        each = _line(pairs.x, pairs.y, np.arange(x.size), None, constant)
        return by_leaving_out(each.weighted_statistic, np.ones(x.size, dtype=bool))

    weights = QueryWeights.from_responses(pairs.query, pairs.n_queries, pairs.query, contributions)
    return replace(family, weights=[weights] * 2)


Method = Literal["linear", "isotonic"]
METHODS: tuple[Method, ...] = get_args(Method)

#: The fewest queries from which a recalibration is learned and judged.
QUERIES_NEEDED = 5


def recalibrated_out_of_fold(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    method: Method,
    n_queries: int | None = None,
    count: int = FOLDS,
    seed: int = 0,
) -> FloatArray:
    """Judge's scores (n,) recalibrated by what the queries of the other folds teach.

    Only queries with both values are dealt to folds. A response without both values is NaN, and so
    is everything with fewer than `QUERIES_NEEDED` such queries.

    Parameters
    ----------
    method
        linear: least squares of human on judge; the mean of people where the judge is constant.
        isotonic: the nearest nondecreasing function, linear between the scores it was learned from
        and constant beyond them.

    Raises
    ------
    ValueError
        The shapes do not fit, or the method is unknown.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    x, y = as_values(judge, "judge"), as_values(human, "human")
    codes, total = as_codes(query, x.size, n_queries)
    both = np.isfinite(x) & np.isfinite(y)
    out = np.full(x.shape, np.nan)
    used = np.unique(codes[both])
    if used.size < QUERIES_NEEDED:
        return out
    fold = np.full(total, -1, dtype=np.int64)
    fold[used] = folds(used.size, count, seed)
    of = fold[codes]
    learn = _linear if method == "linear" else _isotonic
    for number in range(int(of[both].max()) + 1):
        inside: BoolArray = both & (of == number)
        rest = both & (of != number)
        out[inside] = learn(x[rest], y[rest], x[inside])
    return out


def _linear(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    middle, mean = x.mean(), y.mean()
    spread = np.sum((x - middle) ** 2)
    if np.ptp(x) == 0:
        return np.full(at.size, mean)
    slope = np.sum((x - middle) * (y - mean)) / spread
    return np.asarray(mean + slope * (at - middle))


def _isotonic(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    # Loading it takes half a second, which the verdict need not wait for.
    from scipy.optimize import isotonic_regression

    levels, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(place, y) / counts
    fitted = isotonic_regression(means, weights=counts.astype(np.float64)).x
    return np.interp(at, levels, fitted)


RAW = "raw"
FEW_QUERIES = "recalibrating takes {needed} queries with both values, there are {n}"


@dataclass(frozen=True, eq=False)
class RecalibratedErrors:
    """Errors in points, before and after; `names` (m,) has id and method of each of the family."""

    names: tuple[tuple[str, str], ...]
    family: StatisticFamily


def recalibrated_errors(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    seed: int = 0,
) -> RecalibratedErrors:
    """Mean absolute and root mean square error, raw and recalibrated out of fold, all (n,).

    With each method's difference to raw on the same responses. The recalibrated scores are fixed
    when queries are resampled, so that intervals are about this recalibration.
    """
    pairs, both = read_pairs(judge, human, query, None, n_queries)
    predicted = [pairs.x] + [
        recalibrated_out_of_fold(pairs.x, pairs.y, pairs.query, method, pairs.n_queries, seed=seed)
        for method in METHODS
    ]
    error = np.column_stack(predicted) - pairs.y[:, None]
    # With too few queries there are no predictions, and the reason is given.
    filled = np.where(np.isfinite(error), error, 0.0)
    columns = np.hstack([np.ones((pairs.x.size, 1)), np.abs(filled), filled**2])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)
    count, n_contributing = len(predicted), int(np.count_nonzero(pairs.contributing))
    few = (
        FEW_QUERIES.format(needed=QUERIES_NEEDED, n=n_contributing)
        if n_contributing < QUERIES_NEEDED
        else None
    )
    none = None if both.any() else "no response has both values"

    names = tuple(
        (f"recalibrated_{name}", method) for name in ("mae", "rmse") for method in (RAW, *METHODS)
    ) + tuple(
        (f"recalibrated_{name}_difference", method)
        for name in ("mae", "rmse")
        for method in METHODS
    )
    reasons = [none or (few if method != RAW else None) for _, method in names]
    defined = np.array([reason is None for reason in reasons])

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = weights @ sums
        n = summed[:, :1]
        mean = ratio(summed[:, 1:], n, n > 0)
        mae, rmse = mean[:, :count], np.sqrt(mean[:, count:])
        apart = (mae[:, 1:] - mae[:, :1], rmse[:, 1:] - rmse[:, :1])
        return np.where(defined, np.hstack([mae, rmse, *apart]), np.nan)

    return RecalibratedErrors(
        names,
        StatisticFamily.from_same_responses(
            weighted_statistic, pairs.contributing, pairs.n_responses, pairs.n_dropped, reasons
        ),
    )
