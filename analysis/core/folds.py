"""Recalibration that is judged on responses it has not seen."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import BoolArray, FloatArray, IntArray, as_codes, as_values

Method = Literal["linear", "isotonic"]
METHODS: tuple[Method, ...] = get_args(Method)

#: Folds, and the fewest queries from which a recalibration is learned and judged.
FOLDS, QUERIES_NEEDED = 10, 5


def folds(n_queries: int, count: int = FOLDS, seed: int = 0) -> IntArray:
    """Fold (Q,) of each query: as equal in size as can be, drawn at random."""
    drawn = np.random.default_rng(seed).permutation(n_queries)
    fold = np.empty(n_queries, dtype=np.int64)
    fold[drawn] = np.arange(n_queries) % max(1, min(count, n_queries))
    return fold


def recalibrated_out_of_fold(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    method: Method,
    n_queries: int | None = None,
    count: int = FOLDS,
    seed: int = 0,
) -> FloatArray:
    """Judge's scores (n,) recalibrated by what the queries of the other folds teach.

    Only queries with both values are dealt to folds. A response without both values is NaN, and so
    is everything with fewer than `QUERIES_NEEDED` such queries.

    Parameters
    ----------
    method
        linear: least squares of human on judge; the mean of people where the judge is constant.
        isotonic: the nearest nondecreasing function, linear between the scores it was learned from
        and constant beyond them.

    Raises
    ------
    ValueError
        The shapes do not fit, or the method is none.
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    x, y = as_values(judge, "judge"), as_values(human, "human")
    codes, total = as_codes(query, x.size, n_queries)
    both = np.isfinite(x) & np.isfinite(y)
    out = np.full(x.shape, np.nan)
    used = np.unique(codes[both])
    if used.size < QUERIES_NEEDED:
        return out
    fold = np.full(total, -1, dtype=np.int64)
    fold[used] = folds(used.size, count, seed)
    of = fold[codes]
    learn = _line if method == "linear" else _isotonic
    for number in range(int(of[both].max()) + 1):
        held: BoolArray = both & (of == number)
        rest = both & (of != number)
        out[held] = learn(x[rest], y[rest], x[held])
    return out


def _line(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    middle, mean = x.mean(), y.mean()
    spread = np.sum((x - middle) ** 2)
    if np.ptp(x) == 0:
        return np.full(at.size, mean)
    slope = np.sum((x - middle) * (y - mean)) / spread
    return np.asarray(mean + slope * (at - middle))


def _isotonic(x: FloatArray, y: FloatArray, at: FloatArray) -> FloatArray:
    # Loading it takes half a second, which the verdict need not wait for.
    from scipy.optimize import isotonic_regression

    levels, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(place, y) / counts
    fitted = isotonic_regression(means, weights=counts.astype(np.float64)).x
    return np.interp(at, levels, fitted)
