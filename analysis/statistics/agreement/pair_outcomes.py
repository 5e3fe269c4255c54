"""Counts of the pairs of points that two scorers order alike, without visiting the pairs.

With a tie threshold t, a pair is ordered alike if the reference ties it and x differs by at most t,
or if both order it in the same direction and x differs by more than t. A table of the distinct
values (x by y) carries every count: a product of the table with itself gives those of all
thresholds at once, its cumulative sums those of one threshold for each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import Pairs
from analysis.core.query_statistic import NOISE, comparable

#: Cells of a table (40 MB); with more distinct values the accuracy is not computed.
CELLS = 10_000_000

#: With more distinct scores, thresholds are tried on a grid of `GRID` steps over their range.
SCORES_TRIED, GRID = 512, 100

#: Pairs inside queries that are listed.
PAIRS_LISTED = 20_000_000


@dataclass(frozen=True, eq=False)
class ByThreshold:
    """Pairs ordered alike (k,) at each of the thresholds (k,), ascending from 0."""

    thresholds: FloatArray
    alike: FloatArray
    n_pairs: int

    @property
    def best(self) -> float:
        """The smallest threshold with the most pairs ordered alike; 0 without pairs."""
        return float(self.thresholds[np.argmax(self.alike)]) if self.alike.size else 0.0


class PairTable:
    """Points (n,) counted by their distinct values of x and y."""

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        self.x_values, self.x_code = np.unique(x, return_inverse=True)
        self.y_values, self.y_code = np.unique(y, return_inverse=True)
        self.size = x.size
        shape = self.x_values.size, self.y_values.size
        cells = np.bincount(self.x_code * shape[1] + self.y_code, minlength=shape[0] * shape[1])
        self.counts = cells.reshape(shape).astype(np.int32)

    @property
    def n_pairs(self) -> int:
        """Pairs of different points."""
        return self.size * (self.size - 1) // 2

    @cached_property
    def _before(self) -> npt.NDArray[np.int32]:
        """Points of lower x and lower y than each cell's (nx + 1, ny + 1)."""
        before = np.zeros((self.counts.shape[0] + 1, self.counts.shape[1] + 1), dtype=np.int32)
        np.cumsum(self.counts, axis=0, out=before[1:, 1:])
        np.cumsum(before[1:, 1:], axis=1, out=before[1:, 1:])
        return before

    def by_threshold(self) -> ByThreshold:
        """Pairs ordered alike at every threshold where their number changes."""
        if self.x_values.size > SCORES_TRIED:
            span = float(np.ptp(self.x_values))
            tried = np.linspace(0, span, GRID + 1)
            alike_counts = [self.alike_with(t).sum() / 2 for t in tried]
            return ByThreshold(tried, np.array(alike_counts), self.n_pairs)
        counts = self.counts.astype(np.float64)
        below = np.cumsum(counts, axis=1) - counts
        a, b = np.triu_indices(self.x_values.size)
        tied = (counts @ counts.T)[a, b]
        same = a == b
        tied[same] = (tied[same] - self.counts.sum(axis=1)[a[same]]) / 2
        alike = (below @ counts.T)[a, b]
        alike[same] = 0
        return _accumulated(
            self.x_values[b] - self.x_values[a],
            np.maximum(np.abs(self.x_values[a]), np.abs(self.x_values[b])),
            tied,
            alike,
            self.n_pairs,
        )

    def alike_with(self, threshold: float) -> FloatArray:
        """For each point (n,), the number of points it is ordered alike with at a threshold."""
        if not self.size:
            return np.empty(0)
        before = self._before
        # A difference equal to the threshold, but for the noise of both scores, is a tie.
        reach = threshold + 2 * NOISE * (np.abs(self.x_values) + threshold)
        low = np.searchsorted(self.x_values, self.x_values - reach, "left")[self.x_code]
        high = np.searchsorted(self.x_values, self.x_values + reach, "right")[self.x_code]
        y, top = self.y_code, self.counts.shape[1]
        above = self.size - before[high, top] - before[-1, y + 1] + before[high, y + 1]
        tied = before[high, y + 1] - before[low, y + 1] - before[high, y] + before[low, y] - 1
        alike: FloatArray = (above + before[low, y] + tied).astype(np.float64)
        return alike


@dataclass(frozen=True, eq=False)
class PairsInside:
    """Pairs inside queries (m,): their query, how far x differs, and how the reference orders them.

    `order` is 1 where both order the pair in the same direction, 0 where the reference ties it,
    and -1 otherwise.
    """

    query: IntArray
    apart: FloatArray
    size: FloatArray
    order: IntArray

    def by_threshold(self) -> ByThreshold:
        """Pairs ordered alike at every threshold where their number changes."""
        return _accumulated(
            self.apart,
            self.size,
            (self.order == 0).astype(np.float64),
            (self.order == 1).astype(np.float64),
            self.query.size,
        )

    def alike(self, threshold: FloatArray | float) -> FloatArray:
        """Whether each pair (m,) is ordered alike, as 0 or 1."""
        tied = self.apart <= threshold + 2 * NOISE * (self.size + threshold)
        alike: FloatArray = np.where(tied, self.order == 0, self.order == 1).astype(np.float64)
        return alike


def pairs_inside(pairs: Pairs) -> PairsInside:
    """List the pairs of points that belong to one query."""
    order = np.argsort(pairs.query, kind="stable")
    query, x_size = pairs.query[order], pairs.x_size[order]
    x, y = (values[order] for values in pairs.levels)
    longest = int(np.bincount(query).max()) if query.size else 0
    blocks: list[tuple[IntArray, FloatArray, FloatArray, IntArray]] = []
    for lag in range(1, longest):
        same = query[lag:] == query[:-lag]
        dx, dy = (x[lag:] - x[:-lag])[same], (y[lag:] - y[:-lag])[same]
        sign = (np.sign(dx) * np.sign(dy)).astype(np.int64)
        ordered = np.where(dy == 0, 0, np.where(sign > 0, 1, -1))
        size = np.maximum(x_size[lag:], x_size[:-lag])[same]
        blocks.append((query[lag:][same], np.abs(dx), size, ordered))
    if not blocks:
        empty = np.empty(0)
        return PairsInside(np.empty(0, np.int64), empty, empty, np.empty(0, np.int64))
    queries, apart, sizes, orders = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return PairsInside(queries, apart, sizes, orders)


def n_pairs_inside(pairs: Pairs) -> int:
    """Number of pairs inside queries."""
    counts = np.bincount(pairs.query)
    return int((counts * (counts - 1) // 2).sum())


def _accumulated(
    apart: FloatArray, size: FloatArray, tied: FloatArray, alike: FloatArray, n_pairs: int
) -> ByThreshold:
    """Add up counts of ties and of equal directions that belong to differences of x."""
    if not n_pairs:
        return ByThreshold(np.zeros(1), np.zeros(1), 0)
    levels, place = np.unique(comparable(apart, size), return_inverse=True)
    # The largest difference of a level, so that all of the level are within it.
    largest = np.zeros(levels.size)
    np.maximum.at(largest, place, apart)
    gained = np.cumsum(np.bincount(place, tied, levels.size))
    lost = np.cumsum(np.bincount(place, alike, levels.size))
    counts = gained + lost[-1] - lost
    if largest[0] > 0:
        largest, counts = np.r_[0.0, largest], np.r_[lost[-1], counts]
    return ByThreshold(largest, counts, n_pairs)
