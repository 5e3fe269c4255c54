"""Difference of two judges' soft pairwise accuracies of systems, with p by permutation of queries.

Both judges' scores on a query change places, after each judge's differences between systems are
divided by the spread of its scores. The p-values of pairs of systems, of which the accuracy is
made, then come from the same signs of differences in every permutation.
Sources: `system_decisions`, `judge_comparison`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import NOISE
from analysis.statistics.agreement.judge_comparison import PERMUTATIONS, permutation_p, swaps
from analysis.statistics.agreement.system_decisions import soft_pairwise_accuracy
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems

#: Permutations of answers within each permutation of the judges' scores.
SIGNS = 200

#: Additions up to which the difference is tested.
LARGEST = 20_000_000_000


class SoftDifference(NamedTuple):
    """Difference of two judges' soft pairwise accuracies, with its p; NaN with a reason."""

    value: float
    p: float
    n_pairs: int
    n_queries: int
    reason: str | None


def soft_difference(
    first: FloatArray,
    second: FloatArray,
    people: FloatArray,
    seed: int = 0,
    adjusted: AdjustedSystems | None = None,
) -> SoftDifference:
    """Compare scores (queries, systems) of two judges with people's on the cells of all three."""
    present = np.isfinite(first) & np.isfinite(second) & np.isfinite(people)
    a, b, y = (np.where(present, scores, np.nan) for scores in (first, second, people))
    soft = [soft_pairwise_accuracy(judge, y, seed=seed, adjusted=adjusted) for judge in (a, b)]
    value = soft[0].value - soft[1].value
    of = soft[0]
    n_pairs, nan = int(of.first.size), float("nan")
    if of.reason is not None:
        return SoftDifference(nan, nan, 0, of.n_queries, of.reason)
    used = present.any(axis=1)
    n = int(used.sum())
    if n * n_pairs * SIGNS * PERMUTATIONS > LARGEST:
        why = f"no p: {n_pairs:,} pairs of systems on {n:,} queries take too long to permute"
        return SoftDifference(value, nan, n_pairs, of.n_queries, why)
    shared = present[used][:, of.first] & present[used][:, of.second]
    apart = []
    for scores in (a[used], b[used]):
        spread = float(np.nanstd(scores)) or 1.0
        apart.append(np.where(shared, scores[:, of.first] - scores[:, of.second], 0.0) / spread)
    swapped = swaps(n, seed)
    signs = np.random.default_rng(seed).integers(0, 2, (SIGNS, n)) * 2.0 - 1.0
    change = apart[1] - apart[0]
    permuted = [signs @ part for part in apart]
    total = [part.sum(axis=0) for part in apart]
    differences = np.empty(len(swapped))
    for row, swap in enumerate(swapped):
        moved, moved_total = (signs * swap) @ change, swap @ change
        accuracies = [
            _soft(total[0] + moved_total, permuted[0] + moved, of.people),
            _soft(total[1] - moved_total, permuted[1] - moved, of.people),
        ]
        differences[row] = accuracies[0] - accuracies[1]
    return SoftDifference(value, permutation_p(differences), n_pairs, of.n_queries, None)


def _soft(observed: FloatArray, permuted: FloatArray, people: FloatArray) -> float:
    equal = np.abs(permuted - observed) <= NOISE * np.maximum(1.0, np.abs(observed))
    larger = (permuted > observed) & ~equal
    better = (larger + 0.5 * equal).mean(axis=0)
    return 1 - float(np.abs(better - people).mean())
