"""Restricted likelihood of y = mean + response + error on a ragged table, raters unnamed.

The model of ICC(1): whoever rated a response counts as drawn for it, so that raters need not be
connected. With a = response / error variance and m_i ratings on response i, the profiled deviance

    (N - 1) log S(a) + sum_i log(1 + a m_i) + log sum_i m_i / (1 + a m_i),
    S(a) = within sum of squares + sum_i m_i / (1 + a m_i) (mean_i - mean)^2,

is minimized over the one share a / (1 + a) = ICC(1). Source: Searle, Casella and McCulloch (1992),
Variance Components, section 3.8.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import comparable
from analysis.statistics.reliability.rater_pairs import NO_PAIR, table_of_ratings

#: Shares tried before bisection of the slope narrows the best one's neighborhood.
_GRID = np.concatenate([np.linspace(0, 0.99, 100), 1 - np.geomspace(5e-3, 1e-8, 20)])

#: Steps of the bisection, down to the last digits.
_STEPS = 50


def one_way_undefined_reason(values: npt.ArrayLike) -> str | None:
    """Why response and error variance cannot be told apart; None where they can."""
    array = table_of_ratings(values)
    present = np.isfinite(array)
    counts = present.sum(axis=1)
    if np.count_nonzero(counts) < 2:
        n = np.count_nonzero(counts)
        return f"variance components need at least 2 rated responses, there is {n or 'none'}"
    if counts.max() < 2:
        return NO_PAIR
    if np.ptp(comparable(array[present])) == 0:
        only = array[present][0]
        return f"all ratings are {only:g}: without variation the components are undefined"
    return None


def one_way_share(values: npt.ArrayLike) -> float:
    """REML share of the response variance, ICC(1), of values (n, raters); at least 0.

    On a complete table it is the analysis of variance's where that is not negative. Raises
    ValueError where it is undefined.
    """
    array = table_of_ratings(values)
    reason = one_way_undefined_reason(array)
    if reason is not None:
        raise ValueError(reason)
    array = array[np.isfinite(array).any(axis=1)]
    array = (array - np.nanmean(array)) / np.nanstd(array)
    m = np.isfinite(array).sum(axis=1).astype(np.float64)
    means = np.nanmean(array, axis=1)
    within = float(np.nansum((array - means[:, None]) ** 2))
    if within <= 1e-20 * array.size:
        return 1.0
    # Responses with the same number of ratings enter through three sums.
    size, place = np.unique(m, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    first = np.bincount(place, weights=means)
    second = np.bincount(place, weights=means**2)
    degrees = float(m.sum()) - 1

    excess = float(m.sum()) - m.size

    def deviance(share: float) -> tuple[float, float]:
        """Its value and slope, in units of 1 - share, so that a share close to 1 stays finite."""
        left = 1 - share
        shrink = size / (left + share * size)
        falling = -(shrink**2) * (size - 1) / size
        total, total_ = shrink @ count, falling @ count
        mean = shrink @ first / total
        mean_ = (falling @ first - mean * total_) / total
        squares = shrink @ second - total * mean**2
        squares_ = falling @ second - total_ * mean**2 - 2 * total * mean * mean_
        value = degrees * np.log(within / left + squares) + excess * np.log(left)
        value += np.log(total) - count @ np.log(shrink)
        slope = degrees * (within / left**2 + squares_) / (within / left + squares)
        slope += total_ / total - excess / left - count @ (falling / shrink)
        return float(value), float(slope)

    best = int(np.argmin([deviance(share)[0] for share in _GRID]))
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best + 1, _GRID.size - 1)]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if deviance(middle)[1] > 0 else (middle, high)
    return 0.0 if deviance(0.0)[0] <= deviance(low)[0] else float(low)
