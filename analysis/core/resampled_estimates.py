"""Records of statistics whose resamples are already computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.resampling import QueryResampling, Replicates, Transform
from analysis.core.statistic_family import StatisticFamily


def resampled_estimate(
    context: Context,
    name: str,
    family: StatisticFamily,
    place: int,
    found: Replicates,
    resampling: QueryResampling,
    transform: Transform | None = None,
    **record: Any,
) -> Estimate:
    """One statistic of a family with its interval for these raters."""
    interval = resampling.interval_of(found, transform)
    given = not np.isnan(interval.low)
    return Estimate(
        name,
        value=found.point,
        ci_low=interval.low,
        ci_high=interval.high,
        ci_level=context.options.level if given else None,
        method=interval.method if given else None,
        n_responses=int(family.n_responses[place]),
        n_queries=found.n_queries,
        n_dropped=int(family.n_dropped[place]),
        reason=found.reason or interval.reason,
        **context.with_coverage(name, interval, found.n_queries, record),
    )
