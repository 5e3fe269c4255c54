"""A judge that compares two responses, beside a rater who does: accuracy against the majority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.core.tables import PreferenceTable
from analysis.core.uncertainty import Transform
from analysis.render.table_of import TableOf, each, formatted
from analysis.statistics.agreement.paired_statistics import mean_of
from analysis.topics.agreement.compared_pairs import pairs_of, queries_of

_ORDERS = ("value_a_first", "value_b_first")


def majority_accuracies(context: Context) -> Iterator[Estimate]:
    """`majority_accuracy` of each judge, `rater_majority_accuracy` and their difference.

    The majority of several raters is the choice (first, tie, second) of most; where two choices
    have as many, the pair has none. A rater is held against the majority of the others, and the
    judge beside the rater against the same.
    """
    table = context.preferences
    for construct in table.constructs if table is not None else ():
        assert table is not None  # noqa: S101  (there are no constructs without one)
        wide = pairs_of(context, table, construct)
        query = queries_of(context, wide)
        raters = [rater for rater in table.scorers(construct, "human") if rater in wide]
        choices = np.sign(wide[raters].to_numpy(dtype=np.float64)) if raters else np.empty((0, 0))
        for judge in table.scorers(construct, "judge", "metric") if raters else ():
            right = _choices_of(table, construct, judge, wide)
            yield from _judge_estimates(context, construct, judge, raters, choices, right, query)


def _choices_of(
    table: PreferenceTable, construct: str, judge: str, wide: pd.DataFrame
) -> FloatArray:
    """Signs (pairs, orders) of a judge's choice, one for each order in which it was asked."""
    frame = table.frame
    own: FloatArray = np.sign(wide[judge].to_numpy(dtype=np.float64))[:, None]
    if not set(_ORDERS) <= set(frame):
        return own
    rows = frame[
        (frame["construct"] == construct) & (frame["scorer"] == judge) & (frame["repeat"] == 0)
    ]
    keys = [rows[name].astype("object") for name in wide.index.names]
    by_pair = rows.set_index(pd.MultiIndex.from_arrays(keys, names=wide.index.names))
    orders: FloatArray = by_pair[list(_ORDERS)].reindex(wide.index).to_numpy(dtype=np.float64)
    in_both = np.isfinite(orders).all(axis=1, keepdims=True)
    chosen: FloatArray = np.where(in_both, np.sign(orders), own)
    return chosen


def majority(choices: FloatArray) -> FloatArray:
    """The choice (pairs,) of most raters of (pairs, raters); NaN where there is none."""
    counts = np.stack([(choices == choice).sum(axis=1) for choice in (-1, 0, 1)], axis=1)
    largest = counts.max(axis=1, initial=0)
    alone = ((counts == largest[:, None]).sum(axis=1) == 1) & (largest > 0)
    return np.where(alone, counts.argmax(axis=1) - 1.0, np.nan)


def _right(choices: FloatArray, wanted: FloatArray) -> FloatArray:
    """Share (pairs,) of the orders in which the choice is the wanted one; NaN where one is not."""
    known = np.isfinite(wanted) & np.isfinite(choices).all(axis=1)
    return np.where(known, (choices == wanted[:, None]).mean(axis=1), np.nan)


def _judge_estimates(
    context: Context,
    construct: str,
    judge: str,
    raters: list[str],
    choices: FloatArray,
    own: FloatArray,
    query: IntArray,
) -> Iterator[Estimate]:
    record: dict[str, Any] = {
        "constructs": (construct,),
        "scorers": (judge, *raters),
        "target": "these_raters",
        "n_raters": len(raters),
    }
    overall = _right(own, majority(choices))
    yield _mean(context, "majority_accuracy", overall, query, "logit", record)
    if len(raters) < 2:
        return
    rater_preferences, judge_preferences = [], []
    for place in range(len(raters)):
        others = majority(np.delete(choices, place, axis=1))
        rater, beside = _right(choices[:, [place]], others), _right(own, others)
        known = np.isfinite(rater) & np.isfinite(beside)
        rater_preferences.append(np.where(known, rater, np.nan))
        judge_preferences.append(np.where(known, beside, np.nan))
    stacked, queries = np.concatenate(rater_preferences), np.tile(query, len(raters))
    apart = np.concatenate(judge_preferences) - stacked
    yield _mean(context, "rater_majority_accuracy", stacked, queries, "logit", record)
    yield _mean(context, "majority_accuracy_difference", apart, queries, None, record)


def _mean(
    context: Context,
    name: str,
    values: FloatArray,
    query: IntArray,
    transform: Transform | None,
    record: Mapping[str, Any],
) -> Estimate:
    known, total = np.isfinite(values), len(context.rated_queries)
    statistic = QueryStatistic(
        mean_of(values[known], query[known], total),
        np.bincount(query[known], minlength=total) > 0,
        int(known.sum()),
        int((~known).sum()),
        None if known.any() else "no pair has a choice of the judge and a majority of raters",
    )
    return context.estimate(name, statistic, transform=transform, **record)


STATISTICS = (
    Statistic(
        "majority_accuracy",
        "Accuracy against the majority",
        "share of pairs on which the judge's choice (first, tie, second) is that of most raters, "
        "averaged over both orders of the pair where it was asked in both; pairs without one "
        "most frequent choice are left out",
        majority_accuracies,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
        source="Zeng et al. 2024",
    ),
    Statistic(
        "rater_majority_accuracy",
        "Rater against the majority of the others",
        "share of pairs on which a rater's choice is that of most other raters, over all raters",
        majority_accuracies,
        range=(0, 1),
        targets=("these_raters",),
    ),
    Statistic(
        "majority_accuracy_difference",
        "Difference from a rater",
        "the judge's share of choices that are those of most other raters, minus the rater's, on "
        "the same pairs, over all raters",
        majority_accuracies,
        range=(-1, 1),
        better="higher",
        targets=("these_raters",),
    ),
)


majority_table = TableOf(
    "majority-accuracy",
    "Choices against the majority of raters",
    "Share of pairs on which the judge makes the choice of most raters, over both orders where "
    "it was asked in both. A rater is held against the majority of the others, and the "
    "difference is on the same pairs.",
    each("majority_accuracy"),
    ("construct", "judge", formatted("majority_accuracy", ".1%"),
     formatted("rater_majority_accuracy", ".1%"), formatted("majority_accuracy_difference", "+.1%"),
     "pairs"),
)  # fmt: skip
