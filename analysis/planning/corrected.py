"""Width of a system's corrected mean, for planning."""

from __future__ import annotations

import numpy as np

from analysis.quantiles import t_quantile
from analysis.query_statistic import FloatArray
from analysis.resampling import Interval

#: Below so many labeled queries the weight of the judge is not estimated: it is 1.
TUNED_FROM = 30


def corrected_interval(
    people: FloatArray, judge: FloatArray, unrated: FloatArray, level: float
) -> Interval:
    """Prediction-powered mean: people (n,) and judge (n,) on rated queries, judge on others (m,).

    One value per query. Mean of lambda * judge over the unrated, plus the mean of people minus
    lambda * judge over the rated; lambda = cov(people, judge) / ((1 + n/m) var(judge)), or 1 below
    30 rated queries; t with n - 1 degrees of freedom. Source: Angelopoulos, Duchi and Zrnic (2023),
    arXiv:2311.01453, Section 6 and Example 6.1.
    """
    n, m = people.size, unrated.size
    spread = float(np.var(np.r_[judge, unrated], ddof=1))
    weight = 1.0
    if n >= TUNED_FROM and spread > 0:
        weight = float(np.cov(people, judge)[0, 1]) / ((1 + n / m) * spread)
    error = float(np.var(people - weight * judge, ddof=1)) / n
    error += weight**2 * float(np.var(unrated, ddof=1)) / m
    value = weight * float(unrated.mean()) + float((people - weight * judge).mean())
    reach = t_quantile((1 + level) / 2, n - 1) * float(np.sqrt(error))
    return Interval(value - reach, value + reach, level, "ppi_t")
