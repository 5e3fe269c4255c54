"""What is still to be assigned: which responses want how many more raters, for which constructs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from study.assigning.given import Given
from study.constructs import ConstructSpec
from study.nouns import Output, Query, Response, table
from study.response_roles import is_answer
from study.versions import response_versions

NO_PASSAGES = "the response has no passages"
NO_REFERENCE = "the query has no reference answer"


@dataclass(frozen=True)
class Block:
    """Responses to one query that go to the same further raters."""

    query: int
    responses: tuple[int, ...]
    construct_keys: tuple[str, ...]
    need: int
    """How many further raters."""
    taken_by: frozenset[int]
    """Raters who were given these responses on these constructs before."""


@dataclass
class Needs:
    """The blocks in the order of the database, and what stands in their way."""

    blocks: list[Block] = field(default_factory=list)
    covered: int = 0
    """Responses that have all their raters."""
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(construct, reason) to number of responses that can't be rated on it."""
    unratable: list[str] = field(default_factory=list)
    """Keys of responses that can be rated on none of the constructs."""


# Query, constructs, need, those who have them, and the response where each goes by itself.
_Alike = tuple[int, tuple[str, ...], int, frozenset[int], int | None]


def needs(
    connection: Connection,
    constructs: Sequence[ConstructSpec],
    given: Iterable[Given],
    per_item: int,
    *,
    split_queries: bool = False,
) -> Needs:
    """Return what is missing until each response in use has `per_item` raters.

    Assignments that exist count, and so do open slots. One that was handed on doesn't, but its
    rater has seen the response, and may save yet: it isn't given to them again.
    """
    found = Needs()
    by_response: dict[int, list[Given]] = defaultdict(list)
    for one in given:
        by_response[one.response].append(one)
    alike: dict[_Alike, list[int]] = {}
    for row in _responses(connection):
        keys = _ratable(row, constructs, found.left_out)
        if not keys:
            found.unratable.append(row.key)
            continue
        missing = _missing(keys, by_response[row.id], per_item)
        if not missing:
            found.covered += 1
        for together, need, taken in missing:
            part = row.id if split_queries else None
            alike.setdefault((row.query_id, together, need, taken, part), []).append(row.id)
    for (query, together, need, taken, _), responses in alike.items():
        found.blocks.append(Block(query, tuple(responses), together, need, taken))
    return found


def _missing(
    keys: Iterable[str], given: Sequence[Given], per_item: int
) -> list[tuple[tuple[str, ...], int, frozenset[int]]]:
    """Return constructs that want equally many raters together, with those who had them."""
    groups: dict[tuple[int, frozenset[int]], list[str]] = {}
    for key in keys:
        having = [g for g in given if key in g.construct_keys]
        need = per_item - sum(not g.handed_on for g in having)
        if need > 0:
            taken = frozenset(g.rater for g in having if g.rater is not None)
            groups.setdefault((need, taken), []).append(key)
    return [(tuple(together), need, taken) for (need, taken), together in groups.items()]


def _ratable(
    row: Row[Any], constructs: Iterable[ConstructSpec], left_out: Counter[tuple[str, str]]
) -> list[str]:
    keys = []
    for construct in constructs:
        if "context" in construct.sees and row.context_hash is None:
            left_out[construct.key, NO_PASSAGES] += 1
        elif "reference" in construct.sees and not row.references:
            left_out[construct.key, NO_REFERENCE] += 1
        else:
            keys.append(construct.key)
    return keys


def _responses(connection: Connection) -> list[Row[Any]]:
    r, q, o = table(Response), table(Query), table(Output)
    rows: Sequence[Any] = connection.execute(
        select(r.c.id, r.c.key, r.c.version, r.c.query_id, r.c.context_hash, q.c.references)
        .join_from(r, q, r.c.query_id == q.c.id)
        .where(is_answer())
        .order_by(r.c.query_id, r.c.id)
    ).all()
    outputs = connection.execute(select(o.c.response_id, o.c.query_id, o.c.system, o.c.revision))
    in_use = response_versions(
        ((row.id, row.key, row.version) for row in rows),
        ((o.response_id, o.query_id, o.system, o.revision) for o in outputs),
    ).in_use
    return [row for row in rows if row.id in in_use]
