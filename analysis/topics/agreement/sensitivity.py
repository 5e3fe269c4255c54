"""How far the agreement with people depends on one query, one rater or one system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import mean_over
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.interval import Interval
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import ORDER, Statistic, Target
from analysis.render.formatting import correlation
from analysis.render.table_of import TableOf, coefficient, each, in_words, param
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling

Unit = Literal["query", "rater", "system"]
UNITS: tuple[Unit, ...] = ("query", "rater", "system")

#: Among more of them one changes little, and each costs a separate computation.
MOST: dict[Unit, int] = {"query": 500, "rater": 50, "system": 50}


@dataclass(frozen=True, eq=False)
class _Left:
    """Scores of one judge or metric, of which queries, raters or systems are left out."""

    context: Context
    scored: ComparedScores
    measure: Literal["kendall_tau_b", "pearson"]

    @property
    def scope(self) -> Scope:
        """Within a query, or over all responses where each is the only one to its query."""
        return "within_query" if self.scored.data.several_a_query else "pooled"

    def agreement(self, people: FloatArray) -> QueryStatistic:
        """The measure against these values of people (n,)."""
        data = self.scored.data
        return association(
            self.measure, self.scored.values, people, data.query, self.scope,
            n_queries=data.n_queries,
        )  # fmt: skip

    @cached_property
    def whole(self) -> QueryStatistic:
        """With nothing left out."""
        return self.agreement(self.scored.data.reference)

    def count(self, unit: Unit) -> int:
        """How many can be left out; 0 where there is only one, or no rater makes the reference."""
        data = self.scored.data
        if unit == "query":
            count = self.whole.n_queries
        elif unit == "rater":
            count = len(data.raters) if data.reference_kind == "mean_of_raters" else 0
        else:
            count = len(data.systems)
        return count if count > 1 else 0

    def without(self, unit: Unit) -> dict[str, float]:
        """The agreement without each of them by name, NaN where it is undefined then."""
        data = self.scored.data
        if unit == "query":
            queries = np.flatnonzero(self.whole.contributing)
            values = self.context.rated_resampling.evaluate(
                self.whole, "jackknife", self.whole.contributing
            )
            names = [self.context.rated_queries[query] for query in queries]
            return dict(zip(names, values.tolist(), strict=True))
        if unit == "rater":
            return {
                rater: self.agreement(mean_over(np.delete(data.ratings, column, axis=1))).point
                for column, rater in enumerate(data.raters)
            }
        return {
            system: self.agreement(np.where(data.produced_by(system), np.nan, data.reference)).point
            for system in data.systems
        }


def ranges(context: Context) -> Iterator[Estimate]:
    """`agreement_without_one`, and `difference_without_query` for the order of responses."""
    for scored in context.scored():
        for measure in (ORDER, "pearson"):
            left = _Left(context, scored, measure)
            if left.whole.reason is None:
                for unit in UNITS:
                    yield from _range(left, unit)
        yield from _differences(context, scored)


def without_one_query(context: Context) -> Iterator[Estimate]:
    """The part of `ranges` on the order of responses and single queries."""
    for scored in context.scored():
        left = _Left(context, scored, ORDER)
        if left.whole.reason is None:
            yield from _range(left, "query")
        yield from _differences(context, scored)


def _range(left: _Left, unit: Unit) -> Iterator[Estimate]:
    """The smallest and the largest agreement when one is left out."""
    count = left.count(unit)
    if not count:
        return
    record: dict[str, Any] = left.scored.record(left.scope) | left.whole.counts
    params: dict[str, str | float | int | None] = {
        "measure": left.measure, "left_out": unit, "whole": left.whole.point,
    }  # fmt: skip
    if count >= MOST[unit]:
        many = {"query": "queries", "rater": "raters", "system": "systems"}[unit]
        why = f"among {count} {many} a single one is not left out: it changes little"
        yield Estimate("agreement_without_one", reason=why, params=params, **record)
        return
    values = left.without(unit)
    defined = {name: value for name, value in values.items() if np.isfinite(value)}
    params["undefined"] = len(values) - len(defined)
    if not defined:
        why = f"without any one {unit} it is undefined"
        yield Estimate("agreement_without_one", reason=why, params=params, **record)
        return
    for end, name in _ends(defined).items():
        yield Estimate(
            "agreement_without_one",
            value=defined[name],
            params=params | {"end": end, "name": name},
            **record,
        )


def _ends(values: Mapping[str, float]) -> dict[str, str]:
    """Whose removal leaves the lowest and the highest value; the first one where several do."""
    return {"low": min(values, key=values.__getitem__), "high": max(values, key=values.__getitem__)}


def _differences(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    """The judge minus a rater without the query whose removal lowers or raises it most."""
    data, scorer, values, _ = scored
    if data.reference_kind == "adjudicated" or len(data.raters) < 2:
        return
    scope: Scope = "within_query" if data.several_a_query else "pooled"
    resampling = context.rated_resampling

    def difference_of(ratings: FloatArray) -> tuple[QueryStatistic, dict[Target, Interval], int]:
        ceiling = human_ceiling(ratings, values, data.query, scope, ORDER, n_queries=data.n_queries)
        assert ceiling.difference is not None  # noqa: S101  (a judge was given)
        intervals: dict[Target, Interval] = {
            "these_raters": resampling.interval_of(resampling.replicates(ceiling.difference)),
            "raters_like_these": beside_a_further_rater(ceiling, resampling),
        }
        return ceiling.difference, intervals, len(ceiling.used)

    whole = human_ceiling(
        data.ratings, values, data.query, scope, ORDER, n_queries=data.n_queries
    ).difference
    assert whole is not None  # noqa: S101  (a judge was given)
    if whole.reason is not None or not 2 < whole.n_queries < MOST["query"]:
        return
    queries = np.flatnonzero(whole.contributing)
    without = resampling.evaluate(whole, "jackknife", whole.contributing)
    if not np.isfinite(without).any():
        return
    for end, place in (("low", np.nanargmin(without)), ("high", np.nanargmax(without))):
        query = queries[place]
        left_out = np.where((data.query == query)[:, None], np.nan, data.ratings)
        difference, intervals, raters = difference_of(left_out)
        for target, interval in intervals.items():
            yield Estimate(
                "difference_without_query",
                constructs=(data.construct,),
                scorers=(scorer, *data.raters),
                scope=scope,
                target=target,
                value=difference.point,
                **interval.fields,
                **difference.counts,
                n_raters=raters,
                reason=difference.reason or interval.reason,
                params={"measure": ORDER, "end": end, "name": context.rated_queries[query]},
            )


STATISTICS = (
    Statistic(
        "agreement_without_one",
        "Without one",
        "agreement with the reference (params.measure: kendall_tau_b, pearson; params.whole is the "
        "value with all) when one query, rater or system is left out (params.left_out): the lowest "
        "and the highest value (params.end) and whose removal leaves it (params.name); "
        "params.undefined counts those without whom it is undefined. No interval",
        ranges,
        range=(-1, 1),
        scopes=("within_query", "pooled"),
        targets=("these_raters",),
    ),
    Statistic(
        "difference_without_query",
        "Difference without a query",
        "`human_ceiling_difference` (params.measure) without the query params.name, whose removal "
        "lowers it most (params.end low) or raises it most (high); below 500 queries",
        ranges,
        range=(-2, 2),
        scopes=("within_query", "pooled"),
        targets=("these_raters", "raters_like_these"),
    ),
)


without_one_table = TableOf(
    "without-one",
    "Agreement without one query, rater or system",
    "Each query, rater and system is left out in turn: the lowest and the highest agreement "
    "with the reference, and what was left out for it; undefined counts those without which "
    "there is none. A wide range means that the figure rests on one of them.",
    each("agreement_without_one", "scorers", "scope", "measure", "left_out",
         keep=lambda e: e.params.get("end") != "high"),
    ("construct", "scorer", "scope", "measure",
     in_words("Left out", lambda row: f"one {row.where['left_out']}"),
     param("whole", "With all", correlation),
     coefficient("agreement_without_one", "{agreement_without_one}, lowest"),
     param("name", "Lowest without"),
     coefficient("agreement_without_one", "{agreement_without_one}, highest", end="high"),
     param("name", "Highest without", of="agreement_without_one", end="high"),
     in_words("Undefined", lambda row: str(row.estimate.params.get("undefined") or ""))),
    heads=5,
)  # fmt: skip
