"""A scorer's agreement with itself: first scores against later ones of the same responses."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    as_codes,
    as_values,
    comparable,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily

RepeatMeasure = Literal["pearson", "mean_absolute_difference", "share_equal"]
REPEAT_MEASURES: tuple[RepeatMeasure, ...] = ("pearson", "mean_absolute_difference", "share_equal")


def repeat_agreement(
    first: npt.ArrayLike, later: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> StatisticFamily:
    """Pearson's r, mean absolute difference and share of equal values, in this order.

    `first` and `later` (n,) are a pair of scores each, NaN where missing; a response that was
    scored four times brings three pairs.
    """
    first_scores, later_scores = as_values(first), as_values(later)
    codes, total = as_codes(query, first_scores.size, n_queries)
    if first_scores.shape != later_scores.shape:
        raise ValueError(
            f"later scores have shape {later_scores.shape}, first ones {first_scores.shape}"
        )
    both = np.isfinite(first_scores) & np.isfinite(later_scores)
    n = int(np.count_nonzero(both))
    level = comparable(np.concatenate([first_scores[both], later_scores[both]]))
    x, y = level[:n], level[n:]
    middle = float(np.median(level)) if n else 0.0
    a, b = x - middle, y - middle
    columns = [np.ones(n), np.abs(x - y), x == y, a, b, a * a, b * b, a * b]
    sums = sums_by_query(np.column_stack(columns).astype(np.float64), codes[both], total)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        count, apart, equal, sa, sb, saa, sbb, sab = (weights @ sums).T
        va, vb = count * saa - sa**2, count * sbb - sb**2
        vary = (va > NEGLIGIBLE * count * saa) & (vb > NEGLIGIBLE * count * sbb)
        r = ratio(count * sab - sa * sb, np.sqrt(np.where(vary, va * vb, 1.0)), vary)
        present = count > 0
        return np.column_stack([r, ratio(apart, count, present), ratio(equal, count, present)])

    none = None if n else "no response has a repeated score"
    constant = none
    if n and np.isnan(weighted_statistic(np.ones((1, total)))[0, 0]):
        constant = "the scores, or their repeats, do not vary"
    contributing = np.bincount(codes[both], minlength=total) > 0
    return StatisticFamily.from_same_responses(
        weighted_statistic, contributing, n, first_scores.size - n, (constant, none, none)
    )
