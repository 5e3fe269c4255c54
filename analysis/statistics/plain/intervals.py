"""Jackknife and Wilson intervals of figures by response, as numpy computes them elsewhere.

`core.resampling` and `statistics.binary.clustered_share` have the definitions, the sources and the
measured coverage; tests/analysis/statistics/plain compares the results. Here each response is that
of a separate query.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from analysis.core.distributions import beta_quantile, normal_quantile, t_quantile, t_tail
from analysis.core.end_intervals import (
    all_alike,
    equal_values_interval,
    few_differ,
    mostly_equal,
    rare_quantile,
)
from analysis.core.interval import Interval, withheld
from analysis.core.uncertainty import Transform, Uncertainty

NO_SPREAD = 1e-12


def jackknife(
    point: float,
    without: Sequence[float],
    level: float,
    transform: Transform | None = None,
    trials: int | None = None,
    step: float | None = None,
) -> Interval:
    """Interval of a figure from its values (n,) without each response."""
    count, values = len(without), without
    if count < 2:
        return withheld(
            level, "jackknife_t", f"an interval needs at least 2 queries, there is {count}"
        )
    if transform == "logit" and not 0 < point < 1:
        return all_alike(point, (0.0, 1.0), count, level)
    if transform == "fisher_z":
        if abs(point) >= 1:
            return all_alike(point, (-1.0, 1.0), trials or count, level)
        values = [0.0 if math.isnan(v) else v for v in values]
        z = math.atanh(point)
        if any(abs(v) >= 1 for v in values):
            values = [z + (v - point) / (1 - point**2) for v in values]
        else:
            values = [math.atanh(v) for v in values]
        point = z
    if max(values) - min(values) <= NO_SPREAD * max(1.0, abs(point)):
        if step is not None:
            return equal_values_interval(point, step, count, level)
        return withheld(
            level, "jackknife_t", "every resample gives the same value: there is no spread"
        )
    known = trials is not None or step is not None
    alike = transform == "logit" or (transform == "fisher_z" and known and mostly_equal(without))
    return _interval_of_spread(
        point, values, level, transform, known and few_differ(without), alike
    )


def _interval_of_spread(
    point: float,
    values: Sequence[float],
    level: float,
    transform: Transform | None,
    rare: bool,
    alike: bool,
) -> Interval:
    count = len(values)
    mean = math.fsum(values) / count
    squares = [(v - mean) ** 2 for v in values]
    total = math.fsum(squares)
    error = math.sqrt((count - 1) / count * total)
    df = count - 1.0 if alike else _effective_df(squares, total)
    if rare and not alike:
        tail = (1 + level) / 2
        error *= rare_quantile(tail, df, count) / t_quantile(tail, df)
    p = math.nan if transform == "logit" else 2 * t_tail(abs(point) / error, df)
    if transform == "logit":
        error /= point * (1 - point)
        point = math.log(point / (1 - point))
    reach = t_quantile((1 + level) / 2, df) * error
    low, high = point - reach, point + reach
    if transform == "fisher_z":
        low, high = math.tanh(low), math.tanh(high)
    elif transform == "logit":
        low, high = (1 / (1 + math.exp(-end)) for end in (low, high))
    uncertainty = Uncertainty((error**2,), (df,), transform)
    return Interval(low, high, level, "jackknife_t", None, 0.0, count, p, uncertainty)


def _effective_df(squares: Sequence[float], total: float) -> float:
    count = len(squares)
    spread = math.fsum(s * s for s in squares) - total**2 / count
    if spread <= 0:
        return count - 1.0
    return min(count - 1.0, max(1.0, 2 * total**2 / spread * (count - 1) / (count + 1)))


def share(hits: Sequence[float], level: float) -> Interval:
    """Interval of the mean of `hits` (n,), each 0 to 1, of separate responses."""
    count = len(hits)
    if count < 2:
        why = f"an interval needs at least 2 queries, there is {count}" if count else "no query"
        return withheld(level, "wilson_effective_number", why)
    total = math.fsum(hits)
    point = total / count
    without = [(total - hit) / (count - 1) for hit in hits]
    mean = math.fsum(without) / count
    variance = (count - 1) / count * math.fsum((v - mean) ** 2 for v in without)
    binomial = point * (1 - point)
    effective = float(count)
    if variance > 1e-24 and binomial > 0:
        effective = min(effective, binomial / variance)
    z = t_quantile((1 + level) / 2, count - 1.0)
    square = z * z / effective
    center = (point + square / 2) / (1 + square)
    reach = z / (1 + square) * math.sqrt(binomial / effective + square / (4 * effective))
    low, high = max(0.0, center - reach), min(1.0, center + reach)
    if point > 0.5:
        high = max(high, _exact_end(1 - point, effective, z, level))
    else:
        low = min(low, 1 - _exact_end(point, effective, z, level))
    return Interval(low, high, level, "wilson_effective_number")


def _exact_end(missed: float, effective: float, z: float, level: float) -> float:
    if missed <= 0:
        return 1.0
    tail = (1 - level) / 2
    number = effective * (normal_quantile(1 - tail) / z) ** 2
    return 1 - beta_quantile(tail, missed * number, (1 - missed) * number + 1)
