"""Rank reversals: how often another scoring would order two systems' mean scores differently.

There are three kinds of another scoring: the same run once more on the same queries (repeats),
another run like these on the same queries (runs), and the same judge on other queries like these
(queries).

A scoring gives a difference D = d + e of two systems' means, e normal with variance v. Two scorings
have different signs with probability 2 F(l) F(-l), where l = d / sqrt(v) and F is the normal
distribution. With K scorings, mean difference m and an independent estimate of v on f degrees of
freedom, sqrt(K) m / sqrt(v) is noncentral t with noncentrality sqrt(K) l. This gives l an exact
interval, and with it the probability, which falls as l moves away from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, ndtr

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import NOISE, as_values
from analysis.core.resampling import no_spread
from analysis.statistics.discrimination.system_scores import PAIRS_COMPARED

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
    """The noncentrality (P,) at which a noncentral t is below t with this probability."""
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


ONE_SCORING = "there is one scoring: two are needed"
NO_QUERY = "no query has scores of both systems from every scoring"
ONE_QUERY = "one query has scores of both systems: two are needed"
EQUAL_SCORINGS = no_spread("every scoring gives the same difference")


@dataclass(frozen=True, eq=False)
class Flips:
    """Of P pairs of systems, the probability that two scorings order them differently.

    `value` (P,) with `low` and `high`; `opposite` and `tied` of the `compared` pairs of scorings
    at hand order the two differently, or have equal means (within rounding) in one of the two at
    least. `reasons` explain missing values and intervals.
    """

    first: IntArray
    second: IntArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    opposite: IntArray
    tied: IntArray
    compared: int
    n_queries: IntArray
    reasons: tuple[str | None, ...]
    reason: str | None = None

    @property
    def mean(self) -> tuple[float, float, float, str | None]:
        """Mean over the pairs, the means of their ends, and why one of these is missing.

        The means of the ends are an interval that covers at least at the level, however the pairs
        depend on each other: in the worst case all miss together.
        """
        defined = np.isfinite(self.value)
        if not defined.any():
            nan = float("nan")
            return nan, nan, nan, self.reason or next(iter(self.reasons), "no pair of systems")
        value = float(self.value[defined].mean())
        ended = np.isfinite(self.low)
        if not ended.any():
            return value, float("nan"), float("nan"), EQUAL_SCORINGS
        # A pair that every scoring orders with the same difference does not flip.
        low, high = (float(np.where(ended, e, 0.0)[defined].mean()) for e in (self.low, self.high))
        return value, low, high, None


def flips_of_repeats(scores: npt.ArrayLike, level: float = 0.95) -> Flips:
    """Flips between two scorings by one run, from scores (K, Q, S) of its K repeats.

    Given the run, the noise of different answers is independent, so that the variance of a
    difference of means follows from the spread of the repeats in each query, all queries together.
    Its degrees of freedom are low where few queries have most of the noise.
    """
    array = _checked(scores)
    return _each(array, _between_repeats, float(len(array)), level)


def flips_of_runs(scores: npt.ArrayLike, level: float = 0.95) -> Flips:
    """Flips between two runs like these, from scores (R, Q, S) of R runs.

    Runs may shift systems as a whole, so the variance is that of the R differences of means, on
    R - 1 degrees of freedom: with two or three runs the interval is very wide.
    """
    array = _checked(scores)
    return _each(array, _between_runs, float(len(array)), level)


def flips_of_queries(scores: npt.ArrayLike, level: float = 0.95) -> Flips:
    """Flips between two samples of as many queries, from scores (Q, S) of one scoring."""
    array = as_values(scores)
    if array.ndim != 2:
        raise ValueError(f"scores have shape {array.shape}, expected (queries, systems)")
    return _each(array[None], _between_queries, 1.0, level)


def _checked(scores: npt.ArrayLike) -> FloatArray:
    array = as_values(scores)
    if array.ndim != 3:
        raise ValueError(f"scores have shape {array.shape}, expected (scorings, queries, systems)")
    return array


_Noise = tuple[float, float]
"""Variance of one scoring's difference of means, and its degrees of freedom."""


def _between_repeats(apart: FloatArray) -> _Noise:
    repeats, queries = apart.shape
    squares = apart.var(axis=0, ddof=1)
    total, fourth = float(squares.sum()), float((squares**2).sum())
    # Twice the squared variance over its variance, which the spread over queries shows: where few
    # answers move at all, their number is random as well.
    spread, most = fourth - total**2 / queries, float(queries * (repeats - 1))
    df = 2 * total**2 / spread if spread > 0 else most
    return total / queries**2, min(max(df, 1.0), most)


def _between_runs(apart: FloatArray) -> _Noise:
    return float(apart.mean(axis=1).var(ddof=1)), float(len(apart) - 1)


def _between_queries(apart: FloatArray) -> _Noise:
    queries = apart.shape[1]
    return float(apart.var(ddof=1)) / queries, queries - 1.0


def _each(
    array: FloatArray, noise_of: Callable[[FloatArray], _Noise], scorings: float, level: float
) -> Flips:
    first, second = np.triu_indices(array.shape[2], 1)
    if first.size > PAIRS_COMPARED:
        return _none(f"{first.size:,} pairs of systems are more than {PAIRS_COMPARED:,}")
    one_sample = noise_of is _between_queries
    if len(array) < 2 and not one_sample:
        return _none(ONE_SCORING)
    size = first.size
    distance, df = np.full(size, np.nan), np.ones(size)
    value = np.full(size, np.nan)
    opposite, tied, queries = (np.zeros(size, dtype=np.int64) for _ in range(3))
    reasons: list[str | None] = [None] * size
    for place, (i, j) in enumerate(zip(first, second, strict=True)):
        a, b = array[:, :, i], array[:, :, j]
        both = np.isfinite(a).all(axis=0) & np.isfinite(b).all(axis=0)
        queries[place] = number = int(np.count_nonzero(both))
        if number == 0 or (one_sample and number < 2):
            reasons[place] = ONE_QUERY if number else NO_QUERY
            continue
        a, b = a[:, both], b[:, both]
        means = (a - b).mean(axis=1)
        rounding = NOISE * float((np.abs(a) + np.abs(b)).mean())
        means[np.abs(means) <= rounding] = 0.0
        up, down = int((means > 0).sum()), int((means < 0).sum())
        zero = len(means) - up - down
        opposite[place] = up * down
        tied[place] = zero * (up + down) + zero * (zero - 1) // 2
        variance, df[place] = noise_of(a - b)
        if variance <= rounding**2:
            value[place], reasons[place] = 0.0, EQUAL_SCORINGS
            continue
        distance[place] = means.mean() / np.sqrt(variance)
    spread = np.isfinite(distance)
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    value[spread] = flip_probability(distance[spread])
    if spread.any():
        low[spread], high[spread] = flip_bounds(distance[spread], scorings, df[spread], level)
    compared = len(array) * (len(array) - 1) // 2
    return Flips(
        first, second, value, low, high, opposite, tied, compared, queries, tuple(reasons),
        None if size else "there is one system: two are needed",
    )  # fmt: skip


def _none(reason: str) -> Flips:
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return Flips(none, none, empty, empty, empty, none, none, 0, none, (), reason)
