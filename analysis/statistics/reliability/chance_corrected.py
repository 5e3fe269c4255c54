"""Agreement beyond chance with missing cells: Fleiss, Conger, Gwet and Brennan-Prediger, kappa.

The four coefficients of `chance_corrected` are (p_a - p_e) / (1 - p_e). The observed agreement p_a
is the mean agreement of the pairs of ratings of a response, averaged over the responses with two or
more ratings. The coefficients differ in the agreement by chance p_e. With w the weights of
agreement between categories (1 for equal ones; unweighted 0 elsewhere, linear 1 - distance / range,
quadratic 1 - squared distance / squared range), pi the mean over rated responses of the share of
ratings in a category, and q categories:

    Fleiss             sum_kl w_kl pi_k pi_l
    Conger             the mean over pairs of raters g, h of sum_kl w_kl p_gk p_hl, each rater with
                       separate marginals; with two raters Cohen's kappa
    Gwet               sum_kl w_kl / (q (q - 1)) * sum_k pi_k (1 - pi_k): AC1 unweighted, else AC2
    Brennan-Prediger   sum_kl w_kl / q^2

Source: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    QueryStatistic,
    as_codes,
    centered,
    comparable,
    ratio,
    sums_by_query,
    undefined,
)
from analysis.statistics.reliability.rater_pairs import NO_PAIR, over_pairs, table_of_ratings

Coefficient = Literal["fleiss", "conger", "gwet", "brennan_prediger"]
Weighting = Literal["unweighted", "linear", "quadratic"]

ONE_CATEGORY = "one category only: without a choice agreement beyond chance is undefined"


@dataclass(frozen=True, eq=False)
class _Parts:
    """Inputs of the coefficients, an entry for each rated response."""

    levels: FloatArray  # (q,)
    agreement: FloatArray  # (q, q) weights of agreement
    observed: FloatArray  # (n,) agreement of the response's pairs, NaN with one rating
    shares: FloatArray  # (n, q) share of its ratings in each category
    by_rater: FloatArray  # (n, R, q) which rater gave which category


def chance_corrected(
    coefficient: Coefficient,
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    weighting: Weighting = "unweighted",
    levels: Sequence[float] | None = None,
    n_queries: int | None = None,
) -> QueryStatistic:
    """One coefficient of ratings (n, raters), NaN where missing, as a function of query weights.

    `levels` are the categories of the scale, used or not; without them those that occur count. It
    matters to Gwet's and Brennan and Prediger's coefficients, and to the range of the
    weights of all but Conger's and Fleiss's. Raises ValueError for an unknown coefficient, and for
    a rating that is not one of the levels.
    """
    array, codes, total = _read(coefficient, weighting, values, query, n_queries)
    rated = np.isfinite(array).any(axis=1)
    array, place = array[rated], codes[rated]
    paired = np.isfinite(array).sum(axis=1) >= 2
    contributing = np.bincount(place[paired], minlength=total) > 0
    used = int(np.count_nonzero(paired))
    categories = _levels(array, levels)
    reason = NO_PAIR if not used else ONE_CATEGORY if categories.size < 2 else None
    counts = (contributing, used, int(rated.sum()) - used)
    if reason is None:
        parts = _parts(array, categories, weighting)
        # Responses rated once enter the marginals.
        columns = np.column_stack(
            [np.where(paired, parts.observed, 0.0), paired.astype(np.float64), parts.shares]
            + [parts.by_rater[:, rater] for rater in range(array.shape[1])]
        )
        sums = sums_by_query(columns, place, total)

        def weighted_statistic(weights: FloatArray) -> FloatArray:
            return _coefficient(coefficient, weights @ sums, parts)

        if np.isnan(weighted_statistic(np.ones((1, total)))[0]):
            reason = "chance alone would agree fully: all ratings are one value"
        else:
            return QueryStatistic(weighted_statistic, *counts)
    return QueryStatistic(undefined, *counts, reason)


def agreement_standard_error(
    values: npt.ArrayLike,
    weighting: Weighting = "unweighted",
    levels: Sequence[float] | None = None,
) -> float:
    """Large-sample standard error of Gwet's AC1 or AC2 on ratings (n, raters), responses sampled.

    By linearization: the observed agreement is a ratio (sum over the responses rated twice over
    their number), so a response rated once enters through the marginals only. The customary
    formula (Gwet 2014, equation 5.33) lets it enter the observed agreement as well, with an
    agreement of 0, and so grows with the number of such responses; on complete tables the two are
    the same. NaN where the coefficient is undefined or fewer than 2 responses were rated.
    """
    array = table_of_ratings(values)
    array = comparable(array[np.isfinite(array).any(axis=1)])
    paired = np.isfinite(array).sum(axis=1) >= 2
    categories, n = _levels(array, levels), len(array)
    if n < 2 or not paired.any() or categories.size < 2:
        return float("nan")
    parts = _parts(array, categories, weighting)
    q = categories.size
    chance_of_each = parts.agreement.sum() / (q * (q - 1))
    pi = parts.shares.mean(axis=0)
    chance = chance_of_each * float(np.sum(pi * (1 - pi)))
    observed = float(parts.observed[paired].mean())
    value = (observed - chance) / (1 - chance)
    from_observed = np.where(paired, parts.observed - observed, 0.0) * n / paired.sum()
    from_chance = chance_of_each * (parts.shares - pi) @ (1 - 2 * pi)
    influence = (from_observed - (1 - value) * from_chance) / (1 - chance)
    return float(np.sqrt(np.sum(influence**2) / (n * (n - 1))))


def _read(
    coefficient: str,
    weighting: str,
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None,
) -> tuple[FloatArray, npt.NDArray[np.int64], int]:
    for name, value, allowed in (
        ("coefficient", coefficient, get_args(Coefficient)),
        ("weighting", weighting, get_args(Weighting)),
    ):
        if value not in allowed:
            raise ValueError(f"{name} {value!r}: expected one of {', '.join(allowed)}")
    array = comparable(table_of_ratings(values))
    return array, *as_codes(query, len(array), n_queries)


def _levels(array: FloatArray, levels: Sequence[float] | None) -> FloatArray:
    occurring = np.unique(array[np.isfinite(array)])
    if levels is None:
        return occurring
    declared = np.unique(np.asarray(levels, dtype=np.float64))
    apart = np.abs(occurring[:, None] - declared[None, :]).min(axis=1, initial=np.inf)
    strange = occurring[apart > 1e-9 * max(1.0, float(np.abs(declared).max(initial=0.0)))]
    if strange.size:
        raise ValueError(f"rating {strange[0]:g} is not one of the {declared.size} levels")
    return declared


def _parts(array: FloatArray, levels: FloatArray, weighting: Weighting) -> _Parts:
    agreement = np.eye(levels.size)
    if weighting != "unweighted":
        power = 1 if weighting == "linear" else 2
        agreement = 1 - np.abs(np.subtract.outer(levels, levels) / np.ptp(levels)) ** power
    nearest = np.abs(np.where(np.isfinite(array), array, 0.0)[:, :, None] - levels).argmin(axis=2)
    by_rater = np.eye(levels.size)[nearest] * np.isfinite(array)[:, :, None]
    code = np.where(np.isfinite(array), nearest, np.nan)
    observed = over_pairs(code, lambda a, b: agreement[a.astype(int), b.astype(int)])
    count = by_rater.sum(axis=(1, 2))
    shares = by_rater.sum(axis=1) / count[:, None]
    return _Parts(levels, agreement, observed, shares, by_rater)


def _coefficient(coefficient: Coefficient, sums: FloatArray, parts: _Parts) -> FloatArray:
    q = parts.levels.size
    observed = ratio(sums[:, 0], sums[:, 1], sums[:, 1] > 0)
    shares = sums[:, 2 : 2 + q]
    rated = shares.sum(axis=1)
    pi = ratio(shares, rated[:, None], rated[:, None] > 0)
    if coefficient == "fleiss":
        chance = np.einsum("rk,kl,rl->r", pi, parts.agreement, pi)
    elif coefficient == "gwet":
        chance = parts.agreement.sum() / (q * (q - 1)) * np.sum(pi * (1 - pi), axis=1)
    elif coefficient == "brennan_prediger":
        chance = np.full(len(sums), parts.agreement.sum() / q**2)
    else:
        chance = _between_raters(sums[:, 2 + q :].reshape(len(sums), -1, q), parts.agreement)
    return ratio(observed - chance, 1 - chance, 1 - chance > 1e-12)


def _between_raters(counts: FloatArray, agreement: FloatArray) -> FloatArray:
    """Mean chance agreement over pairs of raters, from their counts (resamples, R, q)."""
    total = counts.sum(axis=2)
    present = total > 0
    marginal = np.where(
        present[:, :, None], counts / np.where(present, total, 1.0)[:, :, None], 0.0
    )
    raters = present.sum(axis=1)
    whole = marginal.sum(axis=1)
    same = np.einsum("rgk,kl,rgl->r", marginal, agreement, marginal, optimize=True)
    pairs = np.einsum("rk,kl,rl->r", whole, agreement, whole) - same
    return ratio(pairs, (raters * (raters - 1)).astype(np.float64), raters > 1)


def weighted_kappa(
    values: npt.ArrayLike, query: npt.ArrayLike, n_queries: int | None = None
) -> QueryStatistic:
    """Quadratic weighted kappa of ratings (n, raters) on any numeric scale, with missing cells.

    Conger's kappa with quadratic weights: 1 - D_o / D_e. D_o is the mean squared difference of two
    ratings of a response (each response once). D_e is the mean over pairs of raters of the squared
    difference of two independent ratings, one drawn from each rater's own: the sum of both
    variances and the squared difference of the means. The range of the scale cancels, so that no
    categories are needed. With two raters it is Cohen's weighted kappa.

    Notes
    -----
    Conger (1980), Psychological Bulletin 88:322-328.
    """
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

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = weights @ sums
        n, first, second = (summed[:, 2 + i * raters : 2 + (i + 1) * raters] for i in range(3))
        rated_by = n > 0
        mean = np.where(rated_by, first / np.where(rated_by, n, 1.0), 0.0)
        square = np.where(rated_by, second / np.where(rated_by, n, 1.0), 0.0)
        count = rated_by.sum(axis=1).astype(np.float64)
        # Over ordered pairs g != h: E[x_g^2] + E[x_h^2] - 2 E[x_g] E[x_h].
        expected = 2 * (count - 1) * square.sum(axis=1)
        expected -= 2 * (mean.sum(axis=1) ** 2 - (mean**2).sum(axis=1))
        expected = ratio(expected, count * (count - 1), count > 1)
        size = ratio(square.sum(axis=1), count, count > 0)
        observed = ratio(summed[:, 0], summed[:, 1], summed[:, 1] > 0)
        return 1 - ratio(observed, expected, expected > NEGLIGIBLE * size)

    reason = None if used else NO_PAIR
    if reason is None and np.isnan(weighted_statistic(np.ones((1, total)))[0]):
        reason = "all ratings are one value: without variation kappa is undefined"
    return QueryStatistic(
        weighted_statistic if reason is None else undefined,
        contributing,
        used,
        rated - used,
        reason,
    )
