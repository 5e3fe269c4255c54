"""Quadratic weighted kappa of ratings on any numeric scale, with missing cells.

Conger's kappa with quadratic weights: 1 - D_o / D_e, where D_o is the mean squared difference of
two ratings of a response (each response once) and D_e the mean over pairs of raters of the
squared difference of two independent ratings, one drawn from each rater's own: the sum of both
variances and the squared difference of the means. The range of the scale cancels, so that no
categories are needed. With two raters it is Cohen's weighted kappa.
Source: Conger (1980), Psychological Bulletin 88:322-328.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import (
    NEGLIGIBLE,
    FloatArray,
    QueryStatistic,
    as_codes,
    centered,
    comparable,
    ratio,
    sums_by_query,
    undefined,
)
from analysis.statistics.reliability.rater_pairs import NO_PAIR, over_pairs, table_of_ratings


def weighted_kappa(
    values: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> QueryStatistic:
    """Quadratic weighted kappa of ratings (n, raters) as a function of query weights."""
    array = comparable(table_of_ratings(values))
    codes, total = as_codes(query, len(array), n_queries)
    points = centered(array)
    apart = over_pairs(array, lambda a, b: (a - b) ** 2)
    paired = np.isfinite(apart)
    used = int(np.count_nonzero(paired))
    rated = int(np.count_nonzero(np.isfinite(array).any(axis=1)))
    contributing = np.bincount(codes[paired], minlength=total) > 0
    present = np.isfinite(points)
    filled = np.where(present, points, 0.0)
    columns = [np.where(paired, apart, 0.0)[:, None], paired[:, None], present, filled, filled**2]
    sums = sums_by_query(np.column_stack(columns).astype(np.float64), codes, total)
    raters = array.shape[1]

    def of_weights(weights: FloatArray) -> FloatArray:
        found = weights @ sums
        n, first, second = (found[:, 2 + i * raters : 2 + (i + 1) * raters] for i in range(3))
        there = n > 0
        mean = np.where(there, first / np.where(there, n, 1.0), 0.0)
        square = np.where(there, second / np.where(there, n, 1.0), 0.0)
        count = there.sum(axis=1).astype(np.float64)
        # Over ordered pairs g != h: E[x_g^2] + E[x_h^2] - 2 E[x_g] E[x_h].
        expected = 2 * (count - 1) * square.sum(axis=1)
        expected -= 2 * (mean.sum(axis=1) ** 2 - (mean**2).sum(axis=1))
        expected = ratio(expected, count * (count - 1), count > 1)
        size = ratio(square.sum(axis=1), count, count > 0)
        observed = ratio(found[:, 0], found[:, 1], found[:, 1] > 0)
        return 1 - ratio(observed, expected, expected > NEGLIGIBLE * size)

    reason = None if used else NO_PAIR
    if reason is None and np.isnan(of_weights(np.ones((1, total)))[0]):
        reason = "all ratings are one value: without variation kappa is undefined"
    return QueryStatistic(
        of_weights if reason is None else undefined, contributing, used, rated - used, reason
    )
