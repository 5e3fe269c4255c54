"""Association of system means: one point per system."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from analysis.query_statistic import (
    NEGLIGIBLE,
    BoolArray,
    FloatArray,
    QueryStatistic,
    comparable,
    ratio,
    sums_by_query,
)
from analysis.scopes import Pairs


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
    sums = [
        sums_by_query(chosen * values[:, None], pairs.query, pairs.n_queries)
        if chosen.shape[1]
        else np.zeros((pairs.n_queries, 0))
        for values in (np.ones(pairs.x.size), pairs.x, pairs.y)
    ]

    def means(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        counts = weights @ sums[0]
        return ratio(weights @ sums[1], counts, counts > 0), ratio(
            weights @ sums[2], counts, counts > 0
        )

    def of_weights(weights: FloatArray) -> FloatArray:
        return _ROWWISE[measure](*means(weights))

    used = chosen.any(axis=1)
    reason = _reason(measure, chosen.shape[1], means, pairs.n_queries, names)
    return QueryStatistic(
        of_weights,
        np.bincount(pairs.query[used], minlength=pairs.n_queries) > 0,
        int(np.count_nonzero(used)),
        pairs.n_dropped + int(np.count_nonzero(~used)),
        reason,
    )


def _reason(
    measure: str,
    n_systems: int,
    means: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    n_queries: int,
    names: tuple[str, str],
) -> str | None:
    if measure in {"mae", "bias"}:
        return None if n_systems else "no system has a response with both values"
    if n_systems < 3:
        return f"a correlation of systems needs at least 3, there are {n_systems}"
    for name, values in zip(names, means(np.ones((1, n_queries))), strict=True):
        if np.unique(comparable(values[0])).size == 1:
            return f"{name} gives every system the same mean ({values[0, 0]:g})"
    return None


def _pearson_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    dx = x - x.mean(axis=1, keepdims=True)
    dy = y - y.mean(axis=1, keepdims=True)
    vx, vy = (dx**2).sum(axis=1), (dy**2).sum(axis=1)
    varies = (vx > NEGLIGIBLE**2 * (x**2).sum(axis=1)) & (vy > NEGLIGIBLE**2 * (y**2).sum(axis=1))
    scale = np.sqrt(vx) * np.sqrt(vy)
    # Only rounding carries a correlation beyond 1 in magnitude.
    return np.clip(ratio((dx * dy).sum(axis=1), scale, varies & (scale > 0)), -1, 1)


def _spearman_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    whole = np.isfinite(x).all(axis=1)
    out = np.full(x.shape[0], np.nan)
    out[whole] = _pearson_rows(_mid_ranks(x[whole]), _mid_ranks(y[whole]))
    return out


def _mid_ranks(values: FloatArray) -> FloatArray:
    """Ranks within rows; systems are few, so every pair is compared."""
    rounded = comparable(values)
    order = np.sign(rounded[:, :, None] - rounded[:, None, :])
    return np.asarray(order.sum(axis=2) / 2)


def _kendall_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    x, y = comparable(x), comparable(y)
    first, second = np.array(list(combinations(range(x.shape[1]), 2))).T
    dx = np.sign(x[:, first] - x[:, second])
    dy = np.sign(y[:, first] - y[:, second])
    scale = np.sqrt(np.abs(dx).sum(axis=1)) * np.sqrt(np.abs(dy).sum(axis=1))
    return ratio((dx * dy).sum(axis=1), scale, scale > 0)


def _mae_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(np.abs(x - y).mean(axis=1))


def _bias_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray((x - y).mean(axis=1))


_ROWWISE: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pearson": _pearson_rows,
    "spearman": _spearman_rows,
    "kendall_tau_b": _kendall_rows,
    "mae": _mae_rows,
    "bias": _bias_rows,
}
