"""Straight lines: from a judge's scores to people's, and from a response's length to the error."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    FloatArray,
    QueryStatistic,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily

FEW = "a line needs 2 responses with both values, there are {n}"
CONSTANT = "the judge gives one score throughout, so no line can be drawn"
ONE_LENGTH = "all responses are equally long"


def recalibration_line(
    judge: npt.ArrayLike, human: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> StatisticFamily:
    """Slope and intercept, in this order, of the least-squares line of `human` on `judge` (n,).

    A slope of 1 with an intercept of 0 needs no recalibration; a slope below 1 says that the judge
    spreads responses further apart than people do at a given score. Responses of a query are a
    cluster: the weights are those of queries. Noise in the human values does not bias the slope.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Mincer and Zarnowitz 1969; Cox 1958 for shares.
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
        lambda weights: line.of_weights(weights)[:, 0],
        np.asarray(line.contributing[:, 0]),
        int(line.n_responses[0]),
        int(line.n_dropped[0]),
        line.reasons[0],
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

    def of_weights(weights: FloatArray) -> FloatArray:
        n, sum_x, sum_y, xx, xy = (weights @ sums).T
        some = n > 0
        spread = xx - ratio(sum_x * sum_x, n, some)
        slope = ratio(xy - ratio(sum_x * sum_y, n, some), spread, spread > NEGLIGIBLE * xx)
        intercept = ratio(sum_y - slope * sum_x, n, some) - slope * origin
        found = np.column_stack([slope, intercept])
        return found if reason is None else np.full_like(found, np.nan)

    return StatisticFamily(
        of_weights,
        np.column_stack([pairs.contributing] * 2),
        np.full(2, pairs.n_responses),
        np.full(2, pairs.n_dropped),
        [reason] * 2,
    )
