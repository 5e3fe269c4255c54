"""Restricted maximum likelihood (REML) on a ragged table, with and without raters' effects.

`reml` has the model y = mean + response + rater + error, all random and independent. With the
variance ratios a = response/residual and b = rater/residual, the covariance is residual * H and

    H = I + a Z Z' + b U U'.

I + a Z Z' is inverted response by response, and b U U' enters by Woodbury's formula with one row
per rater, so that an evaluation costs the square of the number of raters, whatever the number of
responses. Source: Patterson and Thompson (1971), Biometrika 58:545-554.

`one_way_share` has the model of ICC(1), y = mean + response + error: the raters of a response count
as drawn for it, so that raters need not be connected. With a = response / error variance and m_i
ratings on response i, the profiled deviance

    (N - 1) log S(a) + sum_i log(1 + a m_i) + log sum_i m_i / (1 + a m_i),
    S(a) = within sum of squares + sum_i m_i / (1 + a m_i) (mean_i - mean)^2,

is minimized over the one share a / (1 + a) = ICC(1). Source: Searle, Casella and McCulloch (1992),
Variance Components, section 3.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import comparable
from analysis.statistics.reliability.rater_pairs import NO_PAIR, table_of_ratings

#: Ratios beyond this are treated as this; residuals that small are handled before.
LARGEST_RATIO = 1e8


Objective = Callable[[FloatArray], tuple[float, FloatArray]]


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the responses with m ratings, for each m that occurs."""

    m: FloatArray  # (M,)
    count: FloatArray  # (M,) responses
    by_rater: FloatArray  # (M, R) responses that the rater rated
    together: FloatArray  # (M, R, R) responses that both raters rated
    total: FloatArray  # (M,) sum of the responses' totals
    total_squared: FloatArray  # (M,)
    total_by_rater: FloatArray  # (M, R) sum of the totals of the rater's responses
    rater_total: FloatArray  # (R,)
    squares: float
    n_ratings: float


def reml(y: FloatArray, start: tuple[float, float]) -> tuple[float, float, float, float]:
    """Response, rater and residual variance and the mean, for y (n, R) with NaN where missing.

    `start` is a guess of the two ratios. Variances are at least 0.
    """
    # Imported here: complete tables, the common case, need no optimizer.
    from scipy import optimize

    scale = float(np.nanstd(y))
    center = float(np.nanmean(y))
    sums = _sums((y - center) / scale)

    def objective(shares: FloatArray) -> tuple[float, FloatArray]:
        ratios = shares / (1 - shares)
        value, gradient, _, _ = _profile(sums, ratios)
        return value / sums.n_ratings, gradient * (1 + ratios) ** 2 / sums.n_ratings

    top = LARGEST_RATIO / (1 + LARGEST_RATIO)
    guess = np.clip(np.asarray(start) / (1 + np.asarray(start)), 0.01, 0.99)
    best = min(
        (
            optimize.minimize(
                objective,
                begin,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, top), (0.0, top)],
                options={"ftol": 1e-15, "gtol": 1e-11, "maxiter": 500},
            )
            for begin in (guess, np.array([0.5, 0.1]))
        ),
        key=lambda result: float(result.fun),
    )
    shares = polished(objective, np.asarray(best.x, dtype=np.float64), top)
    ratios = shares / (1 - shares)
    _, _, residual, mean = _profile(sums, ratios)
    unit = residual * scale**2
    return float(ratios[0] * unit), float(ratios[1] * unit), unit, center + scale * mean


def _sums(y: FloatArray) -> _Sums:
    present = np.isfinite(y).astype(np.float64)
    filled = np.where(present > 0, y, 0.0)
    per_response = present.sum(axis=1)
    totals = filled.sum(axis=1)
    sizes = np.unique(per_response)
    groups = [per_response == size for size in sizes]
    return _Sums(
        m=sizes,
        count=np.array([group.sum() for group in groups], dtype=np.float64),
        by_rater=np.array([present[group].sum(axis=0) for group in groups]),
        together=np.array([present[group].T @ present[group] for group in groups]),
        total=np.array([totals[group].sum() for group in groups]),
        total_squared=np.array([(totals[group] ** 2).sum() for group in groups]),
        total_by_rater=np.array([present[group].T @ totals[group] for group in groups]),
        rater_total=filled.sum(axis=0),
        squares=float((filled**2).sum()),
        n_ratings=float(present.sum()),
    )


def _profile(s: _Sums, ratios: FloatArray) -> tuple[float, FloatArray, float, float]:
    """-2 log restricted likelihood (profiled), its gradient in the ratios, residual, mean."""
    a, b = ratios
    shrink = 1 / (1 + a * s.m)
    weight = a * shrink
    between = np.diag(s.by_rater.sum(axis=0)) - np.einsum("m,mij->ij", weight, s.together)
    ones_r = s.by_rater.sum(axis=0) - (weight * s.m) @ s.by_rater
    y_r = s.rater_total - weight @ s.total_by_rater
    ones_ones = float(np.sum(s.count * s.m * shrink))
    ones_y = float(shrink @ s.total)
    y_y = s.squares - float(weight @ s.total_squared)

    bordered = np.eye(ones_r.size) + b * between
    woodbury = b * np.linalg.inv(bordered)
    xx = ones_ones - ones_r @ woodbury @ ones_r
    xy = ones_y - ones_r @ woodbury @ y_r
    mean = float(xy / xx)
    quadratic = float(y_y - y_r @ woodbury @ y_r - xy * mean)
    df = s.n_ratings - 1
    log_det = float(s.count @ np.log1p(a * s.m)) + float(np.linalg.slogdet(bordered)[1])
    value = df * np.log(quadratic) + log_det + float(np.log(xx))

    def from_responses(vector: FloatArray, squared: FloatArray, by_rater: FloatArray) -> float:
        inner = np.einsum("i,mij,j->m", vector, s.together, vector)
        return float(np.sum(shrink**2 * (squared - 2 * by_rater @ vector + inner)))

    residual_r = y_r - mean * ones_r
    centered_squares = s.total_squared - 2 * mean * s.m * s.total + mean**2 * s.m**2 * s.count
    centered_by_rater = s.total_by_rater - mean * s.m[:, None] * s.by_rater
    explained_a = from_responses(woodbury @ residual_r, centered_squares, centered_by_rater)
    mean_a = from_responses(woodbury @ ones_r, s.count * s.m**2, s.m[:, None] * s.by_rater)
    trace_a = ones_ones - float(np.einsum("m,ij,mji->", shrink**2, woodbury, s.together))
    left = np.eye(ones_r.size) - between @ woodbury
    explained_b = float(np.sum((left @ residual_r) ** 2))
    mean_b = float(np.sum((left @ ones_r) ** 2))
    trace_b = float(np.trace(left @ between))
    gradient = np.array(
        [
            -df * explained_a / quadratic + trace_a - mean_a / xx,
            -df * explained_b / quadratic + trace_b - mean_b / xx,
        ]
    )
    return value, gradient, quadratic / df, mean


def polished(objective: Objective, shares: FloatArray, top: float) -> FloatArray:
    """Newton steps on the gradient in the interior coordinates: the optimizer stops at 1e-8."""
    free = np.flatnonzero((shares > 1e-9) & (shares < top))
    for _ in range(4):
        if free.size == 0:
            break
        gradient = objective(shares)[1][free]
        hessian = np.empty((free.size, free.size))
        for column, index in enumerate(free):
            step = np.zeros(shares.size)
            step[index] = 1e-4 * min(shares[index], 1 - shares[index])
            ahead, behind = objective(shares + step)[1], objective(shares - step)[1]
            hessian[:, column] = (ahead - behind)[free] / (2 * step[index])
        move = np.linalg.lstsq(hessian, gradient)[0]
        moved = shares.copy()
        moved[free] -= move
        if not ((moved > 0) & (moved < top))[free].all() or np.abs(move).max() > 1e-3:
            break
        shares = moved
    return shares


#: Shares tried before bisection of the slope narrows the best one's neighborhood.
_GRID = np.concatenate([np.linspace(0, 0.99, 100), 1 - np.geomspace(5e-3, 1e-8, 20)])

#: Steps of the bisection, down to the last digits.
_STEPS = 50


def one_way_undefined_reason(values: npt.ArrayLike) -> str | None:
    """Why response and error variance are not identified; None where they are."""
    array = table_of_ratings(values)
    present = np.isfinite(array)
    counts = present.sum(axis=1)
    if np.count_nonzero(counts) < 2:
        n = np.count_nonzero(counts)
        return f"variance components need at least 2 rated responses, there is {n or 'none'}"
    if counts.max() < 2:
        return NO_PAIR
    if np.ptp(comparable(array[present])) == 0:
        only = array[present][0]
        return f"all ratings are {only:g}: without variation the components are undefined"
    return None


def one_way_share(values: npt.ArrayLike) -> float:
    """REML share of the response variance, ICC(1), of values (n, raters); at least 0.

    On a complete table it is the analysis of variance's where that is not negative. Raises
    ValueError where it is undefined.
    """
    array = table_of_ratings(values)
    reason = one_way_undefined_reason(array)
    if reason is not None:
        raise ValueError(reason)
    array = array[np.isfinite(array).any(axis=1)]
    array = (array - np.nanmean(array)) / np.nanstd(array)
    m = np.isfinite(array).sum(axis=1).astype(np.float64)
    means = np.nanmean(array, axis=1)
    within = float(np.nansum((array - means[:, None]) ** 2))
    if within <= 1e-20 * array.size:
        return 1.0
    # Responses with the same number of ratings enter through three sums.
    size, place = np.unique(m, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    first = np.bincount(place, weights=means)
    second = np.bincount(place, weights=means**2)
    degrees = float(m.sum()) - 1

    excess = float(m.sum()) - m.size

    def deviance(share: float) -> tuple[float, float]:
        """Its value and slope, in units of 1 - share, so that a share close to 1 stays finite."""
        left = 1 - share
        shrink = size / (left + share * size)
        falling = -(shrink**2) * (size - 1) / size
        total, total_ = shrink @ count, falling @ count
        mean = shrink @ first / total
        mean_ = (falling @ first - mean * total_) / total
        squares = shrink @ second - total * mean**2
        squares_ = falling @ second - total_ * mean**2 - 2 * total * mean * mean_
        value = degrees * np.log(within / left + squares) + excess * np.log(left)
        value += np.log(total) - count @ np.log(shrink)
        slope = degrees * (within / left**2 + squares_) / (within / left + squares)
        slope += total_ / total - excess / left - count @ (falling / shrink)
        return float(value), float(slope)

    best = int(np.argmin([deviance(share)[0] for share in _GRID]))
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best + 1, _GRID.size - 1)]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if deviance(middle)[1] > 0 else (middle, high)
    return 0.0 if deviance(0.0)[0] <= deviance(low)[0] else float(low)
