"""Preferences: correlations of raters with each other, and of scorers' differences with raters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.render.table_of import (
    TableOf,
    TableRow,
    coefficient,
    each,
    formatted,
    in_words,
    number_of,
)
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.paired_statistics import mean_of
from analysis.topics.agreement.compared_pairs import differences_of, pairs_of, queries_of

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
        for scorer, delta in differences_of(context, construct, wide).items():
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
            for name, delta in differences_of(context, construct, wide).items()
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
)


def _near(row: TableRow) -> Estimate | None:
    """The share of pairs within one point, of raters with each other."""
    if "repeated_by" in row.estimate.params:
        return None
    near = row.analysis.estimates.first(
        "agreement_within", construct=row.construct, scorer=row.scorer
    )
    return near if near and near.scorers == row.estimate.scorers else None


preferences_table = TableOf(
    "preferences",
    "Preferences",
    "Correlation of two raters' preferences, and of a scorer's difference (score of response b "
    "minus score of a) with the raters' preferences; there every pair counts once for each "
    "rater. {agreement_within}: share of pairs on which the raters differ by one point at most.",
    each("pearson", "scorers", on="preferences"),
    ("construct", in_words("Of", lambda row: row.scorer),
     in_words("With", lambda row: " and ".join(row.estimate.scorers[1:])), "pearson",
     coefficient("spearman", on="preferences"), formatted(_near, ".1%", "{agreement_within}"),
     number_of("n_responses", "n")),
    heads=3,
)  # fmt: skip
