"""Ratings with the raters' ways of using the scale taken out."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import FloatArray, comparable
from analysis.statistics.reliability.rater_pairs import table_of_ratings

ScaleUse = Literal["raw", "centered", "ranks"]


def by_scale_use(values: npt.ArrayLike, use: ScaleUse, severity: npt.ArrayLike) -> FloatArray:
    """Ratings (n, raters) as they are, less each rater's severity (raters,), or as mid-ranks.

    Ranks are taken within each rater, as shares between 0 and 1 of the rater's own ratings:
    (mid-rank - 1/2) / number. They keep nothing but the rater's order.
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
