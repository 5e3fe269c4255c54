"""Cohen's kappa on scales of few levels: of a judge with each rater, and between raters.

A mean of raters is between the levels, so that the judge is compared with each rater and the kappas
are averaged. The average kappa of pairs of raters is the standard for a judge.
Sources: Cohen (1960), Educational and Psychological Measurement 20:37-46; weighted, Cohen (1968),
Psychological Bulletin 70:213-220.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import QueryStatistic, as_codes, as_values
from analysis.statistics.reliability.chance_corrected import Weighting, chance_corrected
from study.base.scales import Scale

Weights = Literal["none", "quadratic"]

#: On more levels a kappa without weights is near 0 whatever the agreement.
MOST_LEVELS = 11

_WEIGHTING: dict[str, Weighting] = {"none": "unweighted", "quadratic": "quadratic"}


def levels_of(scale: Scale | None) -> tuple[float, ...]:
    """The points of a scale's grid if it has at most `MOST_LEVELS`, else none."""
    if scale is None or scale.step is None:
        return ()
    steps = scale.width / scale.step
    if round(steps) + 1 > MOST_LEVELS or abs(steps - round(steps)) > 1e-9:
        return ()
    return tuple(scale.min + scale.step * place for place in range(round(steps) + 1))


def off_levels(values: npt.ArrayLike, levels: tuple[float, ...]) -> int:
    """Number of present values that equal none of the levels."""
    present = as_values(values)
    present = present[np.isfinite(present)]
    if not present.size or not levels:
        return int(present.size)
    apart = np.abs(present[:, None] - np.array(levels)).min(axis=1)
    return int(np.count_nonzero(apart > 1e-9 * max(1.0, *map(abs, levels))))


def nearest_level(values: npt.ArrayLike, levels: tuple[float, ...]) -> FloatArray:
    """Each value as the nearest level, the upper one of two as near; NaN stays."""
    array, ordered = as_values(values), np.array(levels)
    place = np.searchsorted((ordered[1:] + ordered[:-1]) / 2, array, "right")
    return np.where(np.isfinite(array), ordered[place], np.nan)


def cohen_kappa(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    weights: Weights = "none",
    levels: tuple[float, ...] | None = None,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Kappa of two scorers (n,) on the responses that both scored, NaN where missing.

    `levels` are those of the scale; by default the values that occur. ValueError for
    unknown weights.
    """
    if weights not in get_args(Weights):
        raise ValueError(f"weights {weights!r}: expected one of {', '.join(get_args(Weights))}")
    first, second = as_values(x, "x"), as_values(y, "y")
    both = np.isfinite(first) & np.isfinite(second)
    table = np.where(both[:, None], np.column_stack([first, second]), np.nan)
    statistic = chance_corrected(
        "conger", table, query, _WEIGHTING[weights], levels=levels, n_queries=n_queries
    )
    return replace(statistic, trials=_comparisons(first[both], second[both], statistic))


def _comparisons(x: FloatArray, y: FloatArray, statistic: QueryStatistic) -> int | None:
    """How many independent comparisons of two different categories a kappa of 1 rests on."""
    most = max(int(np.unique(v, return_counts=True)[1].max(initial=0)) for v in (x, y))
    queries = int(np.count_nonzero(statistic.contributing))
    return min(queries, 2 * (x.size - most)) or None


def kappa_with_raters(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    weights: Weights = "none",
    levels: tuple[float, ...] | None = None,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Mean over raters of the judge's kappa with each; judge (n,), ratings (n, raters).

    A rater with whom it is undefined on the sample does not enter.
    """
    people = as_values(ratings)
    pairs = [(as_values(judge), people[:, column]) for column in range(people.shape[1])]
    return _averaged(pairs, query, weights, levels, n_queries)


def kappa_between_raters(
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    weights: Weights = "none",
    levels: tuple[float, ...] | None = None,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Mean over pairs of raters of their kappa; ratings (n, raters)."""
    people = as_values(ratings)
    pairs = [(people[:, a], people[:, b]) for a, b in combinations(range(people.shape[1]), 2)]
    return _averaged(pairs, query, weights, levels, n_queries)


def _averaged(
    pairs: list[tuple[FloatArray, FloatArray]],
    query: npt.ArrayLike,
    weights: Weights,
    levels: tuple[float, ...] | None,
    n_queries: int | None,
) -> QueryStatistic:
    codes, total = as_codes(query, len(np.asarray(query)), n_queries)
    every = [cohen_kappa(x, y, codes, weights, levels, total) for x, y in pairs]
    parts = [part for part in every if part.reason is None]
    contributing = np.zeros(total, dtype=bool)
    for part in parts:
        contributing |= part.contributing
    shared = [np.isfinite(x) & np.isfinite(y) for x, y in pairs]
    used = int(np.count_nonzero(np.any(shared, axis=0))) if shared else 0
    either = [np.isfinite(x) | np.isfinite(y) for x, y in pairs]
    dropped = int(np.count_nonzero(np.any(either, axis=0))) - used if either else 0
    reason = None if parts else "no two scorers"
    if not parts and every:
        reason = every[0].reason

    def weighted_statistic(rows: FloatArray) -> FloatArray:
        return np.asarray(np.mean([part(rows) for part in parts], axis=0))

    trials = parts[0].trials if len(parts) == 1 else None
    return QueryStatistic(weighted_statistic, contributing, used, dropped, reason, trials=trials)
