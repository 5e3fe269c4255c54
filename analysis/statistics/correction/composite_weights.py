"""Weights of constructs learnt from an overall rating: least squares with weights of 0 or more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import as_codes, as_values, ratio, sums_by_query
from analysis.core.resampling import folds
from analysis.core.statistic_family import StatisticFamily

#: Share of a construct's variance that is added to it, so that two equal constructs share a weight.
RIDGE = 1e-6

FOLDS = 5


def composite_weights(
    scores: npt.ArrayLike, overall: npt.ArrayLike, query: npt.ArrayLike, n_queries: int
) -> StatisticFamily:
    """Weights (K,) of the constructs, as a family over the weights of queries.

    Minimizes the squared error of `overall` (n,) predicted from `scores` (n, K) and an intercept,
    no weight below 0 (Lawson and Hanson 1974, chapter 23). Every response must have all its values.
    A sample in which the scores or the overall rating do not vary has no weights.
    """
    x, y = as_values(scores, "scores"), as_values(overall, "overall")
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise ValueError(f"scores {x.shape} and overall {y.shape}: expected (n, K) and (n,)")
    if np.isnan(x).any() or np.isnan(y).any():
        raise ValueError("scores and overall must be complete: leave other responses out")
    codes, total = as_codes(query, y.size, n_queries)
    size = x.shape[1]
    values = np.column_stack([x, y])
    values = values - (np.median(values, axis=0) if y.size else 0.0)
    first, second = np.triu_indices(size + 1)
    sums = sums_by_query(
        np.column_stack([np.ones(y.size), values, values[:, first] * values[:, second]]),
        codes,
        total,
    )

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        moments = weights @ sums
        count = moments[:, 0]
        means = ratio(moments[:, 1 : size + 2], count[:, None], (count > 0)[:, None])
        square = np.empty((len(weights), size + 1, size + 1))
        square[:, first, second] = moments[:, size + 2 :]
        square[:, second, first] = moments[:, size + 2 :]
        covariance = square - count[:, None, None] * means[:, :, None] * means[:, None, :]
        return _without_negative(covariance)

    contributing = np.bincount(codes, minlength=total) > 0
    reason = None
    if y.size < size + 2:
        reason = f"{y.size} responses are too few for the weights of {size} constructs"
    elif np.isnan(weighted_statistic(np.ones((1, total)))).any():
        reason = "a construct's scores or the overall ratings are all equal"
    return StatisticFamily.from_same_responses(
        weighted_statistic
        if reason is None
        else lambda weights: np.full((len(weights), size), np.nan),
        contributing,
        y.size,
        0,
        [reason] * size,
    )


def _without_negative(covariance: FloatArray) -> FloatArray:
    """Weights (R, K) from sums of squares and products (R, K + 1, K + 1), overall last."""
    from scipy.optimize import nnls

    size = covariance.shape[1] - 1
    spread = np.sqrt(np.maximum(np.einsum("rkk->rk", covariance), 0.0))
    defined = np.isfinite(spread).all(axis=1) & (spread > 1e-9).all(axis=1)
    scale = np.where(defined[:, None], spread, 1.0)
    standardized = np.zeros((len(scale), size))
    for row in np.flatnonzero(defined):
        r = covariance[row] / np.outer(scale[row], scale[row])
        # The sums of squares as a square root: a problem of K rows in place of n.
        root = np.linalg.cholesky(r[:size, :size] + RIDGE * np.eye(size))
        standardized[row] = nnls(root.T, np.linalg.solve(root, r[:size, size]))[0]
    slopes = standardized * scale[:, size:] / scale[:, :size]
    return np.where(defined[:, None], slopes, np.nan)


def out_of_fold(
    scores: FloatArray, overall: FloatArray, query: IntArray, n_queries: int, seed: int = 0
) -> FloatArray:
    """Composite (n,) of each response by weights learnt without its query's fold.

    Queries are dealt at random into five folds, or as many as there are queries. Values are
    weighted sums from one origin for all folds: an intercept learnt without a fold would be low
    where its ratings are high, and correlate negatively with them. For the same reason the weights
    of every fold are scaled to the same variance of the composite (`scaled`): without a fold in
    which scores and ratings agree closely, they are smaller. Values are NaN where the other folds
    give no weights.
    """
    composite = np.full(len(overall), np.nan)
    present = np.unique(query)
    if present.size < 2:
        return composite
    fold_of = np.full(n_queries, -1)
    fold_of[present] = folds(present.size, FOLDS, seed)
    count = int(fold_of.max()) + 1
    family = composite_weights(scores, overall, query, n_queries)
    middle = scores.mean(axis=0)
    without_fold = (fold_of[None, :] != np.arange(count)[:, None]).astype(np.float64)
    for fold, slopes in enumerate(scaled(family.weighted_statistic(without_fold), scores)):
        in_fold = fold_of[query] == fold
        composite[in_fold] = (scores[in_fold] - middle) @ slopes
    return composite


def scaled(weights: FloatArray, scores: FloatArray) -> FloatArray:
    """Weights (m, K) divided by the standard deviation of their composite of the scores (n, K).

    Weights of 0 stay 0. A correlation depends on the proportions of weights only.
    """
    centered = scores - scores.mean(axis=0)
    spread = np.sqrt(np.mean((weights @ centered.T) ** 2, axis=1, keepdims=True))
    return np.asarray(weights / np.where(spread > 0, spread, 1.0))
