"""When to stop rating: intervals that stay valid under repeated interim analyses.

The usual interval covers only where the sample size was fixed in advance. Stopping as soon as it is
narrow enough, with an analysis after every query, covers .73 in place of .95. A confidence sequence
is valid at all sizes at once (`stop_by_width`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import as_values

#: Fewest queries at which to stop: intervals that are narrow by chance are most frequent at first.
LEAST_QUERIES = 30

#: Largest bet, as a share of the bet that could lose everything at once.
_TRUNCATION = 0.5

#: Largest number of queries that is forecast, as a multiple of those so far.
_AHEAD = 256

#: Largest number of queries that is forecast.
_FARTHEST = 1_000_000


@dataclass(frozen=True)
class Stopping:
    """The state of a sequential study.

    `value` is the mean over queries with the interval `low` to `high`, `half_width` half its
    length. `stop` is True where the wanted half width is reached; `more` is the expected number
    of further queries if they vary as those so far, None where it is unknown. While `stop` is
    False, `reason` explains why. `n_dropped` counts queries without a value.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    wanted: float
    stop: bool
    more: int | None
    n_queries: int
    n_dropped: int
    reason: str | None = None

    @property
    def half_width(self) -> float:
        """Half the length of the interval; NaN without one."""
        return (self.high - self.low) / 2


def confidence_sequence(
    values: npt.ArrayLike, bounds: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Interval of the mean that is valid at every number of values at once.

    Parameters
    ----------
    values
        (n,) one value per query in the order in which they came, which must be random; NaN where
        missing; missing values are left out.
    bounds
        The smallest and the largest value that there can be: (0, 100), or (-100, 100) for a
        difference of two such.
    level
        Probability with which all intervals, after 1, 2, ... values, contain the mean.

    Returns
    -------
    tuple of float
        Both ends, within the bounds. Intervals never grow as values come in.

    Raises
    ------
    ValueError
        A value is outside the bounds, or an argument has the wrong shape.

    Notes
    -----
    Hedged betting against each candidate mean m, with predictable bets from the running variance:
    Waudby-Smith and Ramdas (2024), Journal of the Royal Statistical Society B 86:1-27, Theorem 3.
    The wealth of a bet that the mean is above m falls as m rises, so that each end is found by
    bisection, and always rounded outwards.
    """
    unit, low, width = _on_unit(values, bounds, level)
    if not unit.size:
        return bounds
    bets = _bets(unit, level)
    limit = np.log(2 / (1 - level))
    lower = _end(unit, bets, limit)
    upper = 1 - _end(1 - unit, bets, limit)
    return low + width * lower, low + width * upper


def stop_by_width(
    values: npt.ArrayLike,
    wanted: float,
    bounds: tuple[float, float],
    level: float = 0.95,
    least: int = LEAST_QUERIES,
) -> Stopping:
    """Whether a half width of `wanted` is reached; may be called after every query.

    Values are those of `confidence_sequence`. Never stops before `least` queries (30 or more), nor
    while all values are the same.

    Raises
    ------
    ValueError
        As `confidence_sequence`; or `wanted` is not above 0, or `least` is below 30.
    """
    if not wanted > 0:
        raise ValueError(f"wanted half width {wanted:g}: expected a number above 0")
    if least < LEAST_QUERIES:
        raise ValueError(f"least = {least}: expected {LEAST_QUERIES} queries or more")
    array = as_values(values)
    present = array[np.isfinite(array)]
    low, high = confidence_sequence(array, bounds, level)
    n = int(present.size)
    reached = (high - low) / 2 <= wanted
    constant = n > 0 and float(np.ptp(present)) == 0
    more: int | None = None
    if n == 0:
        reason: str | None = "no query has a value yet"
    elif constant:
        reason = (
            f"all {n} queries have the same value: without variation there is no estimate"
            if n > 1
            else "one query does not show how queries vary"
        )
    else:
        needed = n if reached else _needed(present, wanted, bounds, level)
        more = None if needed is None else max(needed, least) - n
        reason = None
        if not reached:
            reason = f"the interval is {(high - low) / 2:.4g} to each side, {wanted:g} is wanted"
        elif n < least:
            reason = f"{n} queries are too few to stop at; at least {least} are needed"
    return Stopping(
        value=float(present.mean()) if n else float("nan"),
        low=low,
        high=high,
        level=level,
        method="betting_confidence_sequence",
        wanted=wanted,
        stop=reason is None,
        more=max(more, 0) if more is not None else None,
        n_queries=n,
        n_dropped=int(array.size - n),
        reason=reason,
    )


def _on_unit(
    values: npt.ArrayLike, bounds: tuple[float, float], level: float
) -> tuple[FloatArray, float, float]:
    low, high = (float(end) for end in bounds)
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"bounds {low:g} to {high:g}: expected two finite numbers in order")
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
    array = as_values(values)
    if array.ndim != 1:
        raise ValueError(f"values have shape {array.shape}, expected (n,): one per query")
    present = array[np.isfinite(array)]
    outside = present[(present < low) | (present > high)]
    if outside.size:
        raise ValueError(f"value {outside[0]:g} is outside the bounds {low:g} to {high:g}")
    return (present - low) / (high - low), low, high - low


def _bets(unit: FloatArray, level: float) -> FloatArray:
    """Size of the bet on each value, from the values before it."""
    count = np.arange(1, unit.size + 1)
    mean = (0.5 + np.cumsum(unit)) / (count + 1)
    variance = (0.25 + np.cumsum((unit - mean) ** 2)) / (count + 1)
    before = np.r_[0.25, variance[:-1]]
    bets: FloatArray = np.sqrt(2 * np.log(2 / (1 - level)) / (before * count * np.log1p(count)))
    return bets


def _end(unit: FloatArray, bets: FloatArray, limit: float) -> float:
    """Lower end: the smallest mean that no bet so far has refuted, rounded down."""

    def refuted(mean: float) -> bool:
        sizes = np.minimum(bets, _TRUNCATION / mean)
        # Half of the stake is on each side.
        wealth = np.cumsum(np.log1p(sizes * (unit - mean))) - np.log(2)
        return bool(wealth.max() >= limit)

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _needed(
    present: FloatArray, wanted: float, bounds: tuple[float, float], level: float
) -> int | None:
    """Queries at which the width is reached if those so far repeat themselves."""

    def reached(n: int) -> bool:
        low, high = confidence_sequence(np.resize(present, n), bounds, level)
        return (high - low) / 2 <= wanted

    below, above = present.size, 2 * present.size
    while not reached(above):
        below, above = above, 2 * above
        if above > min(_FARTHEST, _AHEAD * present.size):
            return None
    while above - below > max(1, below // 100):
        middle = (below + above) // 2
        below, above = (below, middle) if reached(middle) else (middle, above)
    return above
