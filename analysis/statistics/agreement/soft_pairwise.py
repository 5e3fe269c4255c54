"""Soft pairwise accuracy: do judge and people find the same systems better, as surely?

For each pair of systems people and judge have a p-value that the first is better; 1 minus their
mean absolute difference forgives a judge that is unsure where people are. Both come from one set of
permutations: the two systems' answers to a query change places, for people and judge alike.
Source: Thompson, Mathur, Deutsch and Khayrallah (2024), WMT, 1222-1234, "Improving Statistical
Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy", equation 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import BLOCK_NUMBERS, NOISE, FloatArray, IntArray, as_values

#: Permutations of the answers to queries.
PERMUTATIONS = 1000

#: Pairs of systems that are compared (63 systems).
PAIRS_COMPARED = 2000


@dataclass(frozen=True, eq=False)
class SoftPairwise:
    """The accuracy, with the p-values (P,) of each pair that the first system is better."""

    value: float
    first: IntArray
    second: IntArray
    judge: FloatArray
    people: FloatArray
    n_queries: int
    reason: str | None = None


def soft_pairwise_accuracy(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> SoftPairwise:
    """Compare scores (queries, systems), NaN where missing, on the cells that both have.

    A permuted difference equal to the observed one counts half, so that the p-value of the
    reversed pair is 1 - p and the order of systems does not matter. A pair without a common query
    does not enter. ValueError where the shapes differ.
    """
    x, y = as_values(judge, "judge"), as_values(people, "people")
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"scores of shapes {x.shape} and {y.shape}: expected (queries, systems)")
    both = np.isfinite(x) & np.isfinite(y)
    first, second = np.triu_indices(x.shape[1], 1)
    if first.size > PAIRS_COMPARED:
        return _undefined(f"{first.size:,} pairs of systems are more than {PAIRS_COMPARED:,}")
    shared = both[:, first] & both[:, second]
    kept = shared.any(axis=0)
    first, second, shared = first[kept], second[kept], shared[:, kept]
    if not first.size:
        return _undefined("no two systems have answers to one query with both values")
    queries = shared.any(axis=1)
    shared = shared[queries]
    ps = [_better(v[queries], first, second, shared, permutations, seed) for v in (x, y)]
    value = 1 - float(np.abs(ps[0] - ps[1]).mean())
    return SoftPairwise(value, first, second, ps[0], ps[1], int(queries.sum()))


def _better(
    scores: FloatArray,
    first: IntArray,
    second: IntArray,
    shared: npt.NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> FloatArray:
    """Share of permutations in which the first system leads the second by at least as much."""
    a, b = scores[:, first], scores[:, second]
    apart = np.where(shared, a - b, 0.0)
    size = np.where(shared, np.maximum(np.abs(a), np.abs(b)), 0.0).sum(axis=0)
    observed = apart.sum(axis=0)
    noise = NOISE * size
    at_least = np.zeros(first.size)
    rng = np.random.default_rng(seed)
    rows = max(1, BLOCK_NUMBERS // 4 // max(len(scores), first.size))
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        signs = rng.integers(0, 2, (count, len(scores)), dtype=np.int8) * 2.0 - 1.0
        margin = observed - signs @ apart
        equal = np.abs(margin) <= noise
        at_least += (equal * 0.5 + ((margin < 0) & ~equal)).sum(axis=0)
    return at_least / permutations


def _undefined(reason: str) -> SoftPairwise:
    none, empty = np.empty(0, dtype=np.int64), np.empty(0)
    return SoftPairwise(float("nan"), none, none, empty, empty, 0, reason)
