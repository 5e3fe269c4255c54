"""Variance of responses, of raters and of the rest, and intervals for raters like these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.computation import chi2_quantile, p_by_source, t_quantile
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import NOISE, as_codes, as_values, smallest_difference
from analysis.core.resampling import no_spread
from analysis.core.uncertainty import Uncertainty
from analysis.core.unequal_queries import QueryWeights
from analysis.statistics.reliability.reml import reml
from analysis.statistics.reliability.two_way import TwoWay, two_way, two_way_undefined_reason

#: Below this many raters the interval of a bias takes the variance of their effects as it is.
FEW_RATERS = 5


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of y = mean + response + rater + residual, in squared points of the scale.

    `reason` explains why they are NaN; `per_response` is the harmonic mean of ratings per response.
    """

    response: float
    rater: float
    residual: float
    mean: float
    n_responses: int
    n_raters: int
    n_ratings: int
    per_response: float
    reason: str | None = None


def variance_components(values: npt.ArrayLike) -> VarianceComponents:
    """REML components of values (n_items, n_raters), NaN where missing.

    On complete data with all components above 0 they equal those of the analysis of variance. A
    component at its bound is 0. Raters must be connected (`connected_groups`).
    """
    array = as_values(values)
    reason = two_way_undefined_reason(array)
    present = np.isfinite(array)
    counts = present.sum(axis=1)[present.any(axis=1)]
    shape = (counts.size, int(present.any(axis=0).sum()), int(counts.sum()))
    per_response = float(counts.size / np.sum(1 / counts)) if counts.size else float("nan")
    if reason is not None:
        nan = float("nan")
        return VarianceComponents(nan, nan, nan, nan, *shape, per_response, reason)
    parts = _components(array, two_way(array))
    return VarianceComponents(*parts, *shape, per_response)


def _components(array: FloatArray, table: TwoWay) -> tuple[float, float, float, float]:
    response, rater, residual = moment_components(table)
    complete = table.n_ratings == table.n_responses * table.n_raters
    if residual == 0:
        # Without error the effects are known, and their variances are sample variances.
        spread = np.var(table.response_means, ddof=1), np.var(table.rater_effects, ddof=1)
        return float(spread[0]), float(spread[1]), 0.0, float(table.response_means.mean())
    if complete and response >= 0 and rater >= 0:
        return response, rater, residual, float(table.response_means.mean())
    start = max(response / residual, 0.0), max(rater / residual, 0.0)
    return reml(array[table.responses][:, table.raters], start)


def moment_components(table: TwoWay) -> tuple[float, float, float]:
    """Response, rater and residual variance from mean squares; may be negative."""
    residual = table.ms_residual
    return (
        (table.ms_response - residual) / table.per_response,
        (table.ms_rater - residual) / table.per_rater,
        residual,
    )


def satterthwaite_df(terms: npt.ArrayLike, df: npt.ArrayLike) -> float:
    """Degrees of freedom of a sum of independent mean squares, terms already multiplied out.

    (sum of terms)^2 / sum(term^2 / df). Source: Satterthwaite (1946), Biometrics Bulletin 2:110.
    """
    parts = np.asarray(terms, dtype=np.float64)
    below = float(np.sum(parts**2 / np.asarray(df, dtype=np.float64)))
    return float(parts.sum() ** 2 / below) if below > 0 else float("nan")


@dataclass(frozen=True)
class BiasEstimate:
    """Mean of judge minus people, with an interval for raters like these.

    `query_error` and `rater_error` are the two parts of the standard error; `df` are the degrees
    of freedom Satterthwaite's formula gives their sum, for tests and descriptions.
    """

    value: float
    interval: Interval
    query_error: float
    rater_error: float
    df: float
    n_responses: int
    n_queries: int
    n_raters: int
    n_dropped: int


def _spread(
    query_part: float, rater_part: float, judge: FloatArray, people: FloatArray
) -> tuple[float, float] | None:
    """The two parts of a variance; of equal differences, as in `core.end_intervals`, a step's."""
    if query_part + rater_part > (NOISE * max(1.0, float(np.abs(judge).max()))) ** 2:
        return query_part, rater_part
    step = smallest_difference(judge, people)
    return None if step is None else ((step / judge.size) ** 2, 0.0)


def bias_for_raters_like_these(
    judge: npt.ArrayLike, values: npt.ArrayLike, query: npt.ArrayLike, level: float = 0.95
) -> BiasEstimate:
    """Mean over responses of judge (n,) minus the mean of the response's raters, values (n, R).

    The variance has two parts. Queries: the robust variance of the sum of deviations by query,
    after each rater's own severity is taken out. Raters: their variance times the sum of squared
    weights with which they enter the mean. Each part has its own t quantile, with queries - 1 and
    raters - 1 degrees of freedom: half width^2 = t^2 * part + t^2 * part (Banerjee 1961, Biometrika
    48:361-369). One t with Satterthwaite's degrees of freedom covered .89 to .91 with 3 raters in
    the same simulation, this .94 (tests/coverage). Below 5 raters their variance is that of their
    estimated effects, from which no error is subtracted: by chance the difference is often 0. It
    covers .94 to 1.00 with 2 raters, or where one response in five has a second rating; with the
    component by REML .87 to .93, and .89 to .97 with 3 raters and this overlap. Where one query
    dominates, the part of the queries is that of `core.unequal_queries`.
    """
    method = "t_by_source"
    machine, people = as_values(judge, "judge"), as_values(values)
    codes, _ = as_codes(query, machine.size, None)
    present = np.isfinite(people)
    used = np.isfinite(machine) & present.any(axis=1)
    dropped = int(np.count_nonzero(np.isfinite(machine) ^ present.any(axis=1)))
    counts = present[used].sum(axis=1)
    rated = np.where(present, people, 0.0)[used]
    difference = machine[used] - rated.sum(axis=1) / np.maximum(counts, 1)
    queries, place = np.unique(codes[used], return_inverse=True)
    n, n_queries = int(np.count_nonzero(used)), int(queries.size)
    n_raters = int(np.count_nonzero(present[used].any(axis=0)))
    value = float(difference.mean()) if n else float("nan")
    nan = float("nan")

    def without(reason: str) -> BiasEstimate:
        none = withheld(level, method, reason)
        return BiasEstimate(value, none, nan, nan, nan, n, n_queries, n_raters, dropped)

    if n == 0:
        return without("no response has both a judge score and a rating")
    if n_queries < 2:
        return without("an interval needs at least 2 queries, there is 1")
    reason = two_way_undefined_reason(people[used])
    if reason is not None:
        return without(reason)
    table = two_way(people[used])
    share = (present[used] / counts[:, None])[:, table.raters]
    severity = share @ table.rater_effects
    deviation = difference + severity
    deviation = deviation - deviation.mean()
    by_query = np.bincount(place, weights=deviation)
    query_part = n_queries / (n_queries - 1) * float(np.sum(by_query**2)) / n**2
    query_df = n_queries - 1.0
    weights = QueryWeights.from_responses(place, n_queries, place, lambda: deviation / n)
    unequal = weights.of(np.ones(n_queries, dtype=bool))
    if unequal is not None:
        if unequal.reason is not None:
            return without(unequal.reason)
        left_out = (deviation.sum() - by_query) / (n - weights.counts)
        error, query_df = unequal.error(0.0, left_out)
        query_part = error**2
    entering = float(np.sum(share.mean(axis=0) ** 2))
    if table.n_raters < FEW_RATERS:
        rater_variance = float(np.var(table.rater_effects, ddof=1))
    else:
        rater_variance = max(variance_components(people[used]).rater, 0.0)
    rater_part = rater_variance * entering
    if (spread := _spread(query_part, rater_part, machine[used], people[used])) is None:
        return without(no_spread("every difference is the same"))
    query_part, rater_part = spread
    df = satterthwaite_df([query_part, rater_part], [query_df, table.n_raters - 1])
    quantiles = [t_quantile((1 + level) / 2, d) for d in (query_df, table.n_raters - 1)]
    reach = float(np.sqrt(quantiles[0] ** 2 * query_part + quantiles[1] ** 2 * rater_part))
    uncertainty = Uncertainty((query_part, rater_part), (float(query_df), table.n_raters - 1.0))
    p = p_by_source(value, uncertainty.variances, uncertainty.dfs)
    interval = Interval(value - reach, value + reach, level, method, p=p, uncertainty=uncertainty)
    return BiasEstimate(
        value,
        interval,
        float(np.sqrt(query_part)),
        float(np.sqrt(rater_part)),
        df,
        n,
        n_queries,
        n_raters,
        dropped,
    )


ErrorKind = Literal["agreement", "consistency"]


def sem(
    values: npt.ArrayLike, kind: ErrorKind = "agreement", level: float = 0.95
) -> tuple[float, Interval]:
    """Standard error of measurement of one rating in points, for raters like these.

    The square root of rater plus residual variance (`agreement`: a rating by any
    rater), or of the residual alone (`consistency`: differences of level between raters are not an
    error), from the components of values (n, raters). The interval takes the two mean
    squares as independent, a sum with positive coefficients having Graybill and Wang's bounds
    (1980, JASA 75:869-873), a single one those of chi-squared. NaN with a reason where undefined.
    """
    if kind not in get_args(ErrorKind):
        raise ValueError(f"kind {kind!r}: expected one of {', '.join(get_args(ErrorKind))}")
    array = as_values(values)
    method = "graybill_wang" if kind == "agreement" else "chi_squared"
    reason = two_way_undefined_reason(array)
    if reason is not None:
        return float("nan"), withheld(level, method, reason)
    parts, components = two_way(array), variance_components(array)
    value = float(np.sqrt(components.residual + (components.rater if kind == "agreement" else 0.0)))
    if parts.ms_residual == 0:
        return value, withheld(level, method, "no residual variation: the table has no error")
    # rater + residual = rater mean square / c + (1 - 1 / c) residual mean square.
    terms, df = [parts.ms_residual], [parts.df_residual]
    if kind == "agreement":
        c = parts.per_rater
        terms = [parts.ms_rater / c, (1 - 1 / c) * parts.ms_residual]
        df = [parts.n_raters - 1, parts.df_residual]
    tail = (1 - level) / 2
    below = [(1 - d / chi2_quantile(1 - tail, d)) * t for t, d in zip(terms, df, strict=True)]
    above = [(d / chi2_quantile(tail, d) - 1) * t for t, d in zip(terms, df, strict=True)]
    center = float(np.sum(terms))
    low = float(np.sqrt(center - np.linalg.norm(below)))
    high = float(np.sqrt(center + np.linalg.norm(above)))
    return value, Interval(low, high, level, method)


def spearman_brown(single: float, k: float) -> float:
    """Reliability of the mean of k ratings from that of one: k r / (1 + (k - 1) r).

    Exact for ICC(A,1) and ICC(C,1), whose errors shrink by k. NaN at the pole r = -1 / (k - 1) and
    below it, where the formula has no meaning. Raises ValueError for k at or below 0.
    Source: Spearman (1910) and Brown (1910), British Journal of Psychology 3.
    """
    if not k > 0:
        raise ValueError(f"k = {k}: expected a positive number of ratings")
    below = 1 + (k - 1) * single
    return k * single / below if below > 0 else float("nan")
