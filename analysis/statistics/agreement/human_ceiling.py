"""The human ceiling: how well a rater agrees with the others, and whether a judge does as well.

For each rater, the judge and that rater are compared with the *same* mean of the *other* raters on
the *same* responses. If the judge were compared with the mean of all raters, and a rater with the
mean of the others, a judge equivalent to a rater would seem better (.578 and .499 in a simulation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.pairs import Pairs, Scope, read_pairs
from analysis.core.query_statistic import QueryStatistic, as_codes, as_values
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.paired_statistics import undefined_share

OTHERS = "the mean of the other raters"
CeilingMeasure = Literal["pearson", "spearman", "kendall_tau_b"]


@dataclass(frozen=True, eq=False)
class HumanCeiling:
    """Agreement with the mean of the others, averaged over raters, as functions of weights.

    `rater` is the ceiling (`human_ceiling`), `judge` the judge's agreement with the same means
    (`judge_against_others`), `difference` judge minus rater; the last two are None without a
    judge. `used` are the columns averaged, `by_rater` their own points (rater, judge),
    `differences` judge minus rater for each of them (empty without a judge), `excluded` the columns
    left out with the reason. `pairs` are each averaged rater's and the judge's with the
    others, for tau-b within a query.
    """

    rater: QueryStatistic
    judge: QueryStatistic | None
    difference: QueryStatistic | None
    used: tuple[int, ...]
    by_rater: dict[int, tuple[float, float]]
    excluded: dict[int, str]
    differences: dict[int, QueryStatistic]
    pairs: tuple[tuple[Pairs, Pairs], ...] = ()

    @property
    def undefined_shares(self) -> tuple[float | None, float | None]:
        """Shares of queries whose own tau-b is undefined (`undefined_share`), averaged over raters.

        The raters' and the judge's; None for other measures and scopes, and without a judge.
        """
        if not self.pairs:
            return None, None
        rater, judge = np.mean([[undefined_share(p) for p in both] for both in self.pairs], axis=0)
        return float(rater), float(judge)


def human_ceiling(
    values: npt.ArrayLike,
    judge: npt.ArrayLike | None,
    query: npt.ArrayLike,
    scope: Scope = "pooled",
    measure: CeilingMeasure = "pearson",
    *,
    n_queries: int | None = None,
    produced: npt.ArrayLike | None = None,
) -> HumanCeiling:
    """Ceiling of values (n_items, n_raters), and the agreement of a judge (n_items,).

    A rater enters with the responses that at least one other rater and the judge also scored. A
    rater whose agreement, or the judge's on those responses, is undefined is excluded by name;
    a resample in which one of the others is undefined is undefined as a whole.
    """
    people = as_values(values)
    if people.ndim != 2:
        raise ValueError(f"values have shape {people.shape}, expected (items, raters)")
    codes, total = as_codes(query, people.shape[0], n_queries)
    machine = None if judge is None else as_values(judge, "judge")
    if machine is not None and machine.shape != (people.shape[0],):
        raise ValueError(f"judge has shape {machine.shape}, expected ({people.shape[0]},)")
    present = np.isfinite(people)
    counts = present.sum(axis=1)
    filled = np.where(present, people, 0.0)

    rater_parts: dict[int, QueryStatistic] = {}
    judge_parts: dict[int, QueryStatistic] = {}
    excluded: dict[int, str] = {}
    tied: list[tuple[Pairs, Pairs]] = []
    entering = np.zeros(people.shape[0], dtype=bool)
    for column in range(people.shape[1]):
        items = present[:, column] & (counts >= 2)
        if machine is not None:
            items &= np.isfinite(machine)
        if not items.any():
            excluded[column] = _no_items(present[:, column], counts, machine is not None)
            continue
        others = np.full(people.shape[0], np.nan)
        others[items] = np.delete(filled, column, axis=1)[items].sum(axis=1) / (counts[items] - 1)

        against = partial(
            association,
            measure,
            y=others,
            query=codes,
            scope=scope,
            items=items,
            produced=produced,
            n_queries=total,
        )
        agreement = against(people[:, column], names=("the rater", OTHERS))
        reason = agreement.reason
        if reason is None and machine is not None:
            judged = against(machine, names=("the judge", OTHERS))
            reason = judged.reason
            judge_parts[column] = judged
        if reason is not None:
            excluded[column] = reason
            judge_parts.pop(column, None)
            continue
        rater_parts[column] = agreement
        entering |= items
        if measure == "kendall_tau_b" and scope == "within_query" and machine is not None:
            rater_pairs, judge_pairs = (
                read_pairs(x, others, codes, items, total)[0] for x in (people[:, column], machine)
            )
            tied.append((rater_pairs, judge_pairs))

    n, dropped = int(np.count_nonzero(entering)), int(np.count_nonzero((counts > 0) & ~entering))
    ceiling = _average(list(rater_parts.values()), total, n, dropped)
    judge_average = (
        None if machine is None else _average(list(judge_parts.values()), total, n, dropped)
    )
    nan = float("nan")
    return HumanCeiling(
        rater=ceiling,
        judge=judge_average,
        difference=None if judge_average is None else judge_average - ceiling,
        used=tuple(rater_parts),
        by_rater={
            column: (part.point, judge_parts[column].point if column in judge_parts else nan)
            for column, part in rater_parts.items()
        },
        excluded=excluded,
        differences={column: judge_parts[column] - part for column, part in rater_parts.items()}
        if machine is not None
        else {},
        pairs=tuple(tied),
    )


def _average(
    parts: list[QueryStatistic], n_queries: int, n_responses: int, n_dropped: int
) -> QueryStatistic:
    contributing = np.zeros(n_queries, dtype=bool)
    for part in parts:
        contributing |= part.contributing

    def mean(values: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.mean(values, axis=0))

    reason = None if parts else "no rater can be compared with the mean of the others"
    average = QueryStatistic.combined(parts, mean, contributing, n_responses, n_dropped, reason)
    return average.with_step_of(*parts)


def _no_items(rated: BoolArray, counts: npt.NDArray[np.intp], with_judge: bool) -> str:
    if not rated.any():
        return "the rater has no ratings"
    if not (rated & (counts >= 2)).any():
        return "no other rater rated the same responses"
    return "the judge scored none of the responses shared with others" if with_judge else ""
