"""Tie-aware pairwise accuracy: the share of pairs of responses that a judge orders as people do.

A pair that people tie is right only if the judge ties it too, so that a judge which never ties
does not gain from people who often do. A tie threshold makes small differences of the judge's
scores ties. The accuracy of the best threshold is too high on the sample it was chosen on;
`pairwise_accuracy_out_of_fold` chooses thresholds on other queries.
Source: Deutsch, Foster and Freitag (2023), EMNLP, 12914-12929, "Ties Matter", equation 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.end_intervals import STEP_OF_ORDER
from analysis.core.pairs import Pairs, between_queries, read_pairs
from analysis.core.query_statistic import QueryStatistic, as_values, ratio
from analysis.core.resampling import FOLDS, Replicates, folds
from analysis.statistics.agreement.pair_outcomes import (
    CELLS,
    PAIRS_LISTED,
    ByThreshold,
    PairTable,
    n_pairs_inside,
    pairs_inside,
)

PairScope = Literal["pooled", "between_queries", "within_query"]


@dataclass(frozen=True, eq=False)
class PairwiseAccuracy:
    """Share of pairs ordered alike, with its values (Q',) without each contributing query.

    `thresholds` are the tie threshold, or the lowest and the highest of the folds.
    """

    point: float
    without_each_query: FloatArray
    thresholds: tuple[float, float]
    n_pairs: int
    n_queries: int
    n_responses: int
    n_dropped: int
    reason: str | None = None

    @property
    def replicates(self) -> Replicates:
        """For an interval by the jackknife, which pairs across queries make exact and fast."""
        return Replicates(
            self.point, self.without_each_query, "jackknife", self.n_queries, self.reason
        )


@dataclass(frozen=True, eq=False)
class _Counted:
    """Pairs ordered alike and pairs, in all and those that a query (Q,) takes part in."""

    alike: float
    n_pairs: int
    alike_of: FloatArray
    pairs_of: FloatArray

    def __add__(self, other: _Counted) -> _Counted:
        return _Counted(
            self.alike + other.alike,
            self.n_pairs + other.n_pairs,
            self.alike_of + other.alike_of,
            self.pairs_of + other.pairs_of,
        )


def pairwise_accuracy(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: PairScope = "pooled",
    threshold: float = 0.0,
    *,
    n_queries: int | None = None,
) -> PairwiseAccuracy:
    """Accuracy of x against the reference y (n,) at a tie threshold of x, in its points.

    Pooled: all pairs of responses. Between queries: pairs of query means. Within query: pairs of
    responses to one query, summed over queries. ValueError for a negative threshold.
    """
    if not threshold >= 0:
        raise ValueError(f"tie threshold {threshold}: a difference is at least 0")
    pairs = _points(x, y, query, scope, n_queries)
    reason = _reason(pairs, scope)
    if reason is not None:
        return _undefined(pairs, reason)
    counted = _at(pairs, scope, np.full(pairs.n_queries, threshold))
    return _accuracy(pairs, counted, (threshold, threshold))


def accuracy_beside_raters(
    values: npt.ArrayLike, judge: npt.ArrayLike, query: npt.ArrayLike, n_queries: int
) -> QueryStatistic:
    """The judge's accuracy within queries minus a rater's, averaged over raters.

    `values` (n, raters) and `judge` (n,) are NaN where missing. As for the human ceiling, judge
    and rater are compared with the same mean of the other raters on the same responses.
    """
    people, machine = as_values(values), as_values(judge, "judge")
    present = np.isfinite(people)
    counts = present.sum(axis=1)
    filled = np.where(present, people, 0.0)
    parts: list[tuple[FloatArray, FloatArray]] = []
    entering = np.zeros(len(people), dtype=bool)
    for column in range(people.shape[1]):
        items = present[:, column] & (counts >= 2) & np.isfinite(machine)
        others = np.full(len(people), np.nan)
        others[items] = np.delete(filled, column, axis=1)[items].sum(axis=1) / (counts[items] - 1)
        counted = []
        for x in (machine, people[:, column]):
            pairs = _points(x, others, query, "within_query", n_queries)
            if _reason(pairs, "within_query") is None:
                counted.append(_at(pairs, "within_query", np.zeros(n_queries)))
        if len(counted) == 2:
            parts.append((counted[0].alike_of - counted[1].alike_of, counted[0].pairs_of))
            entering |= items

    def average(weights: FloatArray) -> FloatArray:
        by_rater = []
        for gained, pairs_of in parts:
            total = weights @ pairs_of
            by_rater.append(ratio(weights @ gained, total, total > 0))
        return np.asarray(np.mean(by_rater, axis=0))

    contributing = np.zeros(n_queries, dtype=bool)
    for _, pairs_of in parts:
        contributing |= pairs_of > 0
    reason = (
        None if parts else "no rater can be compared with the mean of the others within a query"
    )
    n = int(np.count_nonzero(entering))
    dropped = int(np.count_nonzero((counts > 0) & ~entering))
    return QueryStatistic(
        average, contributing, n, dropped, reason, step_of_difference=STEP_OF_ORDER
    )


def accuracy_by_threshold(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: PairScope = "pooled",
    *,
    n_queries: int | None = None,
) -> ByThreshold:
    """Pairs ordered alike at every tie threshold; `.best` is the calibrated one."""
    pairs = _points(x, y, query, scope, n_queries)
    if _reason(pairs, scope) is not None:
        return ByThreshold(np.zeros(1), np.zeros(1), 0)
    return _thresholds(pairs, scope)


def pairwise_accuracy_out_of_fold(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: PairScope = "pooled",
    *,
    n_queries: int | None = None,
    count: int = FOLDS,
    seed: int = 0,
) -> PairwiseAccuracy:
    """Accuracy on the pairs inside each of `count` folds, at the best threshold of the others.

    Folds are of queries, so that no response helps to choose the threshold that it is judged by.
    """
    pairs = _points(x, y, query, scope, n_queries)
    used, place = np.unique(pairs.query, return_inverse=True)
    reason = _reason(pairs, scope)
    # Between queries a fold of fewer than two would have no pair.
    dealt = min(count, used.size // 2)
    if reason is None and dealt < 2:
        reason = "folds by query need at least 4 queries"
    if reason is not None:
        return _undefined(pairs, reason)
    fold = folds(used.size, dealt, seed)
    point_folds = fold[place]
    chosen, counted = [], None
    for number in range(dealt):
        inside = point_folds == number
        best = _thresholds(pairs.only(~inside), scope).best
        in_fold = _at(pairs.only(inside), scope, np.full(pairs.n_queries, best))
        chosen.append(best)
        counted = in_fold if counted is None else counted + in_fold
    assert counted is not None  # noqa: S101  (there are at least 2 folds)
    if not counted.n_pairs:
        return _undefined(pairs, "no fold has a pair of responses")
    return _accuracy(pairs, counted, (min(chosen), max(chosen)))


def _points(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: PairScope,
    n_queries: int | None,
) -> Pairs:
    pairs, _ = read_pairs(x, y, query, None, n_queries)
    if scope == "between_queries":
        return between_queries(pairs)
    if scope == "within_query":
        return pairs.only(np.bincount(pairs.query, minlength=pairs.n_queries)[pairs.query] >= 2)
    if scope != "pooled":
        raise ValueError(f"scope {scope!r}: expected pooled, between_queries or within_query")
    return pairs


def _thresholds(pairs: Pairs, scope: PairScope) -> ByThreshold:
    if scope == "within_query":
        return pairs_inside(pairs).by_threshold()
    return PairTable(*pairs.levels).by_threshold()


def _at(pairs: Pairs, scope: PairScope, threshold: FloatArray) -> _Counted:
    """Count at a threshold for each query (Q,), all equal where pairs cross queries."""
    total = pairs.n_queries
    listed = pairs_inside(pairs)
    inside = listed.alike(threshold[listed.query])
    alike_in = np.bincount(listed.query, inside, total).astype(np.float64)
    pairs_in = np.bincount(listed.query, minlength=total).astype(np.float64)
    if scope == "within_query":
        return _Counted(float(alike_in.sum()), listed.query.size, alike_in, pairs_in)
    table = PairTable(*pairs.levels)
    with_others = table.alike_with(float(threshold[0]))
    size = np.bincount(pairs.query, minlength=total).astype(np.float64)
    return _Counted(
        float(with_others.sum() / 2),
        table.n_pairs,
        # Those inside a query were counted from both of their ends.
        np.bincount(pairs.query, with_others, total).astype(np.float64) - alike_in,
        size * (pairs.x.size - 1) - pairs_in,
    )


def _accuracy(pairs: Pairs, counted: _Counted, thresholds: tuple[float, float]) -> PairwiseAccuracy:
    used: IntArray = np.flatnonzero(counted.pairs_of)
    remaining = counted.n_pairs - counted.pairs_of[used]
    return PairwiseAccuracy(
        counted.alike / counted.n_pairs,
        ratio(counted.alike - counted.alike_of[used], remaining, remaining > 0),
        thresholds,
        counted.n_pairs,
        int(used.size),
        pairs.n_responses,
        pairs.n_dropped,
    )


def _undefined(pairs: Pairs, reason: str) -> PairwiseAccuracy:
    nan = float("nan")
    count = int(np.count_nonzero(pairs.contributing))
    return PairwiseAccuracy(
        nan, np.empty(0), (nan, nan), 0, count, pairs.n_responses, pairs.n_dropped, reason
    )


def _reason(pairs: Pairs, scope: PairScope) -> str | None:
    if scope == "within_query":
        inside = n_pairs_inside(pairs)
        if inside > PAIRS_LISTED:
            return f"{inside:,} pairs inside queries are more than the {PAIRS_LISTED:,} compared"
        return None if inside else "no query has two responses with both values"
    if pairs.x.size < 2:
        noun = "queries" if scope == "between_queries" else "responses"
        return f"a pair needs 2 {noun} with both values, there are {pairs.x.size}"
    x, y = (np.unique(values).size for values in pairs.levels)
    if x * y > CELLS:
        return f"{x:,} distinct scores and {y:,} distinct references are too many to compare"
    return None
