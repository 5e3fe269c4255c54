"""Estimates of the statistics of a family, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.resampling import (
    PERCENTILE_FROM,
    QueryResampling,
    Replicates,
    Scheme,
)
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.core.statistic_family import StatisticFamily
from analysis.core.uncertainty import Transform


@dataclass(frozen=True, eq=False)
class ResampledFamily:
    """A family of statistics with their resamples, from which estimates are made."""

    context: Context
    family: StatisticFamily
    resampling: QueryResampling

    @cached_property
    def replicates(self) -> Sequence[Replicates]:
        """Values of each statistic on the resamples."""
        return self.family.replicates(self.resampling)

    def estimate(
        self, name: str, place: int = 0, transform: Transform | None = None, **record: Any
    ) -> Estimate:
        """The statistic at this place of the family with its interval for these raters."""
        return resampled_estimate(
            self.context,
            name,
            self.family,
            place,
            self.replicates[place],
            self.resampling,
            transform,
            **record,
        )


def resampled_estimate(
    context: Context,
    name: str,
    family: StatisticFamily,
    place: int,
    replicates: Replicates,
    resampling: QueryResampling,
    transform: Transform | None = None,
    **record: Any,
) -> Estimate:
    """One statistic of a family with its interval for these raters."""
    interval = resampling.interval_of(replicates, transform)
    return Estimate(
        name,
        value=replicates.point,
        **interval.fields,
        n_responses=int(family.n_responses[place]),
        n_queries=replicates.n_queries,
        n_dropped=int(family.n_dropped[place]),
        reason=replicates.reason or interval.reason,
        **context.with_coverage(name, interval, replicates.n_queries, record),
    )


def simultaneous_estimates(
    context: Context,
    name: str,
    family: StatisticFamily,
    resampling: QueryResampling,
    records: Sequence[Mapping[str, Any]],
) -> Iterator[Estimate]:
    """Each statistic with its simultaneous interval (max-t), over the queries that any of them has.

    Each has the degrees of freedom of the queries that it rests on; a single one gives no interval.
    """
    points = family.points()
    counts = family.contributing.sum(axis=0)
    several = np.isfinite(points) & (counts > 1)
    queries = np.asarray(family.contributing[:, several].any(axis=1))
    count = int(np.count_nonzero(queries))
    ends, p = np.full((2, points.size), np.nan), np.full(points.size, np.nan)
    reasons: list[str | None] = [
        reason or "an interval needs at least 2 queries" for reason in family.reasons
    ]
    method = None
    if count > 1:
        scheme: Scheme = "bootstrap" if count >= PERCENTILE_FROM else "jackknife"
        left_out = queries if scheme == "jackknife" else None
        rows = resampling.evaluate(family.weighted_statistic, scheme, left_out)
        intervals = simultaneous_intervals(
            points[several],
            rows[:, several],
            scheme,
            context.options.level,
            context.options.seed,
            family.contributing[queries][:, several] if scheme == "jackknife" else None,
        )
        ends[:, several] = intervals.low, intervals.high
        p[several] = intervals.p
        method = intervals.method
        for at, reason in zip(np.flatnonzero(several).tolist(), intervals.reasons, strict=True):
            reasons[at] = reason
    for place, record in enumerate(records):
        low, high = ends[:, place]
        has = bool(np.isfinite(low))
        yield Estimate(
            name,
            value=float(points[place]),
            ci_low=float(low),
            ci_high=float(high),
            ci_level=context.options.level if has else None,
            method=method if has else None,
            p=float(p[place]),
            n_responses=int(family.n_responses[place]),
            n_queries=int(counts[place]),
            n_dropped=int(family.n_dropped[place]),
            reason=None if has else reasons[place],
            **record,
        )
