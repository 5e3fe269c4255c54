"""Intervals of statistics whose jackknife shows that they are skewed.

Where a statistic and its error go together, a t interval is too short at one end and too long at
the other. Hall's cubic transformation of t removes the skewness to first order and, unlike a
correction by a quadratic, is monotone.

Hall (1992), On the removal of skewness by transformation, Journal of the Royal Statistical Society
B 54:221-228.
"""

from __future__ import annotations

import math

import numpy as np

from analysis.core.arrays import FloatArray


def jackknife_skewness(values: FloatArray) -> float:
    """Skewness of a statistic by its values (Q,) without each query: that of a mean of them."""
    deviations: FloatArray = values.mean() - values
    spread = float(np.sqrt(np.mean(deviations**2)))
    return float(np.mean(deviations**3)) / (spread**3 * math.sqrt(values.size))


def without_skewness(t: float, skewness: float) -> float:
    """A t statistic, transformed so that it is not skewed."""
    return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6


def with_skewness(t: float, skewness: float) -> float:
    """The inverse of `without_skewness`."""
    if abs(skewness) < 1e-9:
        return t
    return float(3 / skewness * (np.cbrt(1 + skewness * (t - skewness / 6)) - 1))
