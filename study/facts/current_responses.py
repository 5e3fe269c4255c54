"""Responses: which are measured, which output and version of each is current, and their rows.

A system's answer to a query is an output; a changed answer is the next revision, and the highest
revision is current.

An id KEY@N means version N of the response KEY, whether it is in use or not. A bare KEY means the
newest version in use. Tables show a bare KEY for version 1 while it means that version, and KEY@N
otherwise, so that an id in a table always leads back to its response.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Subquery, and_, case, exists, func, or_, select

from study.schema.database import read_columns
from study.schema.tables import (
    outputs,
    passages as passage_table,
    queries,
    response_aliases,
    response_passages,
    responses as response_table,
)


def is_answer() -> ColumnElement[bool]:
    """Return the condition, on the table of responses, that a response is measured.

    An output of a system is measured, whatever else the same content is used for.
    """
    return or_(
        response_table.c.role == "answer",
        exists().where(outputs.c.response_id == response_table.c.id),
    )


def all_outputs() -> Subquery:
    """Return every output with all columns of its table.

    Further columns: `current`, and `first_id`, the id of the system's first output to the query.
    """
    last = (
        select(
            outputs.c.query_id,
            outputs.c.system,
            func.max(outputs.c.revision).label("revision"),
            func.min(outputs.c.id).label("first_id"),
        )
        .group_by(outputs.c.query_id, outputs.c.system)
        .subquery()
    )
    same = and_(last.c.query_id == outputs.c.query_id, last.c.system == outputs.c.system)
    return (
        select(outputs, (outputs.c.revision == last.c.revision).label("current"), last.c.first_id)
        .join(last, same)
        .subquery("every_output")
    )


def current_outputs() -> Subquery:
    """Return the current output of each system to each query, with the columns of `all_outputs`."""
    every = all_outputs()
    return select(every).where(every.c.current).subquery("current_output")


def current_systems(connection: Connection) -> dict[str, int]:
    """Return the systems that have answers now, with the number of their answers."""
    current = current_outputs()
    rows = connection.execute(
        select(current.c.system, func.count()).group_by(current.c.system).order_by(current.c.system)
    )
    return {system: int(count) for system, count in rows}


class Versions(NamedTuple):
    """The versions of all responses, by database key."""

    in_use: frozenset[int]
    """Responses that no later one has replaced."""
    ids: Mapping[int, str]
    """The id of each in tables and files."""


def response_versions(
    responses: Iterable[tuple[int, str, int]], outputs: Iterable[tuple[int, bool]]
) -> Versions:
    """Return which versions are in use, and their ids.

    `responses` are (database key, key, version); `outputs` are (response, whether it is the
    system's current output), as in `all_outputs`. In use are every current output, and the newest
    version of a key that never was the output of a system.
    """
    outputs_ever: set[int] = set()
    current: set[int] = set()
    for response, is_current in outputs:
        outputs_ever.add(response)
        if is_current:
            current.add(response)
    by_key: dict[str, list[tuple[int, int]]] = {}
    for response, key, version in responses:
        by_key.setdefault(key, []).append((version, response))
    in_use: set[int] = set()
    ids: dict[int, str] = {}
    for key, versions in by_key.items():
        versions.sort()
        newest = versions[-1][1]
        used = [r for _, r in versions if r in current or (r == newest and r not in outputs_ever)]
        in_use.update(used)
        meant = used[-1] if used else newest
        for version, response in versions:
            ids[response] = key if version == 1 and response == meant else f"{key}@{version}"
    return Versions(frozenset(in_use), ids)


RESPONSE_COLUMNS = (
    "query_id",
    "query",
    "references",
    "attributes",
    "response_id",
    "system",
    "response",
    "passages",
)

# Responses read at once, with their passages.
_TOGETHER = 200


class CurrentResponse(NamedTuple):
    """A response that no later one has replaced, with its id in the tables."""

    id: int
    response_id: str


def count_current_responses(connection: Connection) -> int:
    """Return how many responses `current_responses` returns, without reading them."""
    versions, replaced = _several_versions(connection), _replaced_outputs(connection)
    every = connection.execute(select(func.count()).select_from(response_table).where(is_answer()))
    without_use = replaced.difference(versions.ids)
    return int(every.scalar_one()) - len(without_use) - len(versions.ids) + len(versions.in_use)


def current_responses(
    connection: Connection, only: Collection[str] | None = None
) -> tuple[list[CurrentResponse], int]:
    """Return the responses that the tables speak of, and how many others there are.

    `only` are the ids of the wanted responses, by default all of them; the others are counted.
    """
    versions, replaced = _several_versions(connection), _replaced_outputs(connection)
    rows = connection.execute(
        select(response_table.c.id, response_table.c.key)
        .where(is_answer())
        .order_by(response_table.c.query_id, response_table.c.id),
        execution_options={"stream_results": True},
    )
    current, others = [], 0
    for response, key in rows:
        known = response in versions.ids
        name = versions.ids.get(response, key)
        in_use = response in versions.in_use if known else response not in replaced
        if in_use and (only is None or name in only):
            current.append(CurrentResponse(response, name))
        else:
            others += 1
    return current, others


def _several_versions(connection: Connection) -> Versions:
    """Return the versions of the keys that have several; there may be millions of others."""
    several = (
        select(response_table.c.key)
        .where(is_answer())
        .group_by(response_table.c.key)
        .having(or_(func.count() > 1, func.max(response_table.c.version) > 1))
    )
    chosen = (is_answer(), response_table.c.key.in_(several))
    rows = connection.execute(
        select(response_table.c.id, response_table.c.key, response_table.c.version).where(*chosen)
    )
    every = all_outputs()
    ids = select(response_table.c.id).where(*chosen)
    outputs = select(every.c.response_id, every.c.current).where(every.c.response_id.in_(ids))
    keyed_versions = [(row[0], row[1], row[2]) for row in rows]
    return response_versions(
        keyed_versions, ((row[0], row[1]) for row in connection.execute(outputs))
    )


def _replaced_outputs(connection: Connection) -> set[int]:
    """Return the responses that were outputs of systems and are so no longer."""
    every = all_outputs()
    now = func.max(case((every.c.current, 1), else_=0))
    replaced = select(every.c.response_id).group_by(every.c.response_id).having(now == 0)
    return set(connection.execute(replaced).scalars())


def response_rows(
    connection: Connection, responses: Sequence[CurrentResponse]
) -> Iterator[tuple[Any, ...]]:
    """Yield rows with the columns of `RESPONSE_COLUMNS`.

    References are a list, attributes a mapping, passages a list of (text, document). A response
    of several systems, or of several ids, has a row for each.
    """
    systems = _systems(connection)
    further = _further_ids(connection)
    for start in range(0, len(responses), _TOGETHER):
        some = responses[start : start + _TOGETHER]
        ids = [response.id for response in some]
        contents = response_contents(connection, ids)
        passages = passages_of_responses(connection, ids)
        for response in some:
            query_id, query, references, attributes, text = contents[response.id]
            shared = (text, passages.get(response.id, []))
            asked = (query_id, query, references, attributes)
            for system in systems(response.id) or [None]:
                yield (*asked, response.response_id, system, *shared)
            for key in further.get(response.id, []):
                yield (*asked, key, None, *shared)


def _systems(connection: Connection) -> Callable[[int], Sequence[str | None]]:
    """Return a function from a response to its systems; there may be millions of responses."""
    import numpy as np

    current = current_outputs()
    rows = read_columns(
        connection,
        select(current.c.response_id.label("response"), current.c.system).order_by(
            current.c.first_id
        ),
        {"response": "int64", "system": "category"},
    )
    order = np.argsort(rows["response"], kind="stable")
    response, system = rows["response"][order], rows["system"][order]

    def systems_of(key: int) -> Sequence[str | None]:
        first, after = np.searchsorted(response, [key, key + 1])
        return list(system[first:after])

    return systems_of


def _further_ids(connection: Connection) -> dict[int, list[str]]:
    a: Any = response_aliases
    further: dict[int, list[str]] = {}
    for key, response in connection.execute(select(a.c.key, a.c.response_id).order_by(a.c.key)):
        further.setdefault(response, []).append(key)
    return further


def response_contents(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Return the key, text, references and attributes of each response's query, and its text."""
    rows = connection.execute(
        select(
            response_table.c.id,
            queries.c.key,
            queries.c.text,
            queries.c.references,
            queries.c.attributes,
            response_table.c.text,
        )
        .join_from(response_table, queries, response_table.c.query_id == queries.c.id)
        .where(response_table.c.id.in_(ids))
    )
    return {row[0]: tuple(row[1:]) for row in rows}


def passages_of_responses(
    connection: Connection, ids: Sequence[int]
) -> dict[int, list[tuple[str, str | None]]]:
    """Return the text and the document of each response's passages, in order."""
    rows = connection.execute(
        select(response_passages.c.response_id, passage_table.c.text, response_passages.c.document)
        .join_from(
            response_passages, passage_table, response_passages.c.passage_id == passage_table.c.id
        )
        .where(response_passages.c.response_id.in_(ids))
        .order_by(response_passages.c.response_id, response_passages.c.position)
    )
    passages: dict[int, list[tuple[str, str | None]]] = {}
    for response, text, document in rows:
        passages.setdefault(response, []).append((text, document))
    return passages
