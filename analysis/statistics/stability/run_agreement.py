"""How far two scorings of the same responses agree, neither being the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    as_codes,
    as_values,
    centered,
    comparable,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily

RunMeasure = Literal["share_equal", "mean_absolute_difference", "pearson", "ccc"]
RUN_MEASURES: tuple[RunMeasure, ...] = (
    "share_equal",
    "mean_absolute_difference",
    "pearson",
    "ccc",
)

#: Sums that the measures of one pair are made of.
_SUMS = 11
_CONSTANT = "the scores of one of the two do not vary"
_CONSTANT_WITHIN = "the scores of one of the two do not vary within any query"


def run_agreement(
    scores: npt.ArrayLike,
    pairs: Sequence[tuple[int, int]],
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> StatisticFamily:
    """Four measures of each pair of scorings, in the order of `pairs` and `RUN_MEASURES`.

    `scores` (n, D) are of one scale, a scoring a column, NaN where missing; a pair rests on the
    responses that both have scored. Equal shares and mean distance are of all of them; Pearson's
    r is of the deviations from the query's means, and the concordance correlation (Lin 1989, sums
    divided by n) of the values as they are. ValueError where shapes do not fit.
    """
    array = as_values(scores)
    if array.ndim != 2:
        raise ValueError(f"scores have shape {array.shape}, expected (responses, scorings)")
    codes, total = as_codes(query, len(array), n_queries)
    level = comparable(array.ravel()).reshape(array.shape)
    middle = centered(level.ravel()).reshape(array.shape)
    sums = np.zeros((total, len(pairs), _SUMS))
    several = np.zeros((total, len(pairs)), dtype=bool)
    dropped = np.zeros(len(pairs), dtype=np.int64)
    for place, (i, j) in enumerate(pairs):
        both = np.isfinite(level[:, i]) & np.isfinite(level[:, j])
        either = np.isfinite(level[:, i]) | np.isfinite(level[:, j])
        dropped[place] = np.count_nonzero(either & ~both)
        sums[:, place] = _sums(middle[both, i], middle[both, j], codes[both], total)
        several[:, place] = sums[:, place, 0] > 1

    flat = np.ascontiguousarray(sums.reshape(total, -1))

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = (weights @ flat).reshape(len(weights), len(pairs), _SUMS)
        return _measures(summed).reshape(len(weights), -1)

    shared = sums[:, :, 0] > 0
    contributing = np.stack([shared, shared, several, shared], axis=2).reshape(total, -1)
    counts = sums[:, :, 0].sum(axis=0).astype(np.int64)
    points = weighted_statistic(np.ones((1, total)))[0].reshape(len(pairs), -1)
    reasons: list[str | None] = []
    for place in range(len(pairs)):
        none = None if counts[place] else "no response has a score of both"
        undefined = np.isnan(points[place])
        reasons += [none, none]
        reasons.append(none or (_CONSTANT_WITHIN if undefined[2] else None))
        reasons.append(none or (_CONSTANT if undefined[3] else None))
    return StatisticFamily(
        weighted_statistic,
        contributing,
        np.repeat(counts, len(RUN_MEASURES)),
        np.repeat(dropped, len(RUN_MEASURES)),
        reasons,
    )


def _sums(a: FloatArray, b: FloatArray, codes: npt.NDArray[np.int64], total: int) -> FloatArray:
    columns = [np.ones(a.size), a != b, np.abs(a - b), a, b, a * a, b * b, a * b]
    plain = sums_by_query(np.column_stack(columns).astype(np.float64), codes, total)
    count, mean_a, mean_b = plain[:, 0], plain[:, 3], plain[:, 4]
    means = [ratio(s, count, count > 0)[codes] for s in (mean_a, mean_b)]
    da, db = a - means[0], b - means[1]
    within = sums_by_query(np.column_stack([da * da, db * db, da * db]), codes, total)
    return np.column_stack([plain, within])


def _measures(sums: FloatArray) -> FloatArray:
    """The four measures (..., 4) from the sums (..., 11) of a pair."""
    count, unequal, apart, sa, sb, saa, sbb, sab, waa, wbb, wab = np.moveaxis(sums, -1, 0)
    some = count > 0
    equal = 1 - ratio(unequal, count, some)
    distance = ratio(apart, count, some)
    vary = (waa > NEGLIGIBLE * saa) & (wbb > NEGLIGIBLE * sbb)
    r = ratio(wab, np.sqrt(np.where(vary, waa * wbb, 1.0)), vary)
    # Times n squared, all of them.
    va, vb, cov = count * saa - sa**2, count * sbb - sb**2, count * sab - sa * sb
    spread = (va > NEGLIGIBLE * count * saa) & (vb > NEGLIGIBLE * count * sbb)
    ccc = ratio(2 * cov, va + vb + (sa - sb) ** 2, spread)
    return np.stack([equal, distance, np.clip(r, -1, 1), ccc], axis=-1)
