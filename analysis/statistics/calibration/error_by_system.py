"""Whether a judge favors a system: its error by system, at the same human value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import (
    NEGLIGIBLE,
    FloatArray,
    as_codes,
    as_values,
    in_row_blocks,
    ratio,
    sums_by_query,
)
from analysis.core.statistic_family import StatisticFamily

Noise = Literal["removed", "in_reference"]

ONE_SYSTEM = "a comparison needs 2 systems with values of judge and people, there is {n}"
NO_VARIATION = "people's values do not vary within a system"
TOO_NOISY = (
    "two raters have nothing in common within a system, so that the noise of their mean can't be "
    "taken out"
)


@dataclass(frozen=True, eq=False)
class ErrorBySystem:
    """Effects (S,) of the systems on judge minus people at a given human value; they sum to 0.

    A system without a response that both scored is NaN. `noise` says whether the raters' noise was
    taken out of the human value.
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

    A bias that differs between systems may only say that the judge errs at the level that they
    reach. At the same human value, what is left is a preference for a system.

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
    beforehand: they move the covariance by their variance over the number of raters.
    """
    scores, given = as_values(judge, "judge"), as_values(ratings, "ratings")
    made = np.asarray(produced, dtype=bool)
    if given.ndim != 2 or len(given) != scores.size or made.ndim != 2 or len(made) != scores.size:
        raise ValueError(
            f"ratings has shape {given.shape} and produced {made.shape}, expected one row for each "
            f"of {scores.size} responses"
        )
    codes, total = as_codes(query, scores.size, n_queries)
    present = np.isfinite(given)
    number = present.sum(axis=1)
    one = np.isfinite(scores) & (number > 0) & made.any(axis=1)
    two = one & (number > 1)
    noise: Noise = "removed" if 2 * two.sum() >= max(1, one.sum()) else "in_reference"
    used = two if noise == "removed" else one
    k = number[used].astype(np.float64)
    origin = float(np.median(given[present])) if present.any() else 0.0
    filled = np.where(present, given - origin, 0.0)[used]
    summed = filled.sum(axis=1)
    h, j = summed / k, scores[used] - origin
    true = (summed**2 - (filled**2).sum(axis=1)) / (k * (k - 1)) if noise == "removed" else h**2
    columns = _columns(h, j, true, made[used])
    sums = sums_by_query(columns, codes[used], total)
    contributing = np.bincount(codes[used], minlength=total) > 0
    systems = made[used].any(axis=0)
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

    reason, left = None, (np.isfinite(scores) | (number > 0)) & ~used
    if np.count_nonzero(systems) < 2:
        reason = ONE_SYSTEM.format(n=np.count_nonzero(systems))
    elif not np.isfinite(of_weights(np.ones((1, total)))[0, systems]).all():
        reason = TOO_NOISY if noise == "removed" else NO_VARIATION
    return ErrorBySystem(
        StatisticFamily(
            of_weights if reason is None else lambda weights: np.full((len(weights), s), np.nan),
            np.repeat(contributing[:, None], s, axis=1),
            made[used].sum(axis=0).astype(np.int64),
            made[left].sum(axis=0).astype(np.int64),
            [
                reason or (None if there else "no response of it has both values")
                for there in systems
            ],
        ),
        noise,
    )


def _columns(
    h: FloatArray, j: FloatArray, true: FloatArray, made: npt.NDArray[np.bool_]
) -> FloatArray:
    """Counts, sums and products (n, 6 S) by system."""
    parts = [np.ones(h.size), h, j, h * h, h * j, true]
    return np.hstack([part[:, None] * made for part in parts])
