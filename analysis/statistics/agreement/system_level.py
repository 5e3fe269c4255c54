"""Association of system means: one point per system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.core.pairs import Pairs
from analysis.core.query_statistic import (
    NOISE,
    BoolArray,
    FloatArray,
    QueryStatistic,
    centered,
    comparable,
    in_row_blocks,
    ratio,
    sums_by_query,
)

DIFFERENCES = ("mae", "bias")


def system_level(
    measure: str, pairs: Pairs, produced: BoolArray, names: tuple[str, str]
) -> QueryStatistic:
    """A measure of the systems' means over their common responses; produced (n, S) bool.

    A response produced by several systems counts for each. Systems without a common response do
    not enter; a resample in which one of the others has none is undefined.
    """
    if produced.ndim != 2 or produced.shape[0] != pairs.x.size:
        raise ValueError(
            f"produced has shape {produced.shape}, expected one row for each response and one "
            "column for each system"
        )
    chosen = produced[:, produced.any(axis=0)].astype(np.float64)
    x, y = pairs.x, pairs.y
    if measure not in DIFFERENCES:
        x, y = centered(x), centered(y)
    counts_of, *sums = [
        sums_by_query(chosen * values[:, None], pairs.query, pairs.n_queries)
        if chosen.shape[1]
        else np.zeros((pairs.n_queries, 0))
        for values in (np.ones(pairs.x.size), x, y, pairs.x_size, pairs.y_size)
    ]

    def means(weights: FloatArray) -> tuple[FloatArray, ...]:
        counts = weights @ counts_of
        return tuple(ratio(weights @ of, counts, counts > 0) for of in sums)

    def of_weights(weights: FloatArray) -> FloatArray:
        return _ROWWISE[measure](*means(weights))

    used = chosen.any(axis=1)
    reason = _reason(measure, chosen, pairs, means(np.ones((1, pairs.n_queries))), names)
    return QueryStatistic(
        # Ranks compare every two systems.
        lambda weights: in_row_blocks(of_weights, weights, 4 * chosen.shape[1] ** 2),
        np.bincount(pairs.query[used], minlength=pairs.n_queries) > 0,
        int(np.count_nonzero(used)),
        pairs.n_dropped + int(np.count_nonzero(~used)),
        reason,
    )


def _reason(
    measure: str,
    chosen: FloatArray,
    pairs: Pairs,
    means: tuple[FloatArray, ...],
    names: tuple[str, str],
) -> str | None:
    n_systems = chosen.shape[1]
    if measure in DIFFERENCES:
        return None if n_systems else "no system has a response with both values"
    if n_systems < 3:
        return f"a correlation of systems needs at least 3, there are {n_systems}"
    x, y, x_size, y_size = (of[0] for of in means)
    of_first = chosen[:, 0] > 0
    for name, points, values, size in zip(
        names, (pairs.x, pairs.y), (x, y), (x_size, y_size), strict=True
    ):
        if np.unique(comparable(values, size)).size == 1:
            return f"{name} gives every system the same mean ({points[of_first].mean():g})"
    return None


def _pearson_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    dx = x - x.mean(axis=1, keepdims=True)
    dy = y - y.mean(axis=1, keepdims=True)
    vx, vy = (dx**2).sum(axis=1), (dy**2).sum(axis=1)
    varies = (vx > ((NOISE * x_size) ** 2).sum(axis=1)) & (vy > ((NOISE * y_size) ** 2).sum(axis=1))
    scale = np.sqrt(vx) * np.sqrt(vy)
    # Only rounding carries a correlation beyond 1 in magnitude.
    return np.clip(ratio((dx * dy).sum(axis=1), scale, varies & (scale > 0)), -1, 1)


def _spearman_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    # A system's signs against all sum up to twice its rank, measured from the middle.
    return _of_whole_numbers(_signs(x, x_size).sum(axis=2), _signs(y, y_size).sum(axis=2))


def _signs(values: FloatArray, size: FloatArray) -> FloatArray:
    """Order of every two systems (R, S, S); 0 where their means differ by float noise only."""
    difference = values[:, :, None] - values[:, None, :]
    noise = NOISE * np.maximum(size[:, :, None], size[:, None, :])
    return np.asarray(np.where(np.abs(difference) <= noise, 0.0, np.sign(difference)))


def _kendall_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    shape = (x.shape[0], -1)
    return _of_whole_numbers(_signs(x, x_size).reshape(shape), _signs(y, y_size).reshape(shape))


def _of_whole_numbers(x: FloatArray, y: FloatArray) -> FloatArray:
    """Correlation of rows of whole numbers whose mean is 0; exactly 1 where it is 1."""
    scale = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return ratio((x * y).sum(axis=1), scale, scale > 0)


def _mae_rows(x: FloatArray, y: FloatArray, *_: FloatArray) -> FloatArray:
    return np.asarray(np.abs(x - y).mean(axis=1))


def _bias_rows(x: FloatArray, y: FloatArray, *_: FloatArray) -> FloatArray:
    return np.asarray((x - y).mean(axis=1))


_ROWWISE: dict[str, Callable[..., FloatArray]] = {
    "pearson": _pearson_rows,
    "spearman": _spearman_rows,
    "kendall_tau_b": _kendall_rows,
    "mae": _mae_rows,
    "bias": _bias_rows,
}
