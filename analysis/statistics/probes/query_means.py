"""Means over responses, many at once, as functions of how often each query counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.core.query_statistic import FloatArray, IntArray, ratio
from analysis.core.statistic_family import StatisticFamily


class Part(NamedTuple):
    """What one mean is taken of."""

    values: FloatArray
    """(k,), none of them missing."""
    query: IntArray
    """(k,) codes from 0 to Q - 1."""
    n_dropped: int = 0
    reason: str | None = None
    """Why there is no value, where there is none."""


def query_means(parts: Sequence[Part], n_queries: int) -> StatisticFamily:
    """Return the mean of each part's values, a response counting once.

    Parameters
    ----------
    parts
        m of them, over the same Q queries, so that the means have a joint distribution.
    n_queries
        Q.

    Raises
    ------
    ValueError
        A value is missing or infinite, or a query's code is out of range.
    """
    m = len(parts)
    counts, totals = np.zeros((n_queries, m)), np.zeros((n_queries, m))
    for place, part in enumerate(parts):
        if not np.isfinite(part.values).all():
            raise ValueError(f"part {place} holds a value that is missing or infinite")
        if part.query.size and not 0 <= part.query.min() <= part.query.max() < n_queries:
            raise ValueError(f"part {place} has query codes beyond 0 to {n_queries - 1}")
        counts[:, place] = np.bincount(part.query, minlength=n_queries)
        totals[:, place] = np.bincount(part.query, weights=part.values, minlength=n_queries)

    def of_weights(weights: FloatArray) -> FloatArray:
        number = weights @ counts
        return ratio(weights @ totals, number, number > 0)

    return StatisticFamily(
        of_weights,
        counts > 0,
        np.array([part.values.size for part in parts], dtype=np.int64),
        np.array([part.n_dropped for part in parts], dtype=np.int64),
        [None if part.values.size else part.reason or "no response has both" for part in parts],
    )


def none_of(n_queries: int, level: float) -> float:
    """Return the largest share of queries that seeing none of them is compatible with.

    The one-sided upper bound of Clopper and Pearson 1934 for 0 of n: 1 - (1 - level)^(1/n), about
    3/n at .95. NaN without a query.
    """
    return float(1 - (1 - level) ** (1 / n_queries)) if n_queries else float("nan")
