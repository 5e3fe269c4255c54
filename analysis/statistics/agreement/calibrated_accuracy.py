"""Tie-calibrated pairwise accuracy within queries, as a function of query weights.

On each row of weights the tie threshold is the one with the most pairs ordered alike, so that a
resample or a permutation chooses its own threshold, as the sample did. Both judges of a
comparison gain from the choice; a judge alone is flattered by it, see `pairwise_accuracy`.
Source: Deutsch, Foster and Freitag (2023), EMNLP, 12914-12929, "Ties Matter", section 5.
"""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.pairs import Pairs
from analysis.core.query_statistic import QueryStatistic, comparable, in_row_blocks, ratio
from analysis.statistics.agreement.pair_outcomes import SCORES_TRIED, PairsInside, pairs_inside

#: With more differences between scores, thresholds are tried at this many of their quantiles.
THRESHOLDS = SCORES_TRIED

NO_PAIR = "no query has two responses with both values"


def calibrated_accuracy(pairs: Pairs) -> QueryStatistic:
    """Share of pairs inside queries ordered alike at the best threshold of each row of weights."""
    listed = pairs_inside(pairs)
    counts = np.bincount(listed.query, minlength=pairs.n_queries).astype(np.float64)
    gains = _gains(listed, pairs.n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        total = weights @ counts
        return ratio((weights @ gains).max(axis=1), total, total > 0)

    def in_blocks(weights: FloatArray) -> FloatArray:
        return in_row_blocks(weighted_statistic, weights, gains.shape[1])

    reason = None if listed.query.size else NO_PAIR
    return QueryStatistic(in_blocks, counts > 0, pairs.n_responses, pairs.n_dropped, reason)


def _gains(listed: PairsInside, n_queries: int) -> FloatArray:
    """Pairs (Q, T) of each query that are ordered alike at each threshold, the first being 0."""
    levels, place = np.unique(comparable(listed.apart, listed.size), return_inverse=True)
    # Thresholds are 0 and the levels; a level of (almost) 0 is a tie at the threshold 0.
    zero = levels <= 0 if levels.size else np.zeros(0, dtype=bool)
    step = np.where(zero[place], 0, place - int(zero.sum()) + 1)
    steps = levels.size - int(zero.sum()) + 1
    if steps > THRESHOLDS:
        ends = np.linspace(0, steps - 1, THRESHOLDS).round().astype(np.int64)
        # A pair is tied from the first threshold that is tried and reaches it.
        step, steps = np.searchsorted(ends, step), THRESHOLDS
    cells, shape = listed.query * steps + step, (n_queries, steps)
    tied, alike = (
        np.bincount(cells, listed.order == outcome, n_queries * steps).reshape(shape)
        for outcome in (0, 1)
    )
    untied = alike.sum(axis=1, keepdims=True) - np.cumsum(alike, axis=1)
    return np.asarray(np.cumsum(tied, axis=1) + untied, dtype=np.float64)
