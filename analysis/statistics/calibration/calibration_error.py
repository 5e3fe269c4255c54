"""The calibration error: a judge's scores in bins, and the mean of people's values in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.computation import t_quantile
from analysis.core.pairs import Pairs, read_pairs
from analysis.core.query_statistic import (
    QueryStatistic,
    WeightedStatistic,
    as_values,
    ratio,
    undefined,
)
from analysis.core.resampling import QueryResampling
from analysis.core.statistic_family import StatisticFamily

#: Bins of the judge's score.
BINS = 10

NO_PAIR = "no response has both values"
ONE_QUERY = "the noise of a bin is estimated from 2 or more queries, and no bin has 2"


def equal_count_bins(values: npt.ArrayLike, count: int = BINS) -> IntArray:
    """Bin (n,) of each value, counted from 0 upwards, with about equally many values in each.

    Equal values share a bin, so that there may be fewer bins than `count`; NaN is in none (-1).

    Examples
    --------
    >>> equal_count_bins([5, 1, 5, 9, 9], 2).tolist()
    [0, 0, 0, 1, 1]
    """
    array = as_values(values)
    out = np.full(array.shape, -1, dtype=np.int64)
    present = np.isfinite(array)
    if not present.any():
        return out
    place, counts = np.unique(array[present], return_inverse=True, return_counts=True)[1:]
    # A level goes to the bin of the middle of its values.
    middle = np.cumsum(counts) - counts / 2
    target = np.floor(middle / counts.sum() * count).astype(np.int64)
    # Bins that no level fell into are left out of the numbering.
    numbered = np.cumsum(np.r_[0, np.diff(target) > 0])
    out[present] = numbered[place]
    return out


@dataclass(frozen=True, eq=False)
class ReliabilityDiagram:
    """Bins of a judge's score (m,), lowest first, with people's mean in each.

    `human` is a family of m means; `judge`, `low` and `high` (m,) are the mean, least and greatest
    score of the judge in a bin.
    """

    judge: FloatArray
    low: FloatArray
    high: FloatArray
    human: StatisticFamily


def reliability_diagram(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    count: int = BINS,
) -> ReliabilityDiagram:
    """Mean of people (n,) within bins of the judge's score (n,) of about equal counts."""
    pairs, _ = read_pairs(judge, human, query, None, n_queries)
    bins = equal_count_bins(pairs.x, count)
    m = int(bins.max()) + 1 if bins.size else 0
    return ReliabilityDiagram(
        np.bincount(bins, pairs.x, m) / np.maximum(np.bincount(bins, minlength=m), 1),
        np.array([pairs.x[bins == b].min() for b in range(m)]),
        np.array([pairs.x[bins == b].max() for b in range(m)]),
        binned_means(pairs, bins, m),
    )


def binned_means(pairs: Pairs, bins: IntArray, m: int) -> StatisticFamily:
    """Means of the pairs' y in m bins (n,); bins are fixed when queries are resampled."""
    n = _by_query_and_bin(np.ones(pairs.x.size), pairs.query, bins, m, pairs.n_queries)
    total = _by_query_and_bin(pairs.y, pairs.query, bins, m, pairs.n_queries)
    sizes = n.sum(axis=0)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        size = weights @ n
        return ratio(weights @ total, size, size > 0)

    return StatisticFamily(
        weighted_statistic, n > 0, sizes.astype(np.int64), np.full(m, pairs.n_dropped), [None] * m
    )


def calibration_error_squared(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    count: int = BINS,
    *,
    debiased: bool = True,
) -> QueryStatistic:
    """Mean over bins of (people's mean minus the judge's)², in squared points.

    The square of a bin's mean difference contains its noise, so that the plain value is above 0
    for a perfect judge. Debiased, a bin's square is the mean product of differences of *different*
    queries, which is free of this noise, whatever the responses of a query have in common. It may
    be negative, and a bin with a single query does not enter.

    Notes
    -----
    Bröcker (2012), Climate Dynamics 39:655-667; Kumar, Liang and Ma (2019), NeurIPS, section 4;
    here with clusters.
    """
    pairs, _ = read_pairs(judge, human, query, None, n_queries)
    bins = equal_count_bins(pairs.x, count)
    m = int(bins.max()) + 1 if bins.size else 0
    n = _by_query_and_bin(np.ones(pairs.x.size), pairs.query, bins, m, pairs.n_queries)
    d = _by_query_and_bin(pairs.y - pairs.x, pairs.query, bins, m, pairs.n_queries)
    reason = None
    if not pairs.x.size:
        reason = NO_PAIR
    elif debiased and not ((n > 0).sum(axis=0) >= 2).any():
        reason = ONE_QUERY

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        size, total = weights @ n, weights @ d
        square, pair = total**2, size**2
        if debiased:
            # A query that is drawn twice is not independent of itself: its products go too.
            twice = weights**2
            square, pair = square - twice @ d**2, pair - twice @ n**2
        used: BoolArray = pair > 0.5
        share = np.where(used, size, 0.0)
        each = np.where(used, ratio(square, pair, used), 0.0)
        whole = share.sum(axis=1)
        return ratio((share * each).sum(axis=1), whole, whole > 0)

    kernel: WeightedStatistic = weighted_statistic if reason is None else undefined
    return QueryStatistic(kernel, pairs.contributing, pairs.n_responses, pairs.n_dropped, reason)


def _by_query_and_bin(
    values: FloatArray, query: IntArray, bins: IntArray, m: int, n_queries: int
) -> FloatArray:
    """Sums (Q, m) of values (n,) by query and bin."""
    without_each = np.bincount(query * m + bins, values, n_queries * m) if m else np.empty(0)
    return np.asarray(without_each, dtype=np.float64).reshape(n_queries, m)


FEW = "a bound needs 2 queries"


def upper_bound_of_square(
    statistic: QueryStatistic, resampling: QueryResampling
) -> tuple[float, str | None]:
    """Value that the true mean square exceeds with a chance of 1 - level; NaN with the reason.

    The jackknife over queries with a t quantile, at any number of them, on the scale of the root
    where the square is well above 0: with c the quantile times the error, value + c + c²/(4 value),
    and value + 5c/4 for a value below c. That may be negative; a bound below 0 is withheld. A
    percentile interval of a square near 0 is unreliable.
    """
    if statistic.reason is not None:
        return float("nan"), statistic.reason
    if statistic.n_queries < 2:
        return float("nan"), FEW
    cells = resampling.replicates(statistic, "jackknife").values
    values = cells[np.isfinite(cells)]
    if values.size < cells.size:
        return float("nan"), "undefined without one of the queries"
    count = values.size
    error = float(np.sqrt((count - 1) / count * np.sum((values - values.mean()) ** 2)))
    reach = t_quantile(resampling.level, count - 1) * error
    if reach == 0:
        return statistic.point, None
    bound = statistic.point + reach + reach**2 / (4 * max(statistic.point, reach))
    if bound < 0:
        return float("nan"), "the bound is below 0, which no square is: too few queries a bin"
    return bound, None
