"""Means over responses and differences of groups' means, as functions of query weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import QueryStatistic, as_codes, as_values, ratio
from analysis.core.statistic_family import StatisticFamily


class Part(NamedTuple):
    """The values of one mean."""

    values: FloatArray
    """(k,), none of them missing."""
    query: IntArray
    """(k,) codes from 0 to Q - 1."""
    n_dropped: int = 0
    reason: str | None = None
    """Why the value is undefined, if it is."""


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
            raise ValueError(f"part {place} has a value that is missing or infinite")
        if part.query.size and not 0 <= part.query.min() <= part.query.max() < n_queries:
            raise ValueError(f"part {place} has query codes beyond 0 to {n_queries - 1}")
        counts[:, place] = np.bincount(part.query, minlength=n_queries)
        totals[:, place] = np.bincount(part.query, weights=part.values, minlength=n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        number = weights @ counts
        return ratio(weights @ totals, number, number > 0)

    return StatisticFamily(
        weighted_statistic,
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


def difference_of_means(
    values: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    names: tuple[str, str] = ("the first group", "the second group"),
) -> QueryStatistic:
    """Mean of the first group's values minus that of the second group's.

    Parameters
    ----------
    values
        (n,), NaN where missing.
    first, second
        (n,) bool; a response in both or in neither does not enter, and is counted as dropped where
        it has a value.
    query
        (n,) codes.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    scores = as_values(values, "values")
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if not scores.shape == a.shape == b.shape:
        raise ValueError(f"shapes {scores.shape}, {a.shape} and {b.shape} differ: expected (n,)")
    codes, total = as_codes(query, scores.size, n_queries)
    present = np.isfinite(scores)
    groups = [present & a & ~b, present & b & ~a]
    family = query_means([Part(scores[group], codes[group]) for group in groups], total)
    empty = [name for name, group in zip(names, groups, strict=True) if not group.any()]

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        group_means = family.weighted_statistic(weights)
        return np.asarray(group_means[:, 0] - group_means[:, 1])

    used = int(sum(np.count_nonzero(group) for group in groups))
    return QueryStatistic(
        weighted_statistic,
        np.asarray(family.contributing.any(axis=1)),
        used,
        int(np.count_nonzero(present)) - used,
        f"no response of {' or '.join(empty)} has both values" if empty else None,
    )
