"""Looks set beforehand: each spends a part of the error, so that all together keep to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special

from analysis.core.quantiles import t_quantile
from analysis.core.query_statistic import FloatArray, as_values
from analysis.planning.stopping_rule import LEAST_QUERIES, Stopping

Spending = Literal["obrien_fleming", "pocock"]

#: Points of the grid on which the density of the running sum is kept, and its half width.
_POINTS, _REACH = 1201, 8.0


def spent(fraction: float, alpha: float, spending: Spending = "obrien_fleming") -> float:
    """Two-sided error spent when a fraction (0 to 1) of the planned queries is there.

    Source: Lan and DeMets (1983), Biometrika 70:659-663: spending functions that follow the
    boundaries of O'Brien and Fleming (hardly anything early) and of Pocock (about evenly).
    """
    if spending not in get_args(Spending):
        raise ValueError(f"spending {spending!r}: expected one of {', '.join(get_args(Spending))}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction {fraction:g} lies outside 0 to 1")
    if fraction == 0:
        return 0.0
    if spending == "pocock":
        return float(alpha * np.log1p((np.e - 1) * fraction))
    # Each side spends half of the error as a one-sided boundary does.
    return float(4 * special.ndtr(-_z(alpha / 4) / np.sqrt(fraction)))


def look_bounds(
    fractions: Sequence[float], level: float = 0.95, spending: Spending = "obrien_fleming"
) -> FloatArray:
    """Standard errors (K,) to each side of the estimate, for looks at these fractions.

    `fractions` rise; the last is at most 1. The intervals of all looks together contain the mean
    with probability `level` if all fractions up to 1 are looked at. By numerical integration over
    the running sum (Armitage, McPherson and Rowe 1969, JRSS A 132:235-244).

    Raises
    ------
    ValueError
        Fractions do not rise within 0 to 1.
    """
    times = np.asarray(fractions, dtype=np.float64)
    if times.ndim != 1 or not times.size or times[0] <= 0 or times[-1] > 1:
        raise ValueError("looks are fractions above 0, at most 1, one or more")
    if (np.diff(times) <= 0).any():
        raise ValueError("looks must rise: each later than the one before")
    return np.array(_look_bounds(tuple(times.tolist()), level, spending))


@cache
def _look_bounds(times: tuple[float, ...], level: float, spending: Spending) -> tuple[float, ...]:
    alpha = 1 - level
    bounds: list[float] = []
    sums, density = np.zeros(1), np.ones(1)  # the running sum and its mass before the look
    last, before = 0.0, 0.0
    for time in times:
        step = float(np.sqrt(time - last))
        now = spent(time, alpha, spending)
        bounds.append(_bound(sums, density, step, float(np.sqrt(time)), now - before))
        edge = bounds[-1] * np.sqrt(time)
        grid = np.linspace(-edge, edge, _POINTS)
        kernel = np.exp(-(((grid[:, None] - sums) / step) ** 2) / 2) / (step * np.sqrt(2 * np.pi))
        density = (kernel @ density) * _simpson(grid)
        sums, last, before = grid, time, now
    return tuple(bounds)


def stop_at_looks(
    values: npt.ArrayLike,
    wanted: float,
    looks: Sequence[int],
    level: float = 0.95,
    spending: Spending = "obrien_fleming",
) -> Stopping:
    """Whether a half width of `wanted` is reached at the last of the looks that is due.

    Parameters
    ----------
    values
        (n,) one value per query in the order in which they came; NaN where missing, passed over.
    wanted
        Half width of the interval of the mean.
    looks
        Numbers of queries at which one looks, set beforehand; the first is at least 30, the last
        is the planned size.
    level, spending
        Of all looks together, and how they share the error.

    Returns
    -------
    Stopping
        With the interval at the last look that is due; values after it wait for the next look.
        `more` is the distance to the next look; None after the last one.

    Raises
    ------
    ValueError
        Looks do not rise from 30 on, or values have the wrong shape.
    """
    if not wanted > 0:
        raise ValueError(f"wanted half width {wanted:g}: expected a number above 0")
    if not looks or min(looks) < LEAST_QUERIES:
        raise ValueError(f"looks {list(looks)}: name some, the first at {LEAST_QUERIES} or later")
    array = as_values(values)
    if array.ndim != 1:
        raise ValueError(f"values have shape {array.shape}, expected (n,): one per query")
    given = array[np.isfinite(array)]
    bounds = look_bounds([look / looks[-1] for look in looks], level, spending)
    due = [place for place, look in enumerate(looks) if look <= given.size]
    later = [look for look in looks if look > given.size]
    more = later[0] - int(given.size) if later else None
    low = high = value = float("nan")
    used = looks[due[-1]] if due else 0
    seen = given[:used]
    if not due:
        reason: str | None = f"the first look is at {looks[0]} queries, there are {given.size}"
    elif float(np.ptp(seen)) == 0:
        value = float(seen.mean())
        reason = f"all {used} queries have the same value: without variation nothing is known"
    else:
        value = float(seen.mean())
        # The look's share of the error, with the t quantile of its number of queries.
        tail = float(special.ndtr(bounds[due[-1]]))
        reach = t_quantile(tail, used - 1) * float(seen.std(ddof=1)) / np.sqrt(used)
        low, high = value - reach, value + reach
        narrow = reach <= wanted
        reason = (
            None if narrow else f"the interval is {reach:.4g} to each side, wanted is {wanted:g}"
        )
        more = 0 if narrow else more
    return Stopping(
        value=value,
        low=low,
        high=high,
        level=level,
        method=f"looks_{spending}",
        wanted=wanted,
        stop=reason is None,
        more=more,
        n_queries=int(used),
        n_dropped=int(array.size - given.size),
        reason=reason,
    )


def _z(tail: float) -> float:
    return float(-special.ndtri(tail))


def _bound(sums: FloatArray, mass: FloatArray, step: float, root: float, share: float) -> float:
    """Standard errors beyond which a share of the error falls at this look."""

    def beyond(bound: float) -> float:
        edge = bound * root
        outside = special.ndtr((sums - edge) / step) + special.ndtr((-edge - sums) / step)
        return float(outside @ mass)

    return _falling_root(lambda bound: beyond(bound) - share)


def _falling_root(function: Callable[[float], float]) -> float:
    low, high = 0.0, _REACH
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def _simpson(grid: FloatArray) -> FloatArray:
    weights = np.full(grid.size, 2.0)
    weights[1::2] = 4.0
    weights[0] = weights[-1] = 1.0
    out: FloatArray = weights * (grid[1] - grid[0]) / 3
    return out
