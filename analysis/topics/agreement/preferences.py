"""Preferences: raters with each other, scorers' differences with raters, and the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import NOISE, QueryStatistic, comparable, ratio
from analysis.core.statistic import Statistic
from analysis.render.table import Cell, Table, TableBuilder
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.paired_statistics import mean_of
from analysis.topics.agreement.compared_pairs import PAIR, pairs_of, queries_of

#: Raters within this many points of each other agree (Ru et al. 2024, RAGChecker, section 4.2).
TOLERANCE = 1.0


OnPreferences = Literal["pearson", "spearman"]
MEASURES: tuple[OnPreferences, ...] = ("pearson", "spearman")


def preferences(
    context: Context, measures: Sequence[OnPreferences] = MEASURES
) -> Iterator[Estimate]:
    """Pearson and Spearman on preferences (params.on), and raters' agreement within a tolerance.

    A scorer's difference is its score of response b minus that of a, taken from the score table.
    It is repeated for each rater of the pair, so that n = raters x pairs and a pair on which
    raters differ keeps its disagreement.
    """
    table = context.preferences
    if table is None:
        return
    for construct in table.constructs:
        wide = pairs_of(context, table, construct)
        query = queries_of(context, wide)
        raters = table.scorers(construct, "human")
        yield from _between_raters(context, construct, wide, query, raters, measures)
        for scorer, delta in _deltas(context, construct, wide).items():
            yield from _against(context, construct, wide, query, raters, scorer, delta, measures)


def agreement_over_constructs(context: Context) -> Iterator[Estimate]:
    """`agreement_within` of two raters over all constructs together."""
    table = context.preferences
    if table is None or len(table.constructs) < 2:
        return
    by_construct = {
        construct: pairs_of(context, table, construct) for construct in table.constructs
    }
    raters = sorted(
        set.intersection(*({str(c) for c in wide.columns} for wide in by_construct.values()))
    )
    people = [name for name in raters if table.scorer_kinds[name] == "human"]
    for a, b in combinations(people, 2):
        x, y = (np.concatenate([wide[name] for wide in by_construct.values()]) for name in (a, b))
        query = np.concatenate([queries_of(context, wide) for wide in by_construct.values()])
        yield context.estimate(
            "agreement_within",
            _within(x, y, query, len(context.rated_queries)),
            transform="logit",
            constructs=table.constructs,
            scorers=(a, b),
            target="these_raters",
            n_raters=2,
            params={"on": "preferences", "tolerance": TOLERANCE},
        )


def compared_on_preferences(
    context: Context, first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[OnPreferences, QueryStatistic, dict[str, Any]]]:
    """Correlation with preferences of one scorer's differences minus that of another's.

    Both are computed on the pairs of responses that both scored; the sign of a metric of which a
    low value is a good sign is turned. Yields the measure, the statistic
    and the record of its estimate, for each of `first` with each of `second`.
    """
    table = context.preferences
    if table is None:
        return
    for construct in table.constructs:
        wide = pairs_of(context, table, construct)
        raters = table.scorers(construct, "human")
        deltas = {
            name: -delta if name in context.options.low_is_good else delta
            for name, delta in _deltas(context, construct, wide).items()
        }
        pairs = [(a, b) for a in first for b in second if a in deltas and b in deltas]
        if not raters:
            continue
        y = np.concatenate([wide[rater].to_numpy() for rater in raters])
        queries = np.tile(queries_of(context, wide), len(raters))
        for (a, b), measure in product(pairs, MEASURES):
            both = np.isfinite(deltas[a]) & np.isfinite(deltas[b])
            parts = [
                association(
                    measure, np.tile(np.where(both, deltas[name], np.nan), len(raters)), y, queries,
                    n_queries=len(context.rated_queries), names=(name, "people's preference"),
                )
                for name in (a, b)
            ]  # fmt: skip
            statistic = QueryStatistic.combined(
                parts,
                lambda values: values[0] - values[1],
                parts[0].contributing & parts[1].contributing,
                parts[0].n_responses,
                parts[0].n_dropped,
                parts[0].reason or parts[1].reason,
            )
            yield (
                measure,
                statistic,
                {
                    "constructs": (construct,),
                    "scorers": (a, b, *raters),
                    "n_raters": len(raters),
                    "target": "these_raters",
                },
            )


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
        for scorer, delta in _deltas(context, construct, wide).items():
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
        for scorer, delta in _deltas(context, construct, wide).items() if raters else ():
            y = np.concatenate([wide[rater].to_numpy() for rater in raters])
            x, queries = np.tile(delta, len(raters)), np.tile(query, len(raters))
            for name, coefficient in (("preference_kappa", _kappa), ("preference_ac1", _ac1)):
                yield context.estimate(
                    name, _of_signs(coefficient, x, y, queries, total), transform="fisher_z",
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


def _of_signs(
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

    def of_weights(weights: FloatArray) -> FloatArray:
        return coefficient((weights @ by_query).reshape(-1, 3, 3))

    reason = None
    if not both.any():
        reason = "no pair has a preference and a difference of scores"
    elif np.isnan(of_weights(np.ones((1, n_queries)))[0]):
        reason = "people and the scorer make one choice throughout"
    return QueryStatistic(
        of_weights,
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


def _between_raters(
    context: Context,
    construct: str,
    wide: pd.DataFrame,
    query: IntArray,
    raters: tuple[str, ...],
    measures: Sequence[OnPreferences],
) -> Iterator[Estimate]:
    total = len(context.rated_queries)
    for a, b in combinations(sorted(raters), 2):
        x, y = wide[a].to_numpy(), wide[b].to_numpy()
        record: dict[str, Any] = {
            "constructs": (construct,),
            "scorers": (a, b),
            "target": "these_raters",
        }
        for measure in measures:
            statistic = association(measure, x, y, query, n_queries=total, names=(a, b))
            yield context.estimate(
                measure, statistic, transform="fisher_z", n_raters=2,
                params={"on": "preferences"}, **record,
            )  # fmt: skip
        near = _within(x, y, query, total)
        yield context.estimate(
            "agreement_within", near, transform="logit", n_raters=2,
            params={"on": "preferences", "tolerance": TOLERANCE}, **record,
        )  # fmt: skip


def _within(x: FloatArray, y: FloatArray, query: IntArray, n_queries: int) -> QueryStatistic:
    both = np.isfinite(x) & np.isfinite(y)
    near = (np.abs(x[both] - y[both]) <= TOLERANCE).astype(np.float64)
    return QueryStatistic(
        mean_of(near, query[both], n_queries),
        np.bincount(query[both], minlength=n_queries) > 0,
        int(both.sum()),
        int((~both).sum()),
        None if both.any() else "no pair was compared by both raters",
    )


def _deltas(context: Context, construct: str, wide: pd.DataFrame) -> dict[str, FloatArray]:
    """Score of response b minus score of a, by scorer; a judge's own preferences as they are."""
    deltas: dict[str, FloatArray] = {}
    kinds = context.preferences.scorer_kinds if context.preferences else {}
    for scorer in wide.columns:
        if kinds[str(scorer)] in {"judge", "metric"}:
            deltas[str(scorer)] = wide[scorer].to_numpy()
    data = context.whole.get(construct)
    if data is not None:
        place = pd.Index(data.responses, dtype="object")
        a = place.get_indexer(wide.index.get_level_values("response_a"))
        b = place.get_indexer(wide.index.get_level_values("response_b"))
        in_table = (a >= 0) & (b >= 0)
        for scorer, values in data.scorers.items():
            size = np.maximum(np.abs(values[a]), np.abs(values[b]))
            delta = values[b] - values[a]
            # Two scores that differ by float noise only have no order.
            ordered = np.where(np.abs(delta) <= NOISE * size, 0.0, comparable(delta, size))
            deltas[scorer] = np.where(in_table, ordered, np.nan)
    return deltas


def _against(
    context: Context,
    construct: str,
    wide: pd.DataFrame,
    query: IntArray,
    raters: tuple[str, ...],
    scorer: str,
    delta: FloatArray,
    measures: Sequence[OnPreferences],
) -> Iterator[Estimate]:
    """A scorer's differences (pairs,) against every rater, raters stacked."""
    if not raters:
        return
    y = np.concatenate([wide[rater].to_numpy() for rater in raters])
    x, queries = np.tile(delta, len(raters)), np.tile(query, len(raters))
    for measure in measures:
        statistic = association(
            measure, x, y, queries,
            n_queries=len(context.rated_queries), names=(scorer, "people's preference"),
        )  # fmt: skip
        yield context.estimate(
            measure, statistic, transform="fisher_z",
            constructs=(construct,), scorers=(scorer, *raters), target="these_raters",
            n_raters=len(raters), params={"on": "preferences", "repeated_by": "rater"},
        )  # fmt: skip


def agreement_on_preferences(context: Context) -> Iterator[Estimate]:
    """`preferences`, and the raters' agreement over all constructs together."""
    yield from preferences(context)
    yield from agreement_over_constructs(context)


STATISTICS = (
    Statistic(
        "agreement_within",
        "Within one point",
        "share of pairs on which two raters' preferences differ by at most params.tolerance",
        agreement_on_preferences,
        range=(0, 1),
        better="higher",
        targets=("these_raters",),
        source="Ru et al. 2024, section 4.2",
    ),
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


def preference_accuracy_table(analysis: Analysis) -> Iterator[Table]:
    """How often the better score goes with the preference."""
    built = TableBuilder()
    for e in analysis.estimates.select("preference_accuracy"):
        cell: Cell = built.number(e, ".1%")
        construct, scorer = e.constructs[0], e.scorers[0]
        kappa, ac1 = (
            analysis.estimates.first(name, construct=construct, scorer=scorer)
            for name in ("preference_kappa", "preference_ac1")
        )
        built.add(construct, scorer, cell, built.r(kappa), built.r(ac1), f"{e.n_responses:,}")
    yield built.table(
        "preference-accuracy",
        "Which of two responses people prefer",
        "Share of preferences whose sign is that of the difference of the scores; no preference is "
        "right only with equal scores. A pair counts once for each rater.",
        (
            "Construct",
            "Scorer",
            analysis.headings["preference_accuracy"],
            analysis.headings["preference_kappa"],
            analysis.headings["preference_ac1"],
            "Preferences",
        ),
        heads=2,
    )


def choice_accuracy_table(analysis: Analysis) -> Iterator[Table]:
    """How often a judge's choice is the response that people rated higher."""
    built = TableBuilder()
    for e in analysis.estimates.select("choice_accuracy"):
        cell: Cell = built.number(e, ".1%")
        built.add(e.constructs[0], e.scorers[0], cell, f"{e.n_responses:,}", f"{e.n_dropped:,}")
    yield built.table(
        "choice-accuracy",
        "Choices between two responses, and people's ratings of the two",
        "Share of pairs on which a judge chooses the response that people rated higher, on "
        "average. A tie is right only where people's means are equal, which is rare with several "
        "raters. Without a choice: pairs on which an answer is missing or could not be read.",
        ("Construct", "Judge", analysis.headings["choice_accuracy"], "Pairs", "Without a choice"),
        heads=2,
    )


def preferences_table(analysis: Analysis) -> Iterator[Table]:
    """Preferences: raters with each other, scorers' differences with raters."""
    built, first = TableBuilder(), analysis.estimates.first
    near_heading = analysis.headings["agreement_within"]
    for r in analysis.estimates.select("pearson", on="preferences"):
        construct, scorers = r.constructs[0], r.scorers
        rho = next(
            e
            for e in analysis.estimates.select("spearman", construct=construct, on="preferences")
            if e.scorers == scorers
        )
        near = first("agreement_within", construct=construct, scorer=scorers[0])
        among = "repeated_by" not in r.params
        built.add(
            construct,
            scorers[0],
            " and ".join(scorers[1:]),
            built.r(r),
            built.r(rho),
            built.number(near, ".1%") if among and near and near.scorers == scorers else "",
            f"{r.n_responses:,}",
        )
    yield built.table(
        "preferences",
        "Preferences",
        "Correlation of two raters' preferences, and of a scorer's difference (score of response b "
        "minus score of a) with the raters' preferences; there every pair counts once for each "
        f"rater. {near_heading}: share of pairs on which the raters differ by one point at most.",
        ("Construct", "Of", "With", analysis.headings["pearson"], analysis.headings["spearman"],
         near_heading, "n"),
        heads=3,
    )  # fmt: skip
