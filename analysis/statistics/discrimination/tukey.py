"""The randomized Tukey HSD test of differences between systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import as_values
from analysis.statistics.discrimination.fixed_point import FixedPoint, fixed_point

#: With many systems and queries fewer permutations are drawn: at most this many moves of a score
#: in all, but never below 1,000 permutations unless fewer are asked for.
MOVES = 1_000_000_000

FEW = "a comparison needs 2 systems with scores"
NOTHING_MOVES = "no query has scores of 2 systems that could be permuted"

#: Steps of a grid by which two ranges of means can differ by rounding alone.
ROUNDING = 2

#: Of the paper's code: a permuted range that falls short by less still counts.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RandomizedTukey:
    """Tests of all P = k(k - 1)/2 pairs of systems, simultaneous over the pairs.

    `first` and `second` (P,) are columns; `difference` is the mean of the first minus that of the
    second; `p` is two-sided. Where a system has no scores both are NaN. `n_queries` counts queries
    with scores of at least 2 systems, which alone are permuted; `n_scores` all scores.
    """

    first: IntArray
    second: IntArray
    difference: FloatArray
    p: FloatArray
    resamples: int
    n_queries: int
    n_scores: int
    reason: str | None = None

    @property
    def one_sided(self) -> FloatArray:
        """p (P,) of the first system being the better one; see `one_sided`."""
        return one_sided(self.p, self.difference)

    def power(self, alpha: float = 0.05) -> float:
        """Discriminative power: the share of pairs with p < alpha; NaN without a tested pair."""
        tested = self.p[np.isfinite(self.p)]
        return float(np.mean(tested < alpha)) if tested.size else float("nan")


def one_sided(p: npt.ArrayLike, difference: npt.ArrayLike) -> FloatArray:
    """One-sided p for a positive difference: p/2 where it is positive, 1 - p/2 where negative.

    A difference of 0 favors neither side: .5.
    """
    two, sign = np.asarray(p, dtype=np.float64), np.sign(np.asarray(difference, dtype=np.float64))
    return np.where(sign > 0, two / 2, np.where(sign < 0, 1 - two / 2, 0.5 + 0 * two))


def randomized_tukey_hsd(
    scores: npt.ArrayLike, resamples: int = 10_000, seed: int = 0, *, paper: bool = False
) -> RandomizedTukey:
    """Test which systems differ, by permuting each query's scores across the systems.

    q* is the largest minus the smallest system mean of a permuted table, and p of a pair the share
    of permutations with q* at least as large as the pair's difference: (count + 1) / (B + 1).
    Sums are of integers (see `fixed_point`) and compared exactly, so that ties count; scores that
    are not short decimals or fractions are rounded to a grid, and sums within that rounding count
    as equal. Missing scores stay missing: the others of a query are permuted among their systems.

    Parameters
    ----------
    scores
        (n_queries, n_systems), NaN for missing.
    resamples, seed
        Number of permutations (fewer with very many scores, see `MOVES`), and their seed.
    paper
        As in the paper's code: p = count / B, and a range short by 1e-9 counts.

    Raises
    ------
    ValueError
        The scores are not a table, or infinite.

    Notes
    -----
    Carterette (2012), ACM TOIS 30:4; Muhamed 2025, section 4. It accounts for the queries that all
    systems answer, unlike Tukey's one-way test.
    """
    return randomized_tukey_hsds([scores], resamples, seed, paper=paper)[0]


def randomized_tukey_hsds(
    tables: Sequence[npt.ArrayLike], resamples: int = 10_000, seed: int = 0, *, paper: bool = False
) -> list[RandomizedTukey]:
    """`randomized_tukey_hsd` of several tables; those of one shape share their permutations."""
    if resamples < 1:
        raise ValueError(f"{resamples} permutations: draw at least 1")
    prepared = [_prepared(scores) for scores in tables]
    shapes: dict[tuple[int, int], list[int]] = {}
    for place, table in enumerate(prepared):
        if table.reason is None:
            shapes.setdefault(table.present.shape, []).append(place)
    sums: dict[int, IntArray] = {}
    for (n, k), places in shapes.items():
        from analysis.statistics.discrimination.permutations import TABLED, permuted_sums

        # A query of few systems is moved as a whole.
        drawn = min(resamples, max(1000, MOVES // (n if k <= TABLED else n * k)))
        same_shape = [(prepared[place].fixed.integers, prepared[place].present) for place in places]
        sums |= dict(zip(places, permuted_sums(same_shape, drawn, seed), strict=True))
    return [_tested(table, sums.get(place), paper) for place, table in enumerate(prepared)]


@dataclass(frozen=True, eq=False)
class _Prepared:
    fixed: FixedPoint
    present: BoolArray
    columns: IntArray
    """The systems with scores, of all `k`."""
    k: int
    reason: str | None


def _prepared(scores: npt.ArrayLike) -> _Prepared:
    values = as_values(scores, "scores")
    if values.ndim != 2:
        raise ValueError(
            f"scores have shape {values.shape}: give one row a query, one column a system"
        )
    present = np.isfinite(values)
    columns = np.flatnonzero(present.any(axis=0))
    rows = present.any(axis=1)
    scored = present[np.ix_(rows, columns)]
    # Sums times counts have to stay within 63 bits, for means of unequal counts.
    n = max(1, len(scored))
    fixed = fixed_point(values[np.ix_(rows, columns)], 2**62 // (n * n))
    reason = None
    if columns.size < 2:
        reason = FEW
    elif not (scored.sum(axis=1) > 1).any():
        reason = NOTHING_MOVES
    return _Prepared(fixed, scored, columns, values.shape[1], reason)


def _tested(table: _Prepared, sums: IntArray | None, paper: bool) -> RandomizedTukey:
    first, second = np.triu_indices(table.k, 1)
    difference = np.full(first.size, np.nan)
    p = np.full(first.size, np.nan)
    cells, present = table.fixed.integers, table.present
    observed, counts = cells.sum(axis=0), present.sum(axis=0)
    place = np.full(table.k, -1)
    place[table.columns] = np.arange(table.columns.size)
    both = np.flatnonzero((place[first] >= 0) & (place[second] >= 0))
    i, j = place[first[both]], place[second[both]]
    across = observed[i] * counts[j] - observed[j] * counts[i]
    difference[both] = across / (counts[i] * counts[j]) / table.fixed.unit
    drawn = 0
    if sums is not None:
        drawn = len(sums)
        if paper:
            reached = _reached_nearly(sums, counts, np.abs(difference[both]), table.fixed.unit)
            p[both] = reached / drawn
        else:
            if np.ptp(counts) == 0:
                ranges = np.sort(np.ptp(sums, axis=1))
                apart = np.abs(observed[i] - observed[j])
                if not table.fixed.exact:
                    apart = apart - ROUNDING * counts[i]
                reached = drawn - np.searchsorted(ranges, apart, side="left")
            else:
                reached = _reached(sums, counts, observed, i, j, table.fixed.exact)
            p[both] = (reached + 1) / (drawn + 1)
    return RandomizedTukey(
        first, second, difference, p, drawn,
        int((present.sum(axis=1) > 1).sum()), int(present.sum()), table.reason,
    )  # fmt: skip


def _reached_nearly(
    sums: IntArray, counts: IntArray, difference: FloatArray, unit: float
) -> IntArray:
    ranges = np.sort(np.ptp(sums / (counts * unit), axis=1) + TOLERANCE)
    reached: IntArray = len(sums) - np.searchsorted(ranges, difference, side="left")
    return reached


def _reached(
    sums: IntArray,
    counts: IntArray,
    observed: IntArray,
    i: IntArray,
    j: IntArray,
    exactly: bool,
) -> IntArray:
    """How many ranges of means with unequal counts are at least each difference.

    Floats decide where they can; where they are nearly equal, fractions do.
    """
    from analysis.statistics.discrimination.permutations import widest

    extremes = widest(sums, counts)
    rows = np.arange(len(sums))
    high, low = extremes[:, 0], extremes[:, 1]
    means = sums / counts
    ranges = means[rows, high] - means[rows, low]
    order = np.argsort(ranges, kind="stable")
    sorted_ranges = ranges[order]
    apart = np.abs(observed[i] / counts[i] - observed[j] / counts[j])
    noise = 1e-12 * max(1.0, float(means.max()))
    if not exactly:
        near = np.searchsorted(sorted_ranges, apart - noise - ROUNDING, side="left")
        return (len(sums) - near).astype(np.int64)
    sure = np.searchsorted(sorted_ranges, apart + noise, side="right")
    near = np.searchsorted(sorted_ranges, apart - noise, side="left")
    reached = (len(sums) - sure).astype(np.int64)
    exact: dict[int, Fraction] = {}
    for pair in np.flatnonzero(near < sure):
        observed_gap = abs(
            Fraction(int(observed[i[pair]]), int(counts[i[pair]]))
            - Fraction(int(observed[j[pair]]), int(counts[j[pair]]))
        )
        for b in order[near[pair] : sure[pair]].tolist():
            if b not in exact:
                exact[b] = Fraction(int(sums[b, high[b]]), int(counts[high[b]])) - Fraction(
                    int(sums[b, low[b]]), int(counts[low[b]])
                )
            reached[pair] += exact[b] >= observed_gap
    return reached
