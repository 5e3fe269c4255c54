"""Constructs of the score table as arrays, a response a row."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import NOISE
from analysis.core.table_checks import codes_of
from analysis.core.tables import ScoreTable
from study.base.analysis_settings import Reference


@dataclass(frozen=True, eq=False)
class ConstructData:
    """Scores on one construct; n responses, R raters, S systems, Q queries of the whole table.

    Only first scores (repeat 0) enter: repeats measure a scorer's agreement with itself.
    """

    construct: str
    responses: tuple[str, ...]
    query: IntArray
    """(n,) codes from 0 to Q - 1."""
    n_queries: int
    raters: tuple[str, ...]
    """Raters with at least one rating."""
    rated: IntArray
    """(k,) positions of the responses that any of them rated, rising."""
    ratings_given: FloatArray
    """(k, R), NaN where missing."""
    scorers: dict[str, FloatArray]
    """Judges and metrics: (n,), NaN where missing."""
    kinds: dict[str, str]
    adjudicated: dict[str, FloatArray]
    systems: tuple[str, ...]
    produced: BoolArray
    """(n, S): which system produced the response."""
    reference_kind: Reference

    @property
    def ratings(self) -> FloatArray:
        """(n, R), NaN where missing; not kept, since people rate few of millions of responses."""
        return self._on_all_responses(self.ratings_given)

    def ratings_by(self, rater: str) -> FloatArray:
        """Ratings (n,) of one rater, NaN where missing."""
        return self._on_all_responses(self.ratings_given[:, self.raters.index(rater)])

    @property
    def mean_of_raters(self) -> FloatArray:
        """Mean rating (n,), NaN where nobody rated."""
        return self._on_all_responses(self._mean_of_raters)

    @property
    def reference(self) -> FloatArray:
        """Human reference (n,): the mean of the raters, or the adjudicated value; never a mix."""
        if self.reference_kind == "adjudicated":
            if len(self.adjudicated) != 1:
                return np.full(len(self.responses), np.nan)
            return next(iter(self.adjudicated.values()))
        return self.mean_of_raters

    @cached_property
    def _mean_of_raters(self) -> FloatArray:
        return mean_over(self.ratings_given)

    def _on_all_responses(self, rated_values: FloatArray) -> FloatArray:
        """Values (k, ...) of the rated responses as (n, ...), NaN for the others."""
        if self.rated.size == len(self.responses):
            return rated_values
        values = np.full((len(self.responses), *rated_values.shape[1:]), np.nan)
        values[self.rated] = rated_values
        return values

    @property
    def reference_missing(self) -> str | None:
        """Why the construct has no reference; None where it has one."""
        if self.reference_kind == "adjudicated" and len(self.adjudicated) > 1:
            names = ", ".join(self.adjudicated)
            return f"several adjudicated scorers ({names}); keep one"
        if np.isfinite(self.reference).any():
            return None
        kind = "adjudicated value" if self.reference_kind == "adjudicated" else "human rating"
        return f"no {kind} on {self.construct}"

    @property
    def people(self) -> tuple[str, ...]:
        """The scorers whose values make up the reference."""
        return tuple(self.adjudicated) if self.reference_kind == "adjudicated" else self.raters

    @property
    def judges(self) -> list[str]:
        """Scorers that are judges."""
        return [name for name in self.scorers if self.kinds[name] == "judge"]

    @property
    def examined(self) -> list[str]:
        """The judges; metrics only where there is no judge."""
        return self.judges or list(self.scorers)

    def record(self, scorer: str, scope: str = "pooled") -> dict[str, Any]:
        """Fields that the estimates of one scorer against the reference have in common."""
        return {
            "constructs": (self.construct,),
            "scorers": (scorer, *self.people),
            "systems": self.systems if scope == "system_level" else (),
            "scope": scope,
            "target": "these_raters",
            "n_raters": len(self.people) if self.reference_kind == "mean_of_raters" else 0,
        }

    def produced_by(self, system: str) -> BoolArray:
        """Which responses (n,) a system produced."""
        return np.asarray(self.produced[:, self.systems.index(system)])

    @cached_property
    def several_a_query(self) -> bool:
        """Whether any query has two responses with a reference."""
        counts = np.bincount(self.query[np.isfinite(self.reference)], minlength=1)
        return bool(counts.max() > 1)


def mean_over(ratings: FloatArray) -> FloatArray:
    """Mean of each row's present values (n,), NaN where a row has none."""
    present = np.isfinite(ratings)
    count = present.sum(axis=1)
    filled = np.where(present, ratings, 0.0)
    total = filled.sum(axis=1)
    # Values that cancel each other leave float noise in place of 0.
    total[np.abs(total) <= NOISE * np.abs(filled).sum(axis=1)] = 0.0
    mean: FloatArray = np.full(len(ratings), np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def construct_data(
    table: ScoreTable,
    construct: str,
    reference: Reference = "mean_of_raters",
    queries: tuple[str, ...] | None = None,
) -> ConstructData:
    """Arrays of one construct.

    `queries` restricts the rows and fixes the codes of the queries (default: those of the table),
    so that all constructs share the same resamples.
    """
    columns = ["response_id", "query_id", "system", "scorer", "repeat", "value"]
    rows = table.frame.loc[table.frame["construct"] == construct, columns]
    empty = _without_score(rows, table.scorer_kinds)
    queries = table.queries if queries is None else queries
    query_of_row = _positions(rows["query_id"], queries)
    if (query_of_row < 0).any():
        rows, query_of_row = rows[query_of_row >= 0], query_of_row[query_of_row >= 0]
    codes, found = pd.factorize(rows["response_id"])
    responses = np.asarray(found, dtype="object")
    n = len(responses)
    query = np.empty(n, dtype=np.int64)
    query[codes] = query_of_row
    produced = np.zeros((n, len(table.systems)), dtype=bool)
    system = _positions(rows["system"], table.systems)
    produced[codes[system >= 0], system[system >= 0]] = True
    # Judges come first: a report is about them.
    in_order = (*table.scorers(construct, "judge"), *table.scorers(construct))
    kinds = {n: table.scorer_kinds[n] for n in dict.fromkeys(in_order) if n not in empty}
    values = {
        name: _values(rows, codes, n, name) for name, kind in kinds.items() if kind != "human"
    }
    raters, rated, given = _ratings(rows, codes, kinds)
    return ConstructData(
        construct=construct,
        responses=tuple(responses),
        query=query,
        n_queries=len(queries),
        raters=raters,
        rated=rated,
        ratings_given=given,
        scorers={n: values[n] for n, kind in kinds.items() if kind in {"judge", "metric"}},
        kinds=kinds,
        adjudicated={n: values[n] for n, kind in kinds.items() if kind == "adjudicated"},
        systems=table.systems,
        produced=produced,
        reference_kind=reference,
    )


def without_scores(table: ScoreTable) -> list[tuple[str, str]]:
    """Judges and metrics (scorer, construct) without any score, where another one has some."""
    rows = table.frame[["construct", "scorer", "repeat", "value"]]
    return [
        (scorer, construct)
        for construct in table.constructs
        for scorer in _without_score(rows[rows["construct"] == construct], table.scorer_kinds)
    ]


def _without_score(rows: pd.DataFrame, kinds: Mapping[str, str]) -> list[str]:
    """Judges and metrics without any score in these rows, where another one has some.

    They are compared with nobody, and so make no claim of others less certain.
    """
    scorers = rows["scorer"].astype(str)
    scored = set(scorers[(rows["repeat"] == 0) & rows["value"].notna()].unique())
    present = {kinds[name] for name in scored}
    found = []
    for name in scorers.unique():
        alike = {"judge": {"judge"}, "metric": {"judge", "metric"}}.get(kinds[name], set())
        if name not in scored and present & alike:
            found.append(name)
    return found


def sharing(data: ConstructData, other: ConstructData) -> ConstructData:
    """The same data, with the arrays of another construct of the table where these are equal.

    Most studies have every response on every construct, and millions of rows.
    """
    if data.responses != other.responses:
        return data
    alike = {
        name: getattr(other, name)
        for name in ("query", "produced")
        if np.array_equal(getattr(data, name), getattr(other, name))
    }
    return replace(data, responses=other.responses, **alike)


def _ratings(
    rows: pd.DataFrame, codes: npt.NDArray[np.intp], kinds: Mapping[str, str]
) -> tuple[tuple[str, ...], IntArray, FloatArray]:
    """Raters (R,), positions of the responses that they rated (k,), and their ratings (k, R)."""
    people = [name for name, kind in kinds.items() if kind == "human"]
    by_people = rows["scorer"].isin(people) & (rows["repeat"] == 0) & rows["value"].notna()
    scorer = rows["scorer"][by_people]
    raters = tuple(sorted(map(str, scorer.unique())))
    rated, place = np.unique(codes[by_people.to_numpy()], return_inverse=True)
    given = np.full((rated.size, len(raters)), np.nan)
    given[place, _positions(scorer, raters)] = rows["value"][by_people]
    return raters, rated, given


def _positions(column: pd.Series[Any], names: tuple[str, ...]) -> IntArray:
    positions = pd.Index(names, dtype="object").get_indexer(column.cat.categories)
    # The last element is for a missing name, -1.
    return np.append(positions, -1).astype(np.int64)[codes_of(column)]


def _values(rows: pd.DataFrame, codes: npt.NDArray[np.intp], n: int, scorer: str) -> FloatArray:
    values = np.full(n, np.nan)
    first: npt.NDArray[Any] = ((rows["scorer"] == scorer) & (rows["repeat"] == 0)).to_numpy()
    # A response of several systems has several rows with the same value.
    values[codes[first]] = rows["value"].to_numpy()[first]
    return values


@dataclass(frozen=True, eq=False)
class Aligned:
    """Responses (n,) of several constructs, with the positions of each construct's responses."""

    constructs: tuple[str, ...]
    query: IntArray
    n_queries: int
    systems: tuple[str, ...]
    produced: BoolArray
    """(n, S): which system produced the response."""
    positions: Mapping[str, IntArray]
    """By construct: where its responses are among all."""

    def produced_by(self, system: str) -> BoolArray:
        """Which responses (n,) a system produced."""
        return np.asarray(self.produced[:, self.systems.index(system)])

    def spread(self, construct: str, values: FloatArray) -> FloatArray:
        """Values (m, ...) of a construct's responses as (n, ...), NaN for the others."""
        out = np.full((self.query.size, *values.shape[1:]), np.nan)
        out[self.positions[construct]] = values
        return out


def aligned(constructs: Mapping[str, ConstructData]) -> Aligned:
    """Combine constructs of one table; they share queries and systems."""
    first = next(iter(constructs.values()))
    if all(data.responses is first.responses for data in constructs.values()):
        # As `sharing` arranges for most studies: millions of ids need not be looked up.
        size = len(first.responses)
        positions = dict.fromkeys(constructs, np.arange(size))
    else:
        index: dict[str, int] = {}
        positions = {
            key: np.array([index.setdefault(r, len(index)) for r in data.responses], dtype=np.int64)
            for key, data in constructs.items()
        }
        size = len(index)
    query = np.zeros(size, dtype=np.int64)
    produced = np.zeros((size, len(first.systems)), dtype=bool)
    for key, data in constructs.items():
        query[positions[key]] = data.query
        produced[positions[key]] |= data.produced
    return Aligned(tuple(constructs), query, first.n_queries, first.systems, produced, positions)


#: Suffix of a judge's name in the name of the means of its distributions.
EXPECTED = " (expected)"


def judge_of_expected(scorer: str, scorers: Container[str]) -> str | None:
    """The judge whose distributions have the means `scorer`.

    None where `scorer` is not named as such means, or where the judge is not among the scorers.
    """
    name = scorer.removesuffix(EXPECTED)
    return name if name != scorer and name in scorers else None
