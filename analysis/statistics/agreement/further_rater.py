"""The judge beside a further rater like these: the panel and the queries as samples.

For each rater r of a panel of m, d_r is the judge's agreement with the mean of the other raters
minus that of the rater. Raters who differ in quality differ in d_r by more than the sampling of
queries explains. The judge is compared with a further rater drawn as they were, so that a judge
drawn from the raters' own population is neither better nor worse. The error of the mean of d_r has

- the variance over queries, by which judge and raters are known on these queries only, and
- (1 + 1/m) times the variance of the raters' true d_r: 1/m for the raters of the panel, 1 for the
  further one, as in a prediction interval.

The raters' variance is that of the observed d_r less (m - 3)/(m - 1) of the part that the queries
explain, from the same resamples, and at least 0. The factor allows for the error of a variance of
few raters (Morris 1983, JASA 78:47-55). Each part has its own t quantile, with `effective_df` of
the queries and m - 1 degrees of freedom: half width^2 = t^2 * part + t^2 * part (Banerjee 1961,
Biometrika 48:361-369), as for the bias. How often a judge drawn from the raters' population is
called better or worse is in tests/coverage/further_rater.csv, by this interval and by that for
these raters.
"""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.computation import p_by_source, t_quantile
from analysis.core.degrees_of_freedom import effective_df
from analysis.core.end_intervals import equal_values_interval
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import NOISE
from analysis.core.resampling import EQUAL_RESAMPLES, QueryResampling, Scheme
from analysis.core.uncertainty import Uncertainty
from analysis.statistics.agreement.human_ceiling import HumanCeiling

METHOD = "t_by_source"


def beside_a_further_rater(ceiling: HumanCeiling, resampling: QueryResampling) -> Interval:
    """Interval of judge minus a further rater where raters and queries are samples."""
    return _interval(ceiling, resampling, further=True)


def beside_the_average_rater(ceiling: HumanCeiling, resampling: QueryResampling) -> Interval:
    """Interval of judge minus the mean of the population that the raters were drawn from.

    As beside a further rater, but the raters' variance enters with 1/m. It narrows with more
    queries and raters, so that a margin can be tested; beside one further rater it does not.
    """
    return _interval(ceiling, resampling, further=False)


def _interval(ceiling: HumanCeiling, resampling: QueryResampling, *, further: bool) -> Interval:
    level = resampling.level
    difference = ceiling.difference
    if difference is None or difference.reason is not None:
        why = "there is no judge" if difference is None else difference.reason
        return withheld(level, METHOD, str(why))
    if len(ceiling.used) < 2:
        return withheld(level, METHOD, "raters like these need at least 2 raters, there is 1")
    known = difference.weights
    weights = None if known is None else known.of(difference.contributing)
    few = "an interval needs at least 2 queries, there is 1" if difference.n_queries < 2 else None
    if why := few or (None if weights is None else weights.reason):
        return withheld(level, METHOD, why)
    points = np.array([judge - rater for rater, judge in ceiling.by_rater.values()])
    scheme = resampling.scheme(difference.contributing)
    leave_out = difference.contributing if scheme == "jackknife" else None
    values = np.stack(
        [resampling.evaluate(d, scheme, leave_out) for d in ceiling.differences.values()]
    )
    defined = np.isfinite(values).all(axis=0)
    if not defined.all():
        share = 1 - float(defined.mean())
        return withheld(
            level, METHOD, f"undefined in {share:.1%} of {defined.size} resamples", share
        )
    queries, raters_variance = _parts(points, values, scheme)
    raters = (further + 1 / points.size) * raters_variance
    if queries + raters <= NOISE**2:
        step, count = difference.step, difference.n_queries
        equal = withheld(level, METHOD, EQUAL_RESAMPLES)
        return (
            equal if step is None else equal_values_interval(difference.point, step, count, level)
        )
    by_query = values.mean(axis=0)
    df = effective_df(by_query) if scheme == "jackknife" else difference.n_queries - 1.0
    if weights is not None and scheme == "jackknife":
        error, df = weights.error(float(points.mean()), by_query)
        queries = max(queries, error**2)
    tail = (1 + level) / 2
    reach = np.sqrt(
        t_quantile(tail, df) ** 2 * queries + t_quantile(tail, points.size - 1) ** 2 * raters
    )
    center = difference.point
    return Interval(
        float(center - reach),
        float(center + reach),
        level,
        METHOD,
        resamples=values.shape[1],
        p=p_by_source(center, (queries, raters), (df, points.size - 1)),
        uncertainty=Uncertainty((queries, raters), (df, points.size - 1.0)),
    )


def _parts(points: FloatArray, values: FloatArray, scheme: Scheme) -> tuple[float, float]:
    """Variance of the mean of points (m,) from queries, by resamples (m, R); variance of raters."""
    count, size = values.shape
    deviations = values - values.mean(axis=1, keepdims=True)
    factor = (size - 1) / size if scheme == "jackknife" else 1 / (size - 1)
    covariance = factor * deviations @ deviations.T
    variance = float(np.trace(covariance))
    shared = float(covariance.sum()) - variance
    explained = variance / count - shared / (count * (count - 1))
    certain = max(count - 3, 0) / (count - 1)
    raters_variance = max(float(points.var(ddof=1)) - certain * explained, 0.0)
    return float(covariance.sum()) / count**2, raters_variance
