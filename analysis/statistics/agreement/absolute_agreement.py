"""Agreement in value: concordance, root mean squared difference, Bland and Altman's limits.

x is the scorer that is examined (a judge), y the reference; differences are x minus y, in points.
Unlike correlations, these statistics get worse when a judge is more lenient or uses the scale more
widely than people do.
Sources: Lin (1989), Biometrics 45:255-268; Bland and Altman (1986), Lancet i:307-310, and (1999),
Statistical Methods in Medical Research 8:135-160.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.pairs import Pairs, Scope, between_queries, read_pairs, within_query
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    WeightedStatistic,
    centered,
    comparable,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily

InValue = Literal["ccc", "rmse", "bland_altman_bias", "bland_altman_lower", "bland_altman_upper"]

#: Standard deviations from the bias to a limit: 95% of normal differences lie between the limits.
LIMIT = 1.96

_LIMITS: tuple[InValue, ...] = ("bland_altman_bias", "bland_altman_lower", "bland_altman_upper")


def measures_in(scope: Scope) -> tuple[InValue, ...]:
    """The measures of a scope: limits of agreement are about single responses only."""
    return ("ccc", "rmse", *_LIMITS) if scope == "pooled" else ("ccc", "rmse")


def agreement_in_value(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: Scope = "pooled",
    *,
    n_queries: int | None = None,
    produced: npt.ArrayLike | None = None,
) -> StatisticFamily:
    """The measures of `measures_in(scope)` of x and y (n,), NaN where missing, in this order.

    `ccc` is 2 s_xy / (s_xx + s_yy + (mean x - mean y)^2) with sums divided by n, as Lin defines
    it; `rmse` the root of the mean squared difference; the limits are the bias plus and minus
    1.96 standard deviations of the differences (n - 1). Within queries they are those of
    deviations from the query's means, so that only the order and the spread count. At system level
    they are those of the systems' means; without `produced` (n, S) bool this is a ValueError.
    """
    pairs, both = read_pairs(x, y, query, None, n_queries)
    if scope == "system_level":
        if produced is None:
            raise ValueError("system_level needs `produced` (n, systems): who gave which response")
        return _system_family(pairs, np.asarray(produced, dtype=bool)[both])
    if scope == "between_queries":
        pairs = between_queries(pairs)
    elif scope == "within_query":
        pairs = within_query(pairs)
    names = measures_in(scope)
    reasons = [_reason(name, pairs, scope) for name in names]
    weighted_statistic = _point_statistic(pairs, names, reasons)
    return StatisticFamily.from_same_responses(
        weighted_statistic, pairs.contributing, pairs.n_responses, pairs.n_dropped, reasons
    )


def _point_statistic(
    pairs: Pairs, names: tuple[InValue, ...], reasons: list[str | None]
) -> WeightedStatistic:
    # Values that differ by float noise are equal, also across the two sides.
    x, y = np.split(centered(_levels(pairs)), 2)
    difference = x - y
    columns = np.column_stack([np.ones(x.size), x, y, x * x, y * y, difference, difference**2])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sd, sdd = (weights @ sums).T
        some = n > 0
        mean = ratio(sd, n, some)
        square = ratio(sdd, n, some)
        measures = {"ccc": _ccc(n, sx, sy, sxx, syy, sdd), "rmse": np.sqrt(square)}
        squares = np.maximum(sdd - ratio(sd * sd, n, some), 0.0)
        reach = LIMIT * np.sqrt(ratio(squares, n - 1, n > 1))
        measures |= dict(zip(_LIMITS, (mean, mean - reach, mean + reach), strict=True))
        out = np.column_stack([measures[name] for name in names])
        out[:, [reason is not None for reason in reasons]] = np.nan
        return out

    return weighted_statistic


def _ccc(
    n: FloatArray, sx: FloatArray, sy: FloatArray, sxx: FloatArray, syy: FloatArray, sdd: FloatArray
) -> FloatArray:
    """1 - E(x - y)^2 / its expectation if x and y were independent."""
    # All times n squared.
    difference = n * sxx - sx * sx + n * syy - sy * sy + (sx - sy) ** 2
    return 1 - ratio(n * sdd, difference, difference > NEGLIGIBLE * n * (sxx + syy))


def _reason(name: str, pairs: Pairs, scope: Scope) -> str | None:
    count = pairs.x.size
    if not count:
        return "no response has both values"
    if name in {"bland_altman_lower", "bland_altman_upper"} and count < 2:
        return "limits of agreement need at least 2 responses, there is 1"
    if name == "ccc":
        of = {"between_queries": "queries", "within_query": "responses in queries of two or more"}
        if count < 3:
            noun = of.get(scope, "responses")
            return f"a concordance needs at least 3 {noun}, there are {count}"
        if np.unique(_levels(pairs)).size == 1:
            return "both give every one the same value: without variation it is undefined"
    return None


def _levels(pairs: Pairs) -> FloatArray:
    """x and y in one row (2n,), equal where they differ by float noise only."""
    size = np.concatenate([pairs.x_size, pairs.y_size])
    return comparable(np.concatenate([pairs.x, pairs.y]), size)


def _system_family(pairs: Pairs, produced: BoolArray) -> StatisticFamily:
    """`ccc` and `rmse` of the means of systems over their common responses."""
    chosen = produced[:, produced.any(axis=0)].astype(np.float64)
    origin = centered(np.concatenate([pairs.x, pairs.y]))
    x, y = origin[: pairs.x.size], origin[pairs.x.size :]
    systems = chosen.shape[1]
    parts = [
        sums_by_query(chosen * values[:, None], pairs.query, pairs.n_queries)
        if systems
        else np.zeros((pairs.n_queries, 0))
        for values in (np.ones(x.size), x, y)
    ]

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        if not systems:
            return np.full((weights.shape[0], 2), np.nan)
        n, total_x, total_y = (weights @ part for part in parts)
        mx, my = (ratio(total, n, n > 0) for total in (total_x, total_y))
        difference = ((mx - my) ** 2).sum(axis=1)
        out = np.column_stack([np.full(len(mx), np.nan), np.sqrt(difference / systems)])
        if systems >= 3:
            sums = (mx.sum(axis=1), my.sum(axis=1), (mx**2).sum(axis=1), (my**2).sum(axis=1))
            out[:, 0] = _ccc(np.full(len(mx), float(systems)), *sums, difference)
        return out

    reasons: list[str | None] = [None, None]
    if systems < 3:
        reasons[0] = f"a concordance of systems needs at least 3, there are {systems}"
    if not systems:
        reasons[1] = "no system has a response with both values"
    used = chosen.any(axis=1)
    contributing = np.bincount(pairs.query[used], minlength=pairs.n_queries) > 0
    count = int(np.count_nonzero(used))
    family = StatisticFamily.from_same_responses(
        weighted_statistic, contributing, count, pairs.n_dropped + used.size - count, reasons
    )
    if reasons[0] is None and np.isnan(family.points()[0]):
        same = "both give every system the same mean: without variation it is undefined"
        return replace(family, reasons=[same, reasons[1]])
    return family
