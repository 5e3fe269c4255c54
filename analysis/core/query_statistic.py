"""A statistic as a function of how often each query counts.

A weight matrix W has shape (resamples, queries). A row of ones is the sample itself, a row of
multinomial counts is a bootstrap resample, a row of ones with one 0 is a jackknife resample. All
three run through the same function, so a point value and its resamples cannot diverge, and two
statistics read from the same W have a joint distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.end_intervals import STEP_OF_ORDER
from analysis.core.unequal_queries import QueryWeights

WeightedStatistic = Callable[[FloatArray], FloatArray]
Combination = Callable[[Sequence[FloatArray]], FloatArray]

#: A sum of squares below this share of its uncentered sum is rounding error, not variation.
NEGLIGIBLE = 1e-12

#: Values that differ by a smaller share of their size are equal: a dozen digits count.
NOISE = 1e-12

#: Upper bound on one block of temporary numbers (16 MB of float64).
BLOCK_NUMBERS = 2_000_000

#: The same for work that gains from staying in the processor's cache (4 MB).
CACHED_NUMBERS = 500_000


@dataclass(frozen=True, eq=False)
class QueryStatistic:
    """One statistic, callable on a weight matrix W of shape (R, Q); returns (R,), NaN undefined.

    `contributing` (Q,) marks the queries with at least one value that enters; `n_responses` and
    `n_dropped` count responses used and left out. `reason` explains why the statistic is
    undefined on the sample itself, and is None where it is defined.

    Statistics with the same `key` have the same values on the same weights, so that a resampling
    computes them once. One that is `combined` from others has them as `parts`.
    """

    weighted_statistic: WeightedStatistic
    contributing: BoolArray
    n_responses: int
    n_dropped: int = 0
    reason: str | None = None
    key: bytes | None = None
    parts: tuple[QueryStatistic, ...] = ()
    combination: Combination | None = None
    trials: int | None = None
    """Independent comparisons that a correlation of 1 or -1 rests on; None: not known."""
    resolution: float | None = None
    """The smallest step of the values that the statistic is a mean of, if it is one."""
    weights: QueryWeights | None = None
    """By how much each query counts; None: all alike, or not known."""
    step_of_difference: float | None = None
    """Of a difference or an average that no resample changes: by how much a query that differs
    would change it, times the number of queries; None: not known."""

    @classmethod
    def combined(
        cls,
        parts: Sequence[QueryStatistic],
        combination: Combination,
        contributing: BoolArray,
        n_responses: int,
        n_dropped: int = 0,
        reason: str | None = None,
    ) -> QueryStatistic:
        """What `combination` makes of the values of other statistics, row by row."""
        return cls(
            weighted_statistic=lambda weights: combination([part(weights) for part in parts]),
            contributing=contributing,
            n_responses=n_responses,
            n_dropped=n_dropped,
            reason=reason,
            parts=tuple(parts),
            combination=combination,
            weights=_weights_of(parts, combination),
        )

    def __call__(self, weights: npt.ArrayLike) -> FloatArray:
        matrix = np.asarray(weights, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.contributing.size:
            raise ValueError(
                f"weights of shape {matrix.shape} do not fit {self.contributing.size} queries: "
                "give one row per resample and one column per query"
            )
        if self.reason is not None:
            return np.full(matrix.shape[0], np.nan)
        return self.weighted_statistic(matrix)

    def __sub__(self, other: QueryStatistic) -> QueryStatistic:
        """Difference on the same weights, undefined where either is."""
        return QueryStatistic.combined(
            (self, other),
            lambda values: values[0] - values[1],
            contributing=self.contributing | other.contributing,
            n_responses=max(self.n_responses, other.n_responses),
            n_dropped=max(self.n_dropped, other.n_dropped),
            reason=self.reason or other.reason,
        ).with_step_of(self, other)

    def with_step_of(self, *parts: QueryStatistic) -> QueryStatistic:
        """The same, as a difference or an average of these parts."""
        steps = [part.step for part in parts if part.step is not None]
        whole = max(steps) if parts and len(steps) == len(parts) else None
        return replace(self, step_of_difference=whole)

    @property
    def step(self) -> float | None:
        """By how much a query that differs changes it, times the number of queries, if known."""
        if self.resolution is not None:
            return self.resolution
        return STEP_OF_ORDER if self.trials else self.step_of_difference

    @property
    def n_queries(self) -> int:
        """Number of queries that contribute."""
        return int(np.count_nonzero(self.contributing))

    @property
    def counts(self) -> dict[str, Any]:
        """Responses and queries that enter, and responses left out: fields of an estimate."""
        return {
            "n_responses": self.n_responses,
            "n_queries": self.n_queries,
            "n_dropped": self.n_dropped,
        }

    @cached_property
    def point(self) -> float:
        """Value on the sample itself, every query counting once."""
        return float(self(np.ones((1, self.contributing.size)))[0])


def smallest_difference(*values: npt.ArrayLike) -> float | None:
    """The smallest difference of two values that occur, NaN apart; None where all are equal."""
    distinct = np.unique(np.concatenate([np.ravel(each) for each in values]))
    steps = np.diff(distinct[np.isfinite(distinct)])
    return float(steps.min()) if steps.size else None


def _weights_of(parts: Sequence[QueryStatistic], combination: Combination) -> QueryWeights | None:
    """Weights of what is combined from parts, of the first that has any."""
    known = [part.weights for part in parts if part.weights is not None]
    if not known:
        return None
    makers = [each.contributions for each in known if each.contributions is not None]
    if len(makers) < len(parts):
        return QueryWeights(known[0].counts)

    def contributions() -> FloatArray:
        each = np.stack([make() for make in makers])
        # A response that one of them leaves out adds nothing to that one.
        is_defined = np.isfinite(each).any(axis=0)
        return np.where(is_defined, combination(list(np.nan_to_num(each))), np.nan)

    return QueryWeights(known[0].counts, known[0].query, contributions)


def as_values(values: npt.ArrayLike, name: str = "values") -> FloatArray:
    """Floats with NaN for missing; infinite values raise ValueError."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        place = tuple(int(index) for index in np.argwhere(np.isinf(array))[0])
        raise ValueError(f"{name}: infinite value at {place}; use NaN for a missing value")
    return array


def as_codes(query: npt.ArrayLike, n_items: int, n_queries: int | None) -> tuple[IntArray, int]:
    """Query codes (n_items,) and the number of queries; raises ValueError on a bad code."""
    codes = np.asarray(query)
    if codes.shape != (n_items,):
        raise ValueError(f"query has shape {codes.shape}, expected ({n_items},): one per item")
    if codes.size and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError(f"query has dtype {codes.dtype}: give integer codes from 0")
    codes = codes.astype(np.int64)
    top = int(codes.max()) + 1 if codes.size else 0
    total = top if n_queries is None else n_queries
    if codes.size and (codes.min() < 0 or top > total):
        raise ValueError(
            f"query codes run from {codes.min()} to {codes.max()}, expected 0 to {total - 1}"
        )
    return codes, total


def comparable(values: FloatArray, size: FloatArray | None = None) -> FloatArray:
    """Make values equal that differ by float noise only; NaN stays.

    For ranks, ties and equality: otherwise 0.1 + 0.2 and 0.3 would not be tied. Each value has the
    noise of its `size` (default: its magnitude), so that one huge value makes no others equal. A
    difference or deviation has the size of what it was computed from: 90.1 - 90 is noisier than
    its digits suggest.
    """
    out = values.astype(np.float64)
    finite = np.isfinite(out)
    present = out[finite]
    if present.size == 0:
        return out
    noise = NOISE * (np.abs(present) if size is None else size[finite])
    order = np.argsort(present, kind="stable")
    level, noise = present[order], noise[order]
    starts = np.r_[True, np.diff(level) > np.maximum(noise[1:], noise[:-1])]
    run = np.cumsum(starts) - 1
    first = level[starts][run]
    width = np.maximum.reduceat(noise, np.flatnonzero(starts))[run]
    # Values dense enough to follow each other within the noise are cut into steps of its width.
    steps = np.floor(ratio(level - first, width, width > 0))
    present[order] = first + np.where(width > 0, steps, 0.0) * width
    out[finite] = present
    return out


def centered(values: FloatArray) -> FloatArray:
    """Values minus their median, for statistics that do not depend on the origin.

    Sums of squares then keep the digits in which values differ, also around 1e9, and also where a
    single value is 1e15.
    """
    return values - np.nanmedian(values) if np.isfinite(values).any() else values.copy()


def sums_by_query(columns: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    """Sums of the columns (n, m) within each query, shape (Q, m)."""
    return np.column_stack(
        [np.bincount(query, weights=column, minlength=n_queries) for column in columns.T]
    )


def counts_by_query(
    codes: IntArray,
    query: IntArray,
    n_codes: int,
    n_queries: int,
    weights: FloatArray | None = None,
) -> sparse.csr_array:
    """Sparse (n_codes, Q): how often (or with what summed weight) a code occurs in each query."""
    entries = np.ones(codes.size) if weights is None else weights
    return sparse.csr_array(sparse.coo_array((entries, (codes, query)), (n_codes, n_queries)))


def weighted_counts(counts: sparse.csr_array, weights: FloatArray) -> FloatArray:
    """Counts (R, n_codes) of each code under each row of weights (R, Q)."""
    return np.ascontiguousarray((counts @ weights.T).T)


def in_row_blocks(
    function: WeightedStatistic,
    weights: FloatArray,
    numbers_per_row: int,
    numbers: int = BLOCK_NUMBERS,
) -> FloatArray:
    """Apply a function of W to blocks of rows, bounding its temporary memory."""
    rows = max(1, numbers // max(1, numbers_per_row))
    if weights.shape[0] <= rows:
        return function(weights)
    parts = [function(weights[i : i + rows]) for i in range(0, weights.shape[0], rows)]
    return np.concatenate(parts)


def undefined(weights: FloatArray) -> FloatArray:
    """NaN for every row."""
    return np.full(weights.shape[0], np.nan)


def ratio(numerator: FloatArray, denominator: FloatArray, defined: BoolArray) -> FloatArray:
    """Quotient where `defined`, NaN elsewhere, without warnings."""
    out = np.full(np.broadcast(numerator, denominator, defined).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=defined)
    return out
