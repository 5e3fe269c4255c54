"""Conger's kappa without weights and with linear ones, on scales of any number of points.

1 - D_o / D_e. D_o is the mean disagreement of two ratings of a response (each response once), D_e
the mean over pairs of raters of that of two independent ratings, one drawn from each rater's own.
Without weights, two ratings disagree by 1 where they differ; with linear weights by their distance,
whose unit cancels, so that the values that occur are enough. With two raters it is Cohen's kappa,
without weights or with linear ones.

D_e comes from each rater's distribution in time and memory proportional to raters times values;
`chance_corrected` with the same coefficient needs their square. The quadratic form, which needs
means and variances alone, is `weighted_kappa` there.

Sources: Conger (1980), Psychological Bulletin 88:322-328; Cohen (1960), Educational and
Psychological Measurement 20:37-46; Cohen (1968), Psychological Bulletin 70:213-220.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    CACHED_NUMBERS,
    NEGLIGIBLE,
    QueryStatistic,
    as_codes,
    comparable,
    counts_by_query,
    in_row_blocks,
    ratio,
    sums_by_query,
    undefined,
    weighted_counts,
)
from analysis.statistics.reliability.chance_corrected import ONE_CATEGORY
from analysis.statistics.reliability.rater_pairs import NO_PAIR, over_pairs, table_of_ratings

KappaWeights = Literal["unweighted", "linear"]


def conger_kappa(
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    weights: KappaWeights,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Kappa of ratings (n, raters), NaN where missing, as a function of query weights.

    A response with one rating enters its rater's distribution only.
    """
    array = comparable(table_of_ratings(values))
    codes, total = as_codes(query, len(array), n_queries)
    levels, value = np.unique(array[np.isfinite(array)], return_inverse=True)
    response, rater = np.nonzero(np.isfinite(array))
    disagreement = over_pairs(array, _apart if weights == "linear" else _different)
    paired = np.isfinite(disagreement)
    contributing = np.bincount(codes[paired], minlength=total) > 0
    used = int(np.count_nonzero(paired))
    counts = (contributing, used, int(np.isfinite(array).any(axis=1).sum()) - used)
    reason = NO_PAIR if not used else ONE_CATEGORY if levels.size < 2 else None
    if reason is not None:
        return QueryStatistic(undefined, *counts, reason)
    observed = np.column_stack([np.where(paired, disagreement, 0.0), paired.astype(np.float64)])
    sums = sums_by_query(observed, codes, total)
    raters = array.shape[1]
    cells = counts_by_query(
        rater * levels.size + value, codes[response], raters * levels.size, total
    )
    gaps = np.diff(levels)

    def block(rows: FloatArray) -> FloatArray:
        shares = weighted_counts(cells, rows).reshape(len(rows), raters, levels.size)
        number = shares.sum(axis=2)
        shares = ratio(shares, number[:, :, None], number[:, :, None] > 0)
        shares = np.where(number[:, :, None] > 0, shares, 0.0)
        present = (number > 0).astype(np.float64)
        count = present.sum(axis=1)
        by_pairs = (
            _distance_by_chance(shares, present, gaps)
            if weights == "linear"
            else count * (count - 1) - _equal_by_chance(shares)
        )
        expected = ratio(by_pairs, count * (count - 1), count > 1)
        apart, responses = (rows @ sums).T
        mean = ratio(apart, responses, responses > 0)
        largest = float(np.ptp(levels)) if weights == "linear" else 1.0
        return 1 - ratio(mean, expected, expected > NEGLIGIBLE * largest)

    def weighted_statistic(rows: FloatArray) -> FloatArray:
        return in_row_blocks(block, rows, 3 * raters * levels.size, CACHED_NUMBERS)

    return QueryStatistic(weighted_statistic, *counts)


def _different(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a != b, dtype=np.float64)


def _apart(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.abs(a - b))


def _equal_by_chance(shares: FloatArray) -> FloatArray:
    """Sum over ordered pairs of two raters of the chance of equal values, shares (r, R, q)."""
    together = shares.sum(axis=1)
    return np.asarray((together**2).sum(axis=1) - (shares**2).sum(axis=(1, 2)))


def _distance_by_chance(shares: FloatArray, present: FloatArray, gaps: FloatArray) -> FloatArray:
    """Sum over ordered pairs of two raters of the expected distance.

    Over each gap between values it is the chance that one rating is below it and the other above.
    """
    below = np.cumsum(shares, axis=2)[:, :, :-1]
    above = present[:, :, None] - below
    apart = below.sum(axis=1) * above.sum(axis=1) - (below * above).sum(axis=1)
    return np.asarray(2 * apart @ gaps)
