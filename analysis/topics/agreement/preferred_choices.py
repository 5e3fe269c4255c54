"""Which of two responses: choices by a scorer's difference or own choice, and those of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import NOISE, QueryStatistic, ratio
from analysis.core.statistic import Statistic
from analysis.render.table_of import TableOf, each, formatted, number_of
from analysis.statistics.agreement.paired_statistics import mean_of
from analysis.topics.agreement.compared_pairs import PAIR, differences_of, pairs_of, queries_of


def preference_accuracies(context: Context) -> Iterator[Estimate]:
    """`preference_accuracy`: how often the sign of a scorer's difference is the preference's.

    A preference of 0 is right only with a difference of 0. Each rater's preference counts.
    """
    table = context.preferences
    if table is None:
        return
    for construct in table.constructs:
        wide = pairs_of(context, table, construct)
        query = queries_of(context, wide)
        raters = table.scorers(construct, "human")
        if not raters:
            continue
        for scorer, delta in differences_of(context, construct, wide).items():
            y = np.concatenate([wide[rater].to_numpy() for rater in raters])
            x, queries = np.tile(delta, len(raters)), np.tile(query, len(raters))
            both = np.isfinite(x) & np.isfinite(y)
            right = (np.sign(x[both]) == np.sign(y[both])).astype(np.float64)
            total = len(context.rated_queries)
            statistic = QueryStatistic(
                mean_of(right, queries[both], total),
                np.bincount(queries[both], minlength=total) > 0,
                int(both.sum()),
                int((np.isfinite(x) ^ np.isfinite(y)).sum()),
                None if both.any() else "no pair has a preference and a difference of scores",
            )
            yield context.estimate(
                "preference_accuracy", statistic, transform="logit",
                constructs=(construct,), scorers=(scorer, *raters), target="these_raters",
                n_raters=len(raters), params={"on": "preferences", "repeated_by": "rater"},
            )  # fmt: skip


def preference_kappas(context: Context) -> Iterator[Estimate]:
    """`preference_kappa` and `preference_ac1` of the signs of differences and preferences.

    The categories are the first response, a tie and the second; each rater's preference counts.
    """
    table = context.preferences
    if table is None:
        return
    total = len(context.rated_queries)
    for construct in table.constructs:
        wide = pairs_of(context, table, construct)
        query = queries_of(context, wide)
        raters = table.scorers(construct, "human")
        for scorer, delta in differences_of(context, construct, wide).items() if raters else ():
            y = np.concatenate([wide[rater].to_numpy() for rater in raters])
            x, queries = np.tile(delta, len(raters)), np.tile(query, len(raters))
            for name, coefficient in (("preference_kappa", _kappa), ("preference_ac1", _ac1)):
                yield context.estimate(
                    name, _sign_statistic(coefficient, x, y, queries, total), transform="fisher_z",
                    constructs=(construct,), scorers=(scorer, *raters), target="these_raters",
                    n_raters=len(raters), params={"on": "preferences", "repeated_by": "rater"},
                )  # fmt: skip


def _kappa(cells: FloatArray) -> FloatArray:
    """Cohen's kappa of tables (R, 3, 3), NaN where both make one choice throughout."""
    of = cells.sum(axis=(1, 2))
    agreed = np.trace(cells, axis1=1, axis2=2) * of
    chance = (cells.sum(axis=1) * cells.sum(axis=2)).sum(axis=1)
    return ratio(agreed - chance, of**2 - chance, of**2 > chance)


def _ac1(cells: FloatArray) -> FloatArray:
    """Gwet's AC1 of tables (R, 3, 3), of the choices that occur: two without any tie."""
    of = cells.sum(axis=(1, 2))
    agreed = ratio(np.trace(cells, axis1=1, axis2=2), of, of > 0)
    choices = ratio((cells.sum(axis=1) + cells.sum(axis=2)) / 2, of[:, None], of[:, None] > 0)
    others = np.where(choices[:, 1] > 0, 2.0, 1.0)
    chance = (choices * (1 - choices)).sum(axis=1) / others
    return ratio(agreed - chance, 1 - chance, chance < 1)


def _sign_statistic(
    coefficient: Callable[[FloatArray], FloatArray],
    x: FloatArray,
    y: FloatArray,
    query: IntArray,
    n_queries: int,
) -> QueryStatistic:
    both = np.isfinite(x) & np.isfinite(y)
    cell = ((np.sign(x[both]) + 1) * 3 + np.sign(y[both]) + 1).astype(np.int64)
    counts = np.bincount(query[both] * 9 + cell, minlength=n_queries * 9).astype(np.float64)
    by_query = counts.reshape(n_queries, 9)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        return coefficient((weights @ by_query).reshape(-1, 3, 3))

    reason = None
    if not both.any():
        reason = "no pair has a preference and a difference of scores"
    elif np.isnan(weighted_statistic(np.ones((1, n_queries)))[0]):
        reason = "people and the scorer make one choice throughout"
    return QueryStatistic(
        weighted_statistic,
        by_query.sum(axis=1) > 0,
        int(both.sum()),
        int((np.isfinite(x) ^ np.isfinite(y)).sum()),
        reason,
        trials=int(np.count_nonzero(by_query.sum(axis=1))) or None,
    )


def choice_accuracies(context: Context) -> Iterator[Estimate]:
    """`choice_accuracy`: how often a judge's own choice is the response that people rated higher.

    People's value of a response is their reference: the mean of the raters, or adjudicated.
    """
    table = context.preferences
    if table is None:
        return
    for construct in table.constructs:
        data = context.rated.get(construct)
        if data is None or data.reference_missing:
            continue
        wide = pairs_of(context, table, construct)
        query, total = queries_of(context, wide), len(context.rated_queries)
        place = pd.Index(data.responses, dtype="object")
        a, b = (place.get_indexer(wide.index.get_level_values(name)) for name in PAIR[1:])
        size = np.maximum(np.abs(data.reference[a]), np.abs(data.reference[b]))
        people = data.reference[b] - data.reference[a]
        people = np.where(np.abs(people) <= NOISE * size, 0.0, people)
        people[(a < 0) | (b < 0)] = np.nan
        for judge in table.scorers(construct, "judge", "metric"):
            choice = wide[judge].to_numpy() if judge in wide else np.empty(0)
            both = np.isfinite(choice) & np.isfinite(people)
            if not both.any():
                continue
            right = (np.sign(choice[both]) == np.sign(people[both])).astype(np.float64)
            statistic = QueryStatistic(
                mean_of(right, query[both], total),
                np.bincount(query[both], minlength=total) > 0,
                int(both.sum()),
                int((np.isfinite(people) & ~both).sum()),
            )
            yield context.estimate(
                "choice_accuracy", statistic, transform="logit",
                constructs=(construct,), scorers=(judge, *data.raters), target="these_raters",
                n_raters=len(data.raters),
            )  # fmt: skip


STATISTICS = (
    Statistic(
        "preference_accuracy",
        "Accuracy of preferences",
        "share of preferences whose sign is that of the scorer's difference; 0 is right only with "
        "0; each pair once a rater",
        preference_accuracies,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
    ),
    Statistic(
        "preference_kappa",
        "Kappa of preferences",
        "Cohen's kappa of the scorer's choice (first response, tie, second) with a preference; "
        "each pair once a rater",
        preference_kappas,
        range=(None, 1),
        better="higher",
        targets=("these_raters",),
        source="Cohen 1960",
    ),
    Statistic(
        "preference_ac1",
        "AC1 of preferences",
        "Gwet's AC1 of the scorer's choice (first response, tie, second) with a preference, which "
        "chance agreement hardly lowers where one choice is rare; each pair once a rater",
        preference_kappas,
        range=(-1, 1),
        better="higher",
        targets=("these_raters",),
        source="Gwet 2008",
    ),
    Statistic(
        "choice_accuracy",
        "Choices as people rate",
        "share of the pairs that a judge compared on which its choice is the response that people "
        "rated higher; a tie is right only where their values are equal",
        choice_accuracies,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
    ),
)


preference_accuracy_table = TableOf(
    "preference-accuracy",
    "Which of two responses people prefer",
    "Share of preferences whose sign is that of the difference of the scores; no preference is "
    "right only with equal scores. A pair counts once for each rater.",
    each("preference_accuracy"),
    ("construct", "scorer", formatted("preference_accuracy", ".1%"), "preference_kappa",
     "preference_ac1", number_of("n_responses", "Preferences")),
)  # fmt: skip


choice_accuracy_table = TableOf(
    "choice-accuracy",
    "Choices between two responses, and people's ratings of the two",
    "Share of pairs on which a judge chooses the response that people rated higher, on "
    "average. A tie is right only where people's means are equal, which is rare with several "
    "raters. Without a choice: pairs on which an answer is missing or could not be read.",
    each("choice_accuracy"),
    ("construct", "judge", formatted("choice_accuracy", ".1%"), "pairs",
     number_of("n_dropped", "Without a choice")),
)  # fmt: skip
