"""The probability that two independent scorings put two systems in another order.

A scoring gives a difference D = d + e of two systems' means, e normal with variance v. Two of them
have other signs with probability 2 F(l) F(-l), l = d / sqrt(v), F the normal distribution. With K
scorings, mean difference m and an independent estimate of v on f degrees of freedom, sqrt(K) m /
sqrt(v) is noncentral t with noncentrality sqrt(K) l, which gives l an exact interval, and with it
the probability, which falls as l moves away from 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtr

from analysis.core.query_statistic import FloatArray

#: Points of the chi-squared distribution over which the noncentral t is averaged.
_POINTS = 400
#: Halvings of the noncentrality's bracket.
_STEPS = 45
#: Standard deviations beyond which a normal probability is 0 for all purposes.
_FAR = 10.0


def flip_probability(distance: FloatArray) -> FloatArray:
    """Probability (P,) from the true difference in standard deviations of one scoring's (P,)."""
    return np.asarray(2 * ndtr(distance) * ndtr(-distance), dtype=np.float64)


def flip_bounds(
    distance: FloatArray, scorings: float, df: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends (P,) of the interval of the probability.

    `distance` (P,) is the mean difference over the estimated standard deviation of one scoring's,
    `scorings` how many the mean is of, `df` (P,) the degrees of freedom of that deviation.
    """
    t = np.abs(distance) * np.sqrt(scorings)
    tail = (1 - level) / 2
    low, high = (_noncentrality(t, df, share) / np.sqrt(scorings) for share in (1 - tail, tail))
    ends = np.stack([flip_probability(low), flip_probability(high)])
    # An order that may be either way flips as often as a coin.
    upper = np.where((low <= 0) & (high >= 0), 0.5, ends.max(axis=0))
    return ends.min(axis=0), upper


def _noncentrality(t: FloatArray, df: FloatArray, share: float) -> FloatArray:
    """The noncentrality (P,) at which a noncentral t lies below t with this probability."""
    middle = (np.arange(_POINTS) + 0.5) / _POINTS
    # t sqrt(chi2 / f) minus noncentrality is normal, given chi2.
    half = df[:, None] / 2
    reach = t[:, None] * np.sqrt(gammaincinv(half, middle) / half)
    low, high = reach.min(axis=1) - _FAR, reach.max(axis=1) + _FAR
    for _ in range(_STEPS):
        at = (low + high) / 2
        above = ndtr(reach - at[:, None]).mean(axis=1) > share
        low, high = np.where(above, at, low), np.where(above, high, at)
    return np.asarray((low + high) / 2, dtype=np.float64)
