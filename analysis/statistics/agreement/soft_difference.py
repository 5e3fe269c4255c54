"""Difference of two judges' soft pairwise accuracies of systems, with p by permutation of queries.

Both judges' scores on a query change places, after each judge's differences between systems are
divided by the spread of its scores. The p-values of pairs of systems, of which the accuracy is
made, then come from the same signs of differences in every permutation.

The interval is the jackknife's by query, on one set of signs. It is about the difference to expect
with as many queries, since p-values move apart with their number. At 15, 30 and 100 queries, 4 and
8 systems, equal or apart in systems and judges, it covers .983 to 1
(tests/coverage/soft_accuracy.csv).
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

#: The same without each query in turn.
SIGNS_WITHOUT = 500

#: Additions up to which the difference is tested, and up to which its interval is computed.
LARGEST, LARGEST_WITHOUT = 20_000_000_000, 500_000_000

#: Why there is no interval where people's p-values come from a model of their ratings.
ADJUSTED = "no interval: people's p-values are adjusted for raters' severity"


class SoftDifference(NamedTuple):
    """Difference of two judges' soft pairwise accuracies, with its p; NaN with a reason.

    `without_each_query` (Q',) are its values without each query that contributes, empty with
    `no_interval` where these are not computed.
    """

    value: float
    p: float
    without_each_query: FloatArray
    no_interval: str | None
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
        return SoftDifference(nan, nan, np.empty(0), of.reason, 0, of.n_queries, of.reason)
    used = present.any(axis=1)
    shared = present[used][:, of.first] & present[used][:, of.second]
    apart = []
    for scores in (a[used], b[used], y[used]):
        spread = float(np.nanstd(scores)) or 1.0
        apart.append(np.where(shared, scores[:, of.first] - scores[:, of.second], 0.0) / spread)
    without, why = np.empty(0), None
    if adjusted is not None:
        why = ADJUSTED
    elif shared.size * SIGNS_WITHOUT > LARGEST_WITHOUT:
        why = f"no interval: {n_pairs:,} pairs of systems take too long to compare"
    else:
        contributing = shared.any(axis=1)
        without = _without_each([part[contributing] for part in apart], seed)
    if shared.size * SIGNS * PERMUTATIONS > LARGEST:
        p, reason = nan, f"no p: {n_pairs:,} pairs of systems take too long to permute"
    else:
        p, reason = _p((apart[0], apart[1]), of.people, seed), None
    return SoftDifference(value, p, without, why, n_pairs, of.n_queries, reason)


def _without_each(apart: list[FloatArray], seed: int) -> FloatArray:
    """Differences (Q,) without each query, from those of systems (Q, P) by the judges and people.

    People come last.
    """
    count = len(apart[0])
    signs = np.random.default_rng(seed).integers(0, 2, (SIGNS_WITHOUT, count)) * 2.0 - 1.0
    permuted = [signs @ part for part in apart]
    total = [part.sum(axis=0) for part in apart]
    values = np.empty(count)
    for row in range(count):
        first, second, people = (
            _better(whole - part[row], moved - signs[:, [row]] * part[row])
            for whole, moved, part in zip(total, permuted, apart, strict=True)
        )
        values[row] = np.abs(second - people).mean() - np.abs(first - people).mean()
    return values


def _p(apart: tuple[FloatArray, FloatArray], people: FloatArray, seed: int) -> float:
    """p of exchanging the judges' differences between systems (Q, P) query by query."""
    n = len(apart[0])
    swapped = swaps(n, seed)
    signs = np.random.default_rng(seed).integers(0, 2, (SIGNS, n)) * 2.0 - 1.0
    change = apart[1] - apart[0]
    permuted = [signs @ part for part in apart]
    total = [part.sum(axis=0) for part in apart]
    differences = np.empty(len(swapped))
    for row, swap in enumerate(swapped):
        moved, moved_total = (signs * swap) @ change, swap @ change
        accuracies = [
            _soft(total[0] + moved_total, permuted[0] + moved, people),
            _soft(total[1] - moved_total, permuted[1] - moved, people),
        ]
        differences[row] = accuracies[0] - accuracies[1]
    return permutation_p(differences)


def _soft(observed: FloatArray, permuted: FloatArray, people: FloatArray) -> float:
    return 1 - float(np.abs(_better(observed, permuted) - people).mean())


def _better(observed: FloatArray, permuted: FloatArray) -> FloatArray:
    """Share (P,) of permuted differences (R, P) above the observed ones (P,)."""
    equal = np.abs(permuted - observed) <= NOISE * np.maximum(1.0, np.abs(observed))
    larger = (permuted > observed) & ~equal
    return np.asarray((larger + 0.5 * equal).mean(axis=0))
