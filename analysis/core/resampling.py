"""Resampling of queries, and the intervals that follow from it.

All responses and ratings of a query are drawn together, because they share its difficulty. The
intervals are for *these raters*: the panel is fixed. Intervals for raters like these come from
`variance_components` and `icc`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.computation import one_blas_thread, t_quantile, two_sided_p
from analysis.core.degrees_of_freedom import effective_df, rests_on_few
from analysis.core.end_intervals import (
    all_alike,
    equal_values_interval,
    few_differ,
    mostly_equal,
    rare_quantile,
)
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import BLOCK_NUMBERS, QueryStatistic
from analysis.core.skewness import jackknife_skewness, with_skewness, without_skewness
from analysis.core.uncertainty import Transform, Uncertainty
from analysis.core.unequal_queries import UnequalQueries

Scheme = Literal["bootstrap", "jackknife"]
Statistic = QueryStatistic | Callable[[FloatArray], FloatArray]

#: Below this many queries the jackknife with a t quantile replaces the percentile bootstrap. Where
#: two thirds of the scores are at the end of the scale, that covers .86 to .91 at 15 queries, .92
#: to .94 at 60 and .94 to .95 at 500; the jackknife .92 to .96, .95 to .96 and .95
#: (tests/coverage/coverage.csv). It also needs fewer evaluations: one a query.
PERCENTILE_FROM = 1000

#: With a larger share of undefined resamples no percentile interval is given.
UNDEFINED_ALLOWED = 0.01

#: Resamples closer together than this (relative to the point) are equal up to rounding.
NO_SPREAD = 1e-12


def no_spread(equal: str) -> str:
    """The reason why there is no interval, after what is equal: 'every difference is the same'."""
    return f"{equal}: there is no spread"


EQUAL_RESAMPLES = no_spread("every resample gives the same value")

#: Rows that share one random stream. Part of the definition: changing it changes every draw.
ROWS_PER_STREAM = 256

#: Weights that are kept in memory (32 MB); of more, each is drawn again whenever it is needed.
KEPT_WEIGHTS = 32_000_000

#: Folds of queries, unless a number is given.
FOLDS = 10


@dataclass(frozen=True, eq=False)
class Replicates:
    """A statistic's point value and its values (R,) on the resamples of one scheme."""

    point: float
    values: FloatArray
    scheme: Scheme
    n_queries: int
    reason: str | None = None
    trials: int | None = None
    """Independent comparisons that a correlation rests on; None: not known."""
    resolution: float | None = None
    """The smallest step of the values that the statistic is a mean of, if it is one."""
    separate: bool = False
    """Whether it is known that each response is that of another query."""
    weights: UnequalQueries | None = None
    """By how much these queries count, where one of them dominates."""
    step: float | None = None
    """By how much a query that differs changes it, times their number, if known."""

    def __sub__(self, other: Replicates) -> Replicates:
        """Joint difference; both must come from the same resamples."""
        if self.scheme != other.scheme or self.values.shape != other.values.shape:
            raise ValueError(
                f"replicates of different resamples ({self.scheme} {self.values.shape}, "
                f"{other.scheme} {other.values.shape}): draw both with one scheme"
            )
        return Replicates(
            self.point - other.point,
            self.values - other.values,
            self.scheme,
            max(self.n_queries, other.n_queries),
            self.reason or other.reason,
            weights=self.weights or other.weights,
            step=None if self.step is None or other.step is None else max(self.step, other.step),
        )


@dataclass(frozen=True)
class QueryResampling:
    """Weights of `n_queries` queries for all statistics of a report.

    Random numbers come from one stream per block of 256 rows, spawned from the seed: the first
    rows do not depend on how many are drawn, nor on how the work is divided.
    """

    n_queries: int
    resamples: int = 2000
    seed: int = 0
    level: float = 0.95
    _computed: dict[tuple[bytes, ...], FloatArray] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.n_queries < 0 or self.resamples < 1:
            raise ValueError(f"cannot draw {self.resamples} resamples of {self.n_queries} queries")
        if not 0 < self.level < 1:
            raise ValueError(f"level {self.level} is not between 0 and 1")

    @cached_property
    def bootstrap(self) -> npt.NDArray[np.uint8]:
        """Multinomial counts (resamples, n_queries), shared by all statistics."""
        weights = np.empty((self.resamples, self.n_queries), dtype=np.uint8)
        for row, counts in zip(weights, self._drawn(), strict=False):
            row[:] = counts
        return weights

    def bootstrap_blocks(self, rows: int, first: int | None = None) -> Iterator[FloatArray]:
        """The `first` rows of `bootstrap` (by default all), at most `rows` at a time.

        Of many queries they are drawn for each call and never in memory together.
        """
        number = min(self.resamples, first or self.resamples)
        few = self.resamples * self.n_queries <= KEPT_WEIGHTS
        drawn = iter(self.bootstrap) if few else self._drawn()
        for start in range(0, number, rows):
            block = np.empty((min(rows, number - start), self.n_queries))
            for row in block:
                row[:] = next(drawn)
            yield block

    def _drawn(self) -> Iterator[npt.NDArray[np.uint8]]:
        """Counts (n_queries,) of one resample after the other, without end."""
        size = self.n_queries
        for block in count():
            stream = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(block,)))
            for _ in range(ROWS_PER_STREAM):
                drawn = stream.integers(size, size=size) if size else np.empty(0, dtype=np.int64)
                # A count above 255 needs more than 255 queries, and has then a chance below 1e-400.
                yield np.bincount(drawn, minlength=size).astype(np.uint8)

    @property
    def jackknife(self) -> FloatArray:
        """Leave-one-query-out weights (n_queries, n_queries)."""
        return np.ones((self.n_queries, self.n_queries)) - np.eye(self.n_queries)

    def scheme(self, contributing: BoolArray) -> Scheme:
        """The scheme that suits a statistic of these queries (Q,)."""
        return "bootstrap" if np.count_nonzero(contributing) >= PERCENTILE_FROM else "jackknife"

    def evaluate(
        self, statistic: Statistic, scheme: Scheme = "bootstrap", leave_out: BoolArray | None = None
    ) -> FloatArray:
        """Values of a statistic on every resample, computed in blocks of at most 16 MB of weights.

        A plain function may return (R,) or (R, m). With the jackknife, `leave_out` (Q,) restricts
        the rows to the queries worth leaving out. Matrix products run in one thread, so that their
        bits do not depend on the number of cores.
        """
        with one_blas_thread():
            return self._evaluated(statistic, scheme, leave_out)

    def _evaluated(
        self, statistic: Statistic, scheme: Scheme, leave_out: BoolArray | None
    ) -> FloatArray:
        if not isinstance(statistic, QueryStatistic) or statistic.reason is not None:
            return self._in_blocks(statistic, scheme, leave_out)
        if statistic.combination is not None:
            return statistic.combination(
                [self._evaluated(part, scheme, leave_out) for part in statistic.parts]
            )
        if statistic.key is None:
            return self._in_blocks(statistic, scheme, leave_out)
        rows = b"" if leave_out is None else leave_out.tobytes()
        place = (statistic.key, scheme.encode(), rows)
        if place not in self._computed:
            values = self._in_blocks(statistic, scheme, leave_out)
            values.flags.writeable = False
            self._computed[place] = values
        return self._computed[place]

    def _in_blocks(
        self, statistic: Statistic, scheme: Scheme, leave_out: BoolArray | None
    ) -> FloatArray:
        rows = max(1, BLOCK_NUMBERS // max(1, self.n_queries))
        if scheme == "bootstrap":
            parts = [statistic(block) for block in self.bootstrap_blocks(rows)]
        else:
            queries = np.arange(self.n_queries) if leave_out is None else np.flatnonzero(leave_out)
            parts = []
            for i in range(0, max(1, queries.size), rows):
                chosen = queries[i : i + rows]
                block = np.ones((chosen.size, self.n_queries))
                block[np.arange(chosen.size), chosen] = 0
                parts.append(statistic(block))
        return np.concatenate(parts)

    def replicates(self, statistic: Statistic, scheme: Scheme | None = None) -> Replicates:
        """Point value and resamples; by default the scheme that suits the contributing queries."""
        if isinstance(statistic, QueryStatistic):
            contributing, reason = statistic.contributing, statistic.reason
            point = statistic.point
            trials, resolution = statistic.trials, statistic.resolution
            separate = statistic.n_responses == statistic.n_queries
            unequal = statistic.weights.of(contributing) if statistic.weights else None
            step = statistic.step
        else:
            contributing, reason = np.ones(self.n_queries, dtype=bool), None
            trials, resolution, separate, unequal, step = None, None, False, None, None
            point = float(statistic(np.ones((1, self.n_queries)))[0])
        if contributing.size != self.n_queries:
            raise ValueError(
                f"the statistic has {contributing.size} queries, the resampling {self.n_queries}"
            )
        count = int(np.count_nonzero(contributing))
        chosen = scheme or self.scheme(contributing)
        if np.isnan(point) or count < 2:
            return Replicates(point, np.empty(0), chosen, count, reason)
        values = self.evaluate(statistic, chosen, contributing if chosen == "jackknife" else None)
        known = trials, resolution, separate, unequal, step
        return Replicates(point, values, chosen, count, reason, *known)

    def interval(
        self,
        statistic: Statistic,
        transform: Transform | None = None,
        scheme: Scheme | None = None,
    ) -> Interval:
        """Interval of a statistic for these raters.

        From 1,000 contributing queries on, the percentile bootstrap; below, the jackknife with a t
        quantile at `effective_df` degrees of freedom, for correlations on Fisher's z scale
        (`transform="fisher_z"`), for shares on the logit scale (`transform="logit"`; the error is
        the jackknife's divided by p(1 - p), since leaving a query out may leave a share of 0), for
        skewed differences with Hall's transformation of t (`transform="skewness"`). The
        percentile interval needs no transform. Where one query dominates, the error is that of
        `unequal_queries`; below five contributing queries, of more, there is none. A correlation or
        share at an end of its range, and
        a mean of equal values, have the intervals of `end_intervals`; a resample in which one side
        of a correlation of responses is constant counts as a correlation of 0. For shares of .05 to
        .8 at 12 and 30 queries of 4 responses, independent or correlated by up to .6 within a
        query, the logit covers .950 to .977, the plain interval .893 to .999.
        """
        return self.interval_of(self.replicates(statistic, scheme), transform)

    def interval_of(self, replicates: Replicates, transform: Transform | None = None) -> Interval:
        """Interval of values already computed, so that differences can be formed first."""
        method = "percentile_bootstrap" if replicates.scheme == "bootstrap" else "jackknife_t"
        if why := _nothing_to_resample(replicates):
            return withheld(self.level, method, why)
        values, point = replicates.values, replicates.point
        if (at_end := self._at_end(replicates, transform)) is not None:
            return at_end
        if transform == "fisher_z" and replicates.trials:
            # Where one side is constant, as without the only response that fails, nothing is
            # ordered.
            values = np.where(np.isfinite(values), values, 0.0)
        if transform == "fisher_z" and replicates.scheme == "jackknife":
            values, point = _on_fishers_scale(values, point)
        defined = values[np.isfinite(values)]
        share = 1 - defined.size / values.size
        # A figure that rests on a single query has no jackknife error.
        if share > (UNDEFINED_ALLOWED if replicates.scheme == "bootstrap" else 0):
            return withheld(
                self.level, method, f"undefined in {share:.1%} of {values.size} resamples", share
            )
        if np.ptp(defined) <= NO_SPREAD * max(1.0, abs(point)):
            return self._interval_of_equal_values(replicates, transform, method)
        weights = replicates.weights if replicates.scheme == "jackknife" else None
        few = rests_on_few(replicates.n_queries, self.n_queries)
        if why := few or (weights.reason if weights else None):
            return withheld(self.level, method, why)
        known = replicates.trials or replicates.resolution
        separate = replicates.values.tolist() if replicates.separate and known else []
        rare = few_differ(separate)
        alike = transform == "logit" or (transform == "fisher_z" and mostly_equal(separate))
        return self._interval_of_spread(
            point, defined, values.size, share, replicates.scheme, transform, rare, alike, weights
        )

    def _at_end(self, replicates: Replicates, transform: Transform | None) -> Interval | None:
        """Interval of a correlation of 1 or -1, or a share of 0 or 1; None for other values."""
        point = replicates.point
        if transform == "logit" and not 0 < point < 1:
            return all_alike(point, (0.0, 1.0), replicates.n_queries, self.level)
        if transform != "fisher_z" or abs(point) < 1:
            return None
        if not replicates.trials:
            return withheld(self.level, "jackknife_t", "it is 1 or -1 in every resample")
        return all_alike(point, (-1.0, 1.0), replicates.trials, self.level)

    def _interval_of_equal_values(
        self, replicates: Replicates, transform: Transform | None, method: str
    ) -> Interval:
        """Interval of a figure that no resample changes."""
        # A correlation has its step on another scale; one of 1 or -1 is answered by `_at_end`.
        step = replicates.resolution if transform == "fisher_z" else replicates.step
        if step is None:
            return withheld(self.level, method, EQUAL_RESAMPLES)
        return equal_values_interval(replicates.point, step, replicates.n_queries, self.level)

    def _interval_of_spread(
        self,
        point: float,
        defined: FloatArray,
        size: int,
        undefined_share: float,
        scheme: Scheme,
        transform: Transform | None,
        rare: bool,
        alike: bool,
        weights: UnequalQueries | None,
    ) -> Interval:
        """Interval of values on the scale of the transform that differ.

        `rare`: a few of them have most of the variance. `alike`: on this scale that is a rare
        event, as where a judge differs from people on few responses, and not a heavy tail.
        """
        method = "percentile_bootstrap" if scheme == "bootstrap" else "jackknife_t"
        tail = (1 - self.level) / 2
        if scheme == "bootstrap":
            low, high = np.quantile(defined, [tail, 1 - tail])
            # Resamples cannot show a small p; the normal distribution of many queries can.
            error = defined.std(ddof=1)
            p = two_sided_p(point / error, np.inf)
            uncertainty = Uncertainty((float(error**2),), (np.inf,))
        else:
            count = defined.size
            error = np.sqrt((count - 1) / count * np.sum((defined - defined.mean()) ** 2))
            df = count - 1.0 if alike else effective_df(defined)
            if weights is not None:
                slope = 1 / (1 - np.tanh(point) ** 2) if transform == "fisher_z" else 1.0
                error, df = weights.error(point, defined, slope)
            elif rare and not alike:
                error *= rare_quantile(1 - tail, df, count) / t_quantile(1 - tail, df)
            # A share of 0 has no logit.
            p = np.nan if transform == "logit" else two_sided_p(point / error, df)
            if transform == "logit":
                error /= point * (1 - point)
                point = np.log(point / (1 - point))
            reach = t_quantile(1 - tail, df) * error
            skewness = jackknife_skewness(defined) if transform == "skewness" else 0.0
            uncertainty = Uncertainty((float(error**2),), (df,), transform, skewness)
            low, high = point - reach, point + reach
            if transform == "skewness":
                low, high = (
                    point - with_skewness(t, skewness) * error
                    for t in (reach / error, -reach / error)
                )
                p = two_sided_p(without_skewness(point / error, skewness), df)
            elif transform == "fisher_z":
                low, high = np.tanh(low), np.tanh(high)
            elif transform == "logit":
                low, high = expit(low), expit(high)
        return Interval(
            float(low), float(high), self.level, method, None, undefined_share, size, p, uncertainty
        )


def _nothing_to_resample(replicates: Replicates) -> str | None:
    """Why there can be no interval; None where there can."""
    if np.isnan(replicates.point):
        return replicates.reason or "the statistic is undefined on the sample"
    count = replicates.n_queries
    if count < 2:
        return f"an interval needs at least 2 queries, there is {count}" if count else "no query"
    return None


def _on_fishers_scale(values: FloatArray, point: float) -> tuple[FloatArray, float]:
    """Leave-one-out correlations (Q,) and the correlation itself on Fisher's z scale.

    Where one of the former is 1 or -1 they are moved there by the slope at the point.
    """
    z = float(np.arctanh(point))
    if (np.abs(values) >= 1).any():
        return z + (values - point) / (1 - point**2), z
    return np.arctanh(values), z


def folds(n_queries: int, count: int = FOLDS, seed: int = 0) -> IntArray:
    """Fold (Q,) of each query, drawn at random; folds differ in size by at most one query."""
    drawn = np.random.default_rng(seed).permutation(n_queries)
    fold = np.empty(n_queries, dtype=np.int64)
    fold[drawn] = np.arange(n_queries) % max(1, min(count, n_queries))
    return fold
