"""The order of systems by preferences, of people and of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.render.table_of import TableOf, TableRow, each, formatted, in_words, number_of
from analysis.statistics.discrimination.bradley_terry import BradleyTerry, wins_by_query

PEOPLE = "people"
"""Value of params.by of the strengths from the preferences of all people together."""


def preferred_systems(context: Context) -> Iterator[Estimate]:
    """`bradley_terry` of each system: by the preferences of people, and of each judge."""
    table = context.preferences
    if table is None:
        return
    systems_of = _systems_of(context)
    for construct in table.constructs:
        people = table.scorers(construct, "human")
        panels = [(PEOPLE, people)] if people else []
        panels += [(name, (name,)) for name in table.scorers(construct, "judge", "metric")]
        for by, scorers in panels:
            yield from _strengths(context, construct, by, scorers, systems_of)


def _strengths(
    context: Context,
    construct: str,
    by: str,
    scorers: tuple[str, ...],
    systems_of: Mapping[str, tuple[str, ...]],
) -> Iterator[Estimate]:
    table = context.preferences
    assert table is not None  # noqa: S101  (checked by the caller)
    frame = table.frame
    rows = frame[
        (frame["construct"] == construct)
        & frame["scorer"].isin(scorers)
        & (frame["repeat"] == 0)
        & frame["value"].notna()
    ]
    queries = {name: place for place, name in enumerate(context.compared_queries)}
    columns = (rows[name].astype("object") for name in ("query_id", "response_a", "response_b"))
    compared = [
        (queries[query], first, second, value)
        for query, a, b, value in zip(*columns, rows["value"], strict=True)
        for first, second in product(systems_of.get(a, ()), systems_of.get(b, ()))
        if first != second
    ]
    names = sorted({system for _, first, second, _ in compared for system in (first, second)})
    if len(names) < 2:
        return
    number = {name: place for place, name in enumerate(names)}
    query = np.array([row[0] for row in compared], dtype=np.int64)
    first = np.array([number[row[1]] for row in compared], dtype=np.int64)
    second = np.array([number[row[2]] for row in compared], dtype=np.int64)
    values = np.array([row[3] for row in compared], dtype=np.float64)
    wins = wins_by_query(first, second, values, query, (len(queries), len(names)))
    model = BradleyTerry(wins, len(compared))
    for system, place in number.items():
        yield context.estimate(
            "bradley_terry",
            model.statistic(place),
            context.compared_resampling,
            constructs=(construct,),
            scorers=scorers,
            systems=(system,),
            scope=f"system:{system}",
            params={"by": by},
        )


def _systems_of(context: Context) -> Mapping[str, tuple[str, ...]]:
    """Systems by response: as the preferences come with them, else as in the table of scores."""
    table = context.preferences
    if table is not None and table.systems:
        return table.systems
    rows = context.scores.frame[["response_id", "system"]].dropna().drop_duplicates()
    found: dict[str, tuple[str, ...]] = {}
    for response, system in rows.astype("object").itertuples(index=False):
        found[response] = (*found.get(response, ()), system)
    return found


STATISTICS = (
    Statistic(
        "bradley_terry",
        "Strength",
        "log odds with which a system's response is preferred to that of a system of average "
        "strength (Bradley-Terry; a tie is half a win of each); params.by: people, or the judge",
        preferred_systems,
        better="higher",
        scopes=(SYSTEM,),
        source="Bradley and Terry 1952",
    ),
)


def _preferred(row: TableRow) -> str:
    e = row.estimate
    return f"{1 / (1 + np.exp(-e.value)):.0%}" if e.defined else ""


preferred_systems_table = TableOf(
    "preferred-systems",
    "Order of systems by preferences",
    "Strengths of the Bradley-Terry model in log odds: 0 is the average of the systems, and a "
    "tie counts as half a win of each. Preferred: how often a response of the system is "
    "preferred to that of an average one. Responses that two systems share are not compared "
    "with each other.",
    each("bradley_terry", per=lambda e: (e.constructs[0], e.params["by"]),
         sort=lambda e: -e.value if e.defined else 0.0),
    ("construct", in_words("By", "{e.params[by]}"), "system", formatted("bradley_terry", "+.2f"),
     in_words("Preferred", _preferred), number_of("n_responses", "Comparisons")),
    heads=3,
)  # fmt: skip
