"""Agreement on categories that only have names: of a judge with raters, and of raters.

Whatever numbers stand for the categories, the figures are the same. A rater is compared with
another rater and the judge with both of them, on the responses that all three categorized. A judge
that is exchangeable with the raters then has the same expected kappa as a rater.
Cohen's kappas of all pairs are pooled: sum of n (p_a - p_e) over sum of n (1 - p_e), n the number
of responses of a pair, so that pairs with few common responses count little.
Source: Cohen (1960); pooling: de Vries, Elliott, Kanouse and Teleki (2008), Field Methods
20:272-282.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.end_intervals import STEP_OF_ORDER
from analysis.core.query_statistic import (
    QueryStatistic,
    WeightedStatistic,
    as_codes,
    as_values,
    ratio,
    sums_by_query,
    undefined,
)

NO_PAIR = "no response was categorized by the judge and two raters"
NO_CHOICE = "chance alone would agree fully: all use one category"


@dataclass(frozen=True)
class KappaAgainstRaters:
    """Pooled kappa of the judge with raters, and of raters with each other, on one sample."""

    judge: QueryStatistic
    rater: QueryStatistic


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two raters on the responses that they and the judge categorized, by query."""

    queries: IntArray
    """(q,) codes."""
    sums: FloatArray
    """(q, 3 + 3 k): responses; agreement of the raters, and of the judge with them on average; then
    how often each of the k categories was chosen by either rater and by the judge."""


def kappa_against_raters(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> KappaAgainstRaters:
    """Kappas of a judge (n,) and of raters on ratings (n, raters), NaN where missing."""
    people, machine = as_values(ratings), as_values(judge, "judge")
    codes, total = as_codes(query, len(people), n_queries)
    categories = categories_of(people, machine)
    pairs, used = [], np.zeros(len(people), dtype=bool)
    for a, b in combinations(range(people.shape[1]), 2):
        items = np.isfinite(people[:, a]) & np.isfinite(people[:, b]) & np.isfinite(machine)
        if items.any():
            used |= items
            chosen = (people[items, a], people[items, b], machine[items])
            first, second, judged = (_indicators(values, categories) for values in chosen)
            pairs.append(_pair(first, second, judged, codes[items]))
    rated = np.isfinite(people).any(axis=1)
    counts = (
        np.bincount(codes[used], minlength=total) > 0,
        int(np.count_nonzero(used)),
        int(np.count_nonzero(rated & ~used)),
    )
    if not pairs:
        withheld = QueryStatistic(undefined, *counts, NO_PAIR)
        return KappaAgainstRaters(withheld, withheld)
    parts = []
    for with_judge in (True, False):
        weighted_statistic = _pooled(pairs, len(categories), with_judge)
        reason = NO_CHOICE if np.isnan(weighted_statistic(np.ones((1, total)))[0]) else None
        part = QueryStatistic(undefined if reason else weighted_statistic, *counts, reason)
        parts.append(replace(part, step_of_difference=_step_of_kappa(people[used])))
    return KappaAgainstRaters(*parts)


def _step_of_kappa(people: FloatArray) -> float | None:
    """By how much one of n responses that differs moves a kappa, times n; None where all agree.

    A share of equal choices counts 1 / (1 - the share by chance) in kappa.
    """
    _, counts = np.unique(people[np.isfinite(people)], return_counts=True)
    by_chance = float(np.sum((counts / counts.sum()) ** 2))
    return STEP_OF_ORDER / (1 - by_chance) if by_chance < 1 else None


def equal_share(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Share of ratings (n, raters) in the category that the judge (n,) chose."""
    people, machine = as_values(ratings), as_values(judge, "judge")
    codes, total = as_codes(query, len(people), n_queries)
    both = np.isfinite(people) & np.isfinite(machine)[:, None]
    equal = both & (people == machine[:, None])
    sums = sums_by_query(
        np.column_stack([equal.sum(axis=1), both.sum(axis=1)]).astype(np.float64), codes, total
    )

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        matches, of = (weights @ sums).T
        return ratio(matches, of, of > 0)

    items = both.any(axis=1)
    rated = np.isfinite(people).any(axis=1)
    used = int(np.count_nonzero(items))
    return QueryStatistic(
        weighted_statistic if used else undefined,
        sums[:, 1] > 0,
        used,
        int(np.count_nonzero(rated)) - used,
        None if used else "judge and people categorized no response in common",
    )


def confusion(judge: npt.ArrayLike, ratings: npt.ArrayLike, levels: Sequence[float]) -> IntArray:
    """How often (k, k) a rating of the row's category met the judge's choice of the column's."""
    people, machine = as_values(ratings), as_values(judge, "judge")
    chosen = _indicators(machine, levels)
    by_rater = np.stack([_indicators(column, levels) for column in people.T])
    return np.asarray(np.einsum("rnk,nl->kl", by_rater, chosen).astype(np.int64))


def categories_of(*values: FloatArray) -> list[float]:
    """The distinct values that occur, in order."""
    every = np.concatenate([np.ravel(array) for array in values])
    return [float(value) for value in np.unique(every[np.isfinite(every)])]


def _indicators(values: FloatArray, levels: Sequence[float]) -> FloatArray:
    """Which category (n, k) each value (n,) is; none where missing."""
    return np.asarray(values[:, None] == np.array(levels), dtype=np.float64)


def _pair(first: FloatArray, second: FloatArray, judge: FloatArray, query: IntArray) -> _Pair:
    queries, place = np.unique(query, return_inverse=True)
    judged = ((judge * first).sum(axis=1) + (judge * second).sum(axis=1)) / 2
    columns = np.column_stack(
        [np.ones(len(query)), (first * second).sum(axis=1), judged, first, second, judge]
    )
    return _Pair(queries, sums_by_query(columns, place.astype(np.int64), queries.size))


def _pooled(pairs: Sequence[_Pair], k: int, with_judge: bool) -> WeightedStatistic:
    def weighted_statistic(weights: FloatArray) -> FloatArray:
        beyond, possible = np.zeros((2, len(weights)))
        for pair in pairs:
            sums = weights[:, pair.queries] @ pair.sums
            n, agreed = sums[:, 0], sums[:, 2 if with_judge else 1]
            first, second, judge = (sums[:, 3 + i * k : 3 + (i + 1) * k] for i in range(3))
            together = judge * (first + second) / 2 if with_judge else first * second
            # Times n, as all the sums are; a resample may leave a pair out.
            expected = np.divide(together.sum(axis=1), n, out=np.zeros_like(n), where=n > 0)
            beyond += agreed - expected
            possible += n - expected
        return ratio(beyond, possible, possible > 1e-9)

    return weighted_statistic
