"""How far scores differ between runs, by the attributes in which two runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import as_codes, as_values, ratio, sums_by_query
from analysis.core.statistic_family import StatisticFamily

Pair = tuple[int, int]


def pairs_by_difference(
    runs: Sequence[Mapping[str, str]],
) -> dict[tuple[str, ...], list[Pair]]:
    """Pairs of runs by the attributes in which they differ, those with the fewest first.

    `runs` has each run's attributes; an attribute that only one of the two has differs.
    """
    by_difference: dict[tuple[str, ...], list[Pair]] = {}
    for i, j in combinations(range(len(runs)), 2):
        names = dict.fromkeys([*runs[i], *runs[j]])
        apart = tuple(name for name in names if runs[i].get(name) != runs[j].get(name))
        by_difference.setdefault(apart, []).append((i, j))
    return dict(sorted(by_difference.items(), key=lambda item: len(item[0])))


def never_alone(differences: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Attributes that differ only along with others, each with those that always go with it.

    The effect of such an attribute cannot be separated from that of the others. Empty where it
    never differs alone, and no other attribute differs each time.
    """
    names = dict.fromkeys(name for apart in differences for name in apart)
    companions = {}
    for name in names:
        with_it = [set(apart) for apart in differences if name in apart]
        if {name} not in with_it:
            common = set.intersection(*with_it) - {name}
            companions[name] = tuple(other for other in names if other in common)
    return companions


def half_mean_square(
    pairs: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> StatisticFamily:
    """Half the mean squared difference of two scorings, and the part of it that is a shift.

    In squared points: the variance that a score gains by which of the two gave it. The mean runs
    over the responses that both have scored and over all pairs, each response counting once for
    each pair. The shift's part is half the squared mean difference of each pair, averaged with
    the same weights.

    Parameters
    ----------
    pairs
        Two scorings (n,) each, NaN where missing.
    query
        (n,) codes.
    """
    first, second = (np.column_stack([as_values(pair[side]) for pair in pairs]) for side in (0, 1))
    codes, total = as_codes(query, len(first), n_queries)
    apart = first - second
    both = np.isfinite(apart)
    apart = np.where(both, apart, 0.0)
    columns = np.column_stack([both.astype(np.float64), apart, (apart**2).sum(axis=1)])
    sums = sums_by_query(columns, codes, total)
    size = len(pairs)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = weights @ sums
        count, shift, square = summed[:, :size], summed[:, size:-1], summed[:, -1]
        number = count.sum(axis=1)
        some = number > 0
        moved = ratio(shift**2, count, count > 0)
        part = ratio(np.nansum(moved, axis=1), 2 * number, some)
        return np.column_stack([ratio(square, 2 * number, some), part])

    used = int(np.count_nonzero(both.any(axis=1)))
    either = np.isfinite(first) | np.isfinite(second)
    reason = None if used else "no response has a score of both"
    contributing = np.asarray(sums[:, :size].any(axis=1))
    dropped = int(np.count_nonzero(either.any(axis=1))) - used
    return StatisticFamily.from_same_responses(
        weighted_statistic, contributing, used, dropped, (reason, reason)
    )
