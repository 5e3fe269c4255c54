"""Judge minus people, by the level of people's values and by system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import Pairs
from analysis.core.query_statistic import (
    NEGLIGIBLE,
    as_codes,
    as_values,
    in_row_blocks,
    ratio,
    sums_by_query,
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
            family.of_weights, family.contributing, responses, family.n_dropped, family.reasons
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


Noise = Literal["removed", "in_reference"]

ONE_SYSTEM = "a comparison needs 2 systems with values of judge and people, there is {n}"
NO_VARIATION = "people's values do not vary within a system"
TOO_NOISY = (
    "two raters do not correlate within a system, so that the noise of their mean cannot be removed"
)


@dataclass(frozen=True, eq=False)
class ErrorBySystem:
    """Effects (S,) of the systems on judge minus people at a given human value; they sum to 0.

    A system without a response that both scored is NaN. `noise` is removed where the raters' noise
    was taken out of the human value.
    """

    effects: StatisticFamily
    noise: Noise


def error_by_system_given_human(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    produced: npt.ArrayLike,
    n_queries: int | None = None,
) -> ErrorBySystem:
    """Regress judge minus people on people's value and the system (effects that sum to 0).

    A bias that differs between systems may only mean that the judge errs at the level of their
    responses. At the same human value, what is left is a preference for a system.

    The mean of few raters is noisy: at the same noisy value the better system's responses are
    truly better, and a perfect judge would seem to favor it. Where at least half of the responses
    have two ratings, only those enter, and the variance of the true values is the covariance
    between raters. With one rating each, it is the regression on the
    value itself.

    Parameters
    ----------
    judge
        (n,), NaN where missing.
    ratings
        (n, R), NaN where missing.
    produced
        (n, S) bool; a response of several systems counts for each.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Notes
    -----
    Fuller 1987, section 2.2, on errors in variables. Severities of the raters have to be taken out
    first: they change the covariance by their variance over the number of raters.
    """
    scores, table = as_values(judge, "judge"), as_values(ratings, "ratings")
    by_system = np.asarray(produced, dtype=bool)
    if (
        table.ndim != 2
        or len(table) != scores.size
        or by_system.ndim != 2
        or len(by_system) != scores.size
    ):
        raise ValueError(
            f"ratings has shape {table.shape} and produced {by_system.shape}, expected one row for "
            f"each of {scores.size} responses"
        )
    codes, total = as_codes(query, scores.size, n_queries)
    present = np.isfinite(table)
    number = present.sum(axis=1)
    rated_once = np.isfinite(scores) & (number > 0) & by_system.any(axis=1)
    rated_twice = rated_once & (number > 1)
    noise: Noise = (
        "removed" if 2 * rated_twice.sum() >= max(1, rated_once.sum()) else "in_reference"
    )
    used = rated_twice if noise == "removed" else rated_once
    k = number[used].astype(np.float64)
    origin = float(np.median(table[present])) if present.any() else 0.0
    filled = np.where(present, table - origin, 0.0)[used]
    summed = filled.sum(axis=1)
    h, j = summed / k, scores[used] - origin
    true = (summed**2 - (filled**2).sum(axis=1)) / (k * (k - 1)) if noise == "removed" else h**2
    columns = _columns(h, j, true, by_system[used])
    sums = sums_by_query(columns, codes[used], total)
    contributing = np.bincount(codes[used], minlength=total) > 0
    systems = by_system[used].any(axis=0)
    s = systems.size

    def block(weights: FloatArray) -> FloatArray:
        n, of_h, of_j, hh, hj, tt = np.moveaxis((weights @ sums).reshape(-1, 6, s), 1, 0)
        some = n > 0
        # Sums of squares and products of the true values, within systems.
        xx = np.where(some, tt - ratio(of_h**2 - hh + tt, n, some), 0.0).sum(axis=1)
        xy = np.where(some, hj - ratio(of_h * of_j, n, some), 0.0).sum(axis=1)
        slope = ratio(xy, xx, xx > NEGLIGIBLE * np.abs(tt).sum(axis=1))
        level = ratio(of_j - slope[:, None] * of_h, n, some)
        shared = level[:, systems].mean(axis=1)
        return np.asarray(level - shared[:, None])

    def of_weights(weights: FloatArray) -> FloatArray:
        return in_row_blocks(block, weights, 12 * max(1, s))

    reason, left_out = None, (np.isfinite(scores) | (number > 0)) & ~used
    if np.count_nonzero(systems) < 2:
        reason = ONE_SYSTEM.format(n=np.count_nonzero(systems))
    elif not np.isfinite(of_weights(np.ones((1, total)))[0, systems]).all():
        reason = TOO_NOISY if noise == "removed" else NO_VARIATION
    return ErrorBySystem(
        StatisticFamily(
            of_weights if reason is None else lambda weights: np.full((len(weights), s), np.nan),
            np.repeat(contributing[:, None], s, axis=1),
            by_system[used].sum(axis=0).astype(np.int64),
            by_system[left_out].sum(axis=0).astype(np.int64),
            [
                reason or (None if has_values else "no response of it has both values")
                for has_values in systems
            ],
        ),
        noise,
    )


def _columns(
    h: FloatArray, j: FloatArray, true: FloatArray, by_system: npt.NDArray[np.bool_]
) -> FloatArray:
    """Counts, sums and products (n, 6 S) by system."""
    parts = [np.ones(h.size), h, j, h * h, h * j, true]
    return np.hstack([part[:, None] * by_system for part in parts])
