"""What is assigned already: who has which response, on which constructs."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from study.nouns import Assignment, Response, Reveal, table

Held = dict[int, dict[int, dict[int, frozenset[str]]]]
"""Rater to query to response to the constructs it is rated on."""


class Given(NamedTuple):
    """One assignment of the main rating."""

    rater: int | None
    """Null for an open slot."""
    query: int
    response: int
    construct_keys: frozenset[str]
    handed_on: bool
    """Its lease ran out and another assignment has taken its place."""


def given_so_far(connection: Connection) -> list[Given]:
    """Return all assignments of the main rating, repeats excepted."""
    a, r = table(Assignment), table(Response)
    successor = aliased(a)
    rows = connection.execute(
        select(a.c.rater_id, r.c.query_id, r.c.id, a.c.construct_keys, successor.c.id)
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(successor, successor.c.replaces_id == a.c.id, isouter=True)
        .where(a.c.purpose == "main", a.c.repeat == 0)
        .order_by(a.c.id)
    )
    return [
        Given(rater, query, response, frozenset(keys), later is not None)
        for rater, query, response, keys, later in rows
    ]


def held_by_raters(given: Iterable[Given]) -> Held:
    """Return what each rater has to rate; what was handed on is somebody else's."""
    held: Held = {}
    for one in given:
        if one.rater is not None and not one.handed_on:
            add(held, one.rater, one.query, one.response, one.construct_keys)
    return held


def add(held: Held, rater: int, query: int, response: int, keys: Iterable[str]) -> None:
    """Enter that a rater has a response; constructs of an earlier pass stay."""
    mine = held.setdefault(rater, {}).setdefault(query, {})
    mine[response] = mine.get(response, frozenset()).union(keys)


def shown_later_stages(connection: Connection) -> dict[int, set[int]]:
    """Return the queries of which each rater was shown more than the first stage.

    They know what the first values of a further response should be given without.
    """
    v, a, r = table(Reveal), table(Assignment), table(Response)
    rows = connection.execute(
        select(a.c.rater_id, r.c.query_id)
        .join_from(v, a, v.c.assignment_id == a.c.id)
        .join(r, a.c.response_id == r.c.id)
        .where(v.c.stage > 1)
        .distinct()
    )
    found: dict[int, set[int]] = {}
    for rater, query in rows:
        found.setdefault(rater, set()).add(query)
    return found


def last_positions(connection: Connection) -> dict[int | None, int]:
    """Return the last place in each rater's order of work; of open slots under None."""
    a = table(Assignment)
    rows = connection.execute(select(a.c.rater_id, func.max(a.c.position)).group_by(a.c.rater_id))
    return {rater: int(position) for rater, position in rows}
