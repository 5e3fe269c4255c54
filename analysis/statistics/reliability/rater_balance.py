"""Whether raters were distributed over systems by lot, and which systems share raters at all.

The mean of a system's ratings contains the mean severity of its raters. The severities cancel in a
difference between two systems where each rater has the same weight in both means. Where raters
were allocated without regard to systems, the rest is chance, which resampling and permuting queries
account for. Otherwise a difference between systems contains one between raters; and systems whose
raters are not linked, also not over other systems, cannot be compared by ratings at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray

#: Weights that differ by less are equal.
_EQUAL = 1e-9

#: Permutations of raters over the systems of a query, and the p up to which chance is excluded.
_PERMUTATIONS, NOT_BY_CHANCE = 99, 0.01


@dataclass(frozen=True, eq=False)
class RaterBalance:
    """How raters are distributed over S systems with ratings on common queries.

    `imbalance` (S, S) is the share of the weight in one system's mean that comes from other raters
    than in the other's, from 0 (the same raters) to 1 (no common rater), on the queries of both;
    NaN where they have none. `groups` (S,) numbers the systems that raters link, -1 without a
    rating. `p` is that of raters being distributed over the systems of a query by lot.
    """

    imbalance: FloatArray
    groups: IntArray
    p: float

    @property
    def balanced(self) -> bool:
        """Whether plain means of systems can be compared."""
        return self.connected and self.p > NOT_BY_CHANCE

    @property
    def connected(self) -> bool:
        """Whether raters link all systems."""
        return bool(self.groups.max(initial=-1) < 1)

    def linked(self, first: int, second: int) -> bool:
        """Whether raters link two systems with ratings."""
        return bool(self.groups[first] == self.groups[second])


def rater_balance(
    ratings: FloatArray, query: IntArray, produced: BoolArray, n_queries: int
) -> RaterBalance:
    """Balance of ratings (n, R), NaN where missing, over the systems `produced` (n, S).

    A response counts with the mean of its raters, and several responses of a system to a query
    with their mean, as in the means of systems.
    """
    present = np.isfinite(ratings)
    systems, raters = produced.shape[1], ratings.shape[1]
    response, system = np.nonzero(produced & np.atleast_1d(present.any(axis=1))[:, None])
    share = present[response] / present[response].sum(axis=1)[:, None]
    by_query, answered = _mean_rows(share, query[response] * systems + system, n_queries * systems)
    weights = by_query.reshape(n_queries, systems, raters)
    answered = answered.reshape(n_queries, systems)
    imbalance = np.full((systems, systems), np.nan)
    for i in range(systems):
        for j in range(i, systems):
            shared = answered[:, i] & answered[:, j]
            if shared.any():
                apart = weights[shared, i].mean(axis=0) - weights[shared, j].mean(axis=0)
                imbalance[i, j] = imbalance[j, i] = np.abs(apart).sum() / 2
    # All responses of a system enter its own mean, also those to queries of it alone.
    overall, rated_at_all = _mean_rows(share, system, systems)
    spread = np.ptp(overall[rated_at_all], axis=0) if rated_at_all.any() else np.zeros(raters)
    equal = max(np.nanmax(imbalance, initial=0.0), spread.max(initial=0.0)) < _EQUAL
    p = 1.0 if equal else _p_of_chance(share, query[response], system)
    return RaterBalance(imbalance, linked_groups(overall > 0), p)


def _p_of_chance(share: FloatArray, query: IntArray, system: IntArray) -> float:
    """Share of permutations of a query's rater weights (n, R) over its systems as uneven as this.

    Where every query has one response, they are permuted over all.
    """
    if np.unique(query).size == query.size:
        query = np.zeros_like(query)
    rng = np.random.default_rng(0)
    order = np.argsort(query, kind="stable")
    share, query, system = share[order], query[order], system[order]
    observed = _unevenness(share, system)
    # Sorting by query and then by a random number permutes the rows within each query.
    as_uneven = sum(
        _unevenness(share[np.lexsort((rng.random(query.size), query))], system) >= observed - _EQUAL
        for _ in range(_PERMUTATIONS)
    )
    return (1 + as_uneven) / (1 + _PERMUTATIONS)


def _unevenness(share: FloatArray, system: IntArray) -> float:
    """Sum of the squared deviations of the systems' mean weights from their mean."""
    means, present = _mean_rows(share, system, int(system.max()) + 1)
    means = means[present]
    return float(np.sum((means - means.mean(axis=0)) ** 2))


def _mean_rows(rows: FloatArray, place: IntArray, groups: int) -> tuple[FloatArray, BoolArray]:
    """Means (groups, columns) of the rows of each group, 0 without any; and which have any."""
    count = np.bincount(place, minlength=groups)
    total = np.zeros((groups, rows.shape[1]))
    for column in range(rows.shape[1]):
        total[:, column] = np.bincount(place, rows[:, column], groups)
    return total / np.maximum(count, 1)[:, None], count > 0


def linked_groups(rated: BoolArray) -> IntArray:
    """Group of each system (S,) linked by raters, `rated` (S, R); -1 without a rater."""
    groups: IntArray = np.full(len(rated), -1, dtype=np.int64)
    number = 0
    for start in np.flatnonzero(rated.any(axis=1)):
        if groups[start] >= 0:
            continue
        members = np.zeros(len(rated), dtype=bool)
        members[start] = True
        while True:
            raters = rated[members].any(axis=0)
            grown = np.atleast_1d(rated[:, raters].any(axis=1))
            if (grown == members).all():
                break
            members = grown
        groups[members] = number
        number += 1
    return groups
