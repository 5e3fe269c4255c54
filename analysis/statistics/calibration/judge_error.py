"""Judge minus people, by the level of people's values and by system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import Pairs
from analysis.core.query_statistic import (
    as_codes,
    as_values,
)
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.calibration.calibration_error import binned_means, equal_count_bins

Split = Literal["halves", "none"]

#: Levels of people's value that errors are given for.
LEVELS = 5


@dataclass(frozen=True, eq=False)
class ErrorByLevel:
    """Mean of judge minus people at each of m levels of people's value, lowest first.

    `level`, `low` and `high` (m,) are the mean, least and greatest value of people in a level.
    """

    level: FloatArray
    low: FloatArray
    high: FloatArray
    error: StatisticFamily
    split: Split


def error_by_level(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    levels: int = LEVELS,
    seed: int = 0,
) -> ErrorByLevel:
    """Error of judge (n,) by the level of ratings (n, R), in bins of about equal counts.

    A value that is high by chance is above the truth, so that the error against that same value
    falls with it even for a perfect judge. Therefore the level comes from a random half of a
    response's raters and the error from the other half, then the other way around; responses rated
    once do not enter. Where fewer than half of the responses have two ratings, level and error come
    from the same mean (`split` none) and include the regression to the mean.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    scores, table = as_values(judge, "judge"), as_values(ratings, "ratings")
    if table.ndim != 2 or table.shape[0] != scores.size:
        raise ValueError(f"ratings has shape {table.shape}, expected ({scores.size}, raters)")
    codes, total = as_codes(query, scores.size, n_queries)
    present = np.isfinite(table)
    number = present.sum(axis=1)
    both = np.isfinite(scores) & (number > 0)
    split = both & (number > 1)
    dropped = int(np.count_nonzero(np.isfinite(scores) ^ (number > 0)))
    item: IntArray
    rated, twice = int(np.count_nonzero(both)), int(np.count_nonzero(split))
    if 2 * twice >= max(1, rated):
        first, second = _halves(table[split], seed)
        item = np.tile(np.flatnonzero(split), 2)
        level, other = np.concatenate([first, second]), np.concatenate([second, first])
        dropped += rated - twice
        how: Split = "halves"
    else:
        item = np.flatnonzero(both)
        level = np.where(present, table, 0.0).sum(axis=1)[both] / number[both]
        other, how = level, "none"
    bins = equal_count_bins(level, levels)
    m = int(bins.max()) + 1 if bins.size else 0
    error = scores[item] - other
    size = np.abs(scores[item])
    pairs = Pairs(level, error, size, size, codes[item], total, np.unique(item).size, dropped)
    family = binned_means(pairs, bins, m)
    responses = np.array([np.unique(item[bins == b]).size for b in range(m)], dtype=np.int64)
    return ErrorByLevel(
        np.array([level[bins == b].mean() for b in range(m)]),
        np.array([level[bins == b].min() for b in range(m)]),
        np.array([level[bins == b].max() for b in range(m)]),
        StatisticFamily(
            family.weighted_statistic,
            family.contributing,
            responses,
            family.n_dropped,
            family.reasons,
        ),
        how,
    )


def _halves(ratings: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Means (n,) of two random halves of each row's ratings; with an odd number, either larger."""
    rng = np.random.default_rng(seed)
    present = np.isfinite(ratings)
    drawn = np.where(present, rng.random(ratings.shape), np.inf)
    rank = drawn.argsort(axis=1).argsort(axis=1)
    number = present.sum(axis=1)
    # The half that an odd rating falls to is drawn as well.
    cut = (number + rng.integers(0, 2, len(ratings)) * (number % 2)) // 2
    filled = np.where(present, ratings, 0.0)
    first = rank < cut[:, None]
    second = present & ~first
    return _mean_of(filled, first), _mean_of(filled, second)


def _mean_of(values: FloatArray, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    """Mean (n,) of the chosen cells of each row, of which there is at least one."""
    return np.asarray(np.where(chosen, values, 0.0).sum(axis=1) / chosen.sum(axis=1))
