"""Simultaneous intervals: for all pairs of systems, or all constructs, at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.computation import t_quantile, two_sided_p
from analysis.core.degrees_of_freedom import effective_df, rests_on_few
from analysis.core.distributions import t_tail
from analysis.core.interval import Interval
from analysis.core.resampling import (
    EQUAL_RESAMPLES,
    NO_SPREAD,
    UNDEFINED_ALLOWED,
    Scheme,
)
from analysis.core.unequal_queries import QueryWeights, UnequalQueries

#: From this many statistics a query on, their correlations are not estimated.
_MOST_A_QUERY = 1 / 3

#: Draws of the largest of several t values, for the jackknife.
_DRAWS = 10_000

#: Numbers that are drawn at once. Part of the definition: changing it changes every draw.
_DRAWN_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class SimultaneousIntervals:
    """Ends (m,) of intervals that cover simultaneously; NaN with a reason where not given."""

    low: FloatArray
    high: FloatArray
    error: FloatArray
    critical_value: float
    level: float
    method: str
    reasons: tuple[str | None, ...]
    p: FloatArray
    """Two-sided p (m,) of each value alone being 0."""
    df: FloatArray
    """Degrees of freedom (m,) of each error, infinite for resamples."""

    def at(self, place: int) -> Interval:
        """The interval of one of the values."""
        low, high = float(self.low[place]), float(self.high[place])
        p = float(self.p[place])
        return Interval(low, high, self.level, self.method, self.reasons[place], p=p)


def simultaneous_intervals(
    point: npt.ArrayLike,
    values: npt.ArrayLike,
    scheme: Scheme,
    level: float = 0.95,
    seed: int = 0,
    contributing: BoolArray | None = None,
    weights: QueryWeights | None = None,
    queries: BoolArray | None = None,
) -> SimultaneousIntervals:
    """Point values plus and minus one critical value times each one's own standard error.

    The critical value is the quantile of the largest |t| over all m statistics (max-t, single
    step): with the bootstrap, of the resamples' own deviations in standard errors; with the
    jackknife, of a multivariate t with queries - 1 degrees of freedom that has the correlations of
    the leave-one-out values. With more statistics than a third of the queries these correlations
    are too uncertain (8 equal systems, 28 pairs: .92 covered at 15 queries), and the critical value
    is Sidak's, which holds whatever they are.

    A statistic may rest on fewer queries than there are, as the difference of two systems that
    share few. Its error is then that of these queries, and the tail that the critical value leaves
    is taken of a t with its own degrees of freedom (`effective_df`). Below five such queries, of
    more, there is no interval: a variance of so few says next to nothing.

    Parameters
    ----------
    point
        Statistics (m,) on the sample; an undefined one stays without an interval.
    values
        Their joint values (R, m) on the resamples of `scheme`.
    scheme
        How the resamples came about: bootstrap or jackknife.
    level
        Probability that all intervals cover.
    seed
        Seed of the draws from the multivariate t.
    contributing
        With the jackknife, which queries (R, m) each statistic rests on. Default: those without
        which its value is another one.
    weights
        With the jackknife, by how much the queries count, where they do not count alike. If one
        of those that a statistic rests on dominates, its error is that of `unequal_queries`.
    queries
        Which of these queries (Q,) bool the values are of. Default: all.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Westfall and Young 1993; Hothorn, Bretz and Westfall 2008; Sidak (1967), Journal of the American
    Statistical Association 62:626-633.
    """
    at, drawn = np.asarray(point, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if at.ndim != 1 or drawn.ndim != 2 or drawn.shape[1] != at.size:
        raise ValueError(f"values of shape {drawn.shape} do not fit {at.size} statistics")
    method = "max_t_bootstrap" if scheme == "bootstrap" else "max_t_jackknife"
    moving = contributing if contributing is not None else drawn != at
    unequal: list[UnequalQueries | None] = [None] * at.size
    if weights is not None and scheme == "jackknife" and len(drawn):
        unequal = [_unequal(weights, queries, used) for used in moving.T]
    reasons = _reasons(at, drawn, moving if scheme == "jackknife" else None, unequal)
    defined = np.array([reason is None for reason in reasons], dtype=bool)
    low, high, error, p, freedom = (np.full(at.size, np.nan) for _ in range(5))
    critical = float("nan")
    if defined.any():
        used = drawn[:, defined]
        complete = used[np.isfinite(used).all(axis=1)]
        deviations = complete - (at[defined] if scheme == "bootstrap" else complete.mean(axis=0))
        count = len(complete)
        squares = np.sum((complete - complete.mean(axis=0)) ** 2, axis=0)
        if scheme == "bootstrap":
            error[defined] = np.sqrt(squares / (count - 1))
            largest = np.abs(deviations / error[defined]).max(axis=1)
            critical = float(np.quantile(largest, level))
            reach = critical * error[defined]
            freedom[defined] = np.inf
        else:
            used_queries = moving[np.isfinite(used).all(axis=1)][:, defined]
            error[defined], freedom[defined] = _errors(complete, used_queries)
            for place in np.flatnonzero(defined):
                if (of := unequal[place]) is not None:
                    own = drawn[moving[:, place], place]
                    error[place], freedom[place] = of.at(int(place)).error(float(at[place]), own)
            critical = _critical(deviations / np.sqrt(squares), level, seed)
            tail = t_tail(critical, count - 1)
            reach = error[defined] * [t_quantile(1 - tail, df) for df in freedom[defined]]
        low[defined], high[defined] = at[defined] - reach, at[defined] + reach
        for place in np.flatnonzero(defined):
            p[place] = two_sided_p(at[place] / error[place], freedom[place])
    return SimultaneousIntervals(
        low, high, error, critical, level, method, tuple(reasons), p, freedom
    )


def _unequal(
    weights: QueryWeights, queries: BoolArray | None, moving: BoolArray
) -> UnequalQueries | None:
    chosen = np.ones(weights.counts.size, dtype=bool) if queries is None else queries.copy()
    chosen[chosen] = moving
    return weights.of(chosen)


def _errors(values: FloatArray, moving: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Jackknife error and degrees of freedom (m,) of values (R, m), by the queries that move."""
    errors, freedom = np.empty((2, values.shape[1]))
    for place, used in enumerate(moving.T):
        own = values[used, place]
        errors[place] = np.sqrt((own.size - 1) / own.size * np.sum((own - own.mean()) ** 2))
        freedom[place] = effective_df(own)
    return errors, freedom


def _reasons(
    point: FloatArray,
    values: FloatArray,
    moving: BoolArray | None,
    unequal: list[UnequalQueries | None],
) -> list[str | None]:
    reasons: list[str | None] = []
    for place, (at, drawn) in enumerate(zip(point, values.T, strict=True)):
        defined = drawn[np.isfinite(drawn)]
        if np.isnan(at):
            reasons.append("the statistic is undefined on the sample")
        elif defined.size < 2:
            reasons.append("an interval needs at least 2 queries")
        elif 1 - defined.size / drawn.size > UNDEFINED_ALLOWED:
            share = 1 - defined.size / drawn.size
            reasons.append(f"undefined in {share:.1%} of {drawn.size} resamples")
        elif np.ptp(defined) <= NO_SPREAD * max(1.0, abs(at)):
            reasons.append(EQUAL_RESAMPLES)
        elif moving is not None and (few := rests_on_few(int(moving[:, place].sum()), len(values))):
            reasons.append(few)
        else:
            of = unequal[place]
            reasons.append(None if of is None else of.reason)
    return reasons


def _critical(unit: FloatArray, level: float, seed: int) -> float:
    """Critical value for statistics whose deviations (queries, m) have length 1."""
    queries, statistics = unit.shape
    if statistics > max(1.0, _MOST_A_QUERY * queries):
        tail = (1 - level ** (1 / statistics)) / 2
        return float(t_quantile(1 - tail, queries - 1))
    return _multivariate_t_quantile(unit, level, seed)


def _multivariate_t_quantile(unit: FloatArray, level: float, seed: int) -> float:
    """Quantile of max |t|, columns of `unit` (queries, m) having length 1."""
    freedom = len(unit) - 1
    rng = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // max(unit.shape))
    largest = []
    for start in range(0, _DRAWS, rows):
        size = min(rows, _DRAWS - start)
        normal = rng.standard_normal((size, len(unit))) @ unit
        scale = np.sqrt(rng.chisquare(freedom, size) / freedom)
        largest.append(np.abs(normal).max(axis=1) / scale)
    return float(np.quantile(np.concatenate(largest), level))
