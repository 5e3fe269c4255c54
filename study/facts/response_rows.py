"""A study's responses as rows, one for each system that gave them, in the order of import."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from study.facts.outputs import all_outputs, current_outputs
from study.facts.response_roles import is_answer
from study.facts.response_versions import response_versions
from study.schema import Passage, Query, Response, ResponseAlias, ResponsePassage, table

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
    """A response that no later one has taken the place of, with its id in the tables."""

    id: int
    response_id: str


def current_responses(connection: Connection) -> tuple[list[CurrentResponse], int]:
    """Return the responses that the tables speak of, and how many others there are."""
    r, o = table(Response), all_outputs()
    outputs = connection.execute(select(o.c.response_id, o.c.current))
    rows = connection.execute(
        select(r.c.id, r.c.key, r.c.version).where(is_answer()).order_by(r.c.query_id, r.c.id)
    )
    responses = [(row[0], row[1], row[2]) for row in rows]
    versions = response_versions(responses, ((row[0], row[1]) for row in outputs))
    current = [
        CurrentResponse(response, versions.ids[response])
        for response, _, _ in responses
        if response in versions.in_use
    ]
    return current, len(responses) - len(current)


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
        contents = _contents(connection, ids)
        passages = _passages(connection, ids)
        for response in some:
            query_id, query, references, attributes, text = contents[response.id]
            shared = (text, passages.get(response.id, []))
            asked = (query_id, query, references, attributes)
            systems_of_response: Sequence[str | None] = systems.get(response.id, [None])
            for system in systems_of_response:
                yield (*asked, response.response_id, system, *shared)
            for key in further.get(response.id, []):
                yield (*asked, key, None, *shared)


def _systems(connection: Connection) -> dict[int, list[str]]:
    o = current_outputs()
    systems: dict[int, list[str]] = {}
    rows = connection.execute(select(o.c.response_id, o.c.system).order_by(o.c.first_id))
    for response, system in rows:
        systems.setdefault(response, []).append(system)
    return systems


def _further_ids(connection: Connection) -> dict[int, list[str]]:
    a: Any = table(ResponseAlias)
    further: dict[int, list[str]] = {}
    for key, response in connection.execute(select(a.c.key, a.c.response_id).order_by(a.c.key)):
        further.setdefault(response, []).append(key)
    return further


def _contents(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    r, q = table(Response), table(Query)
    rows = connection.execute(
        select(r.c.id, q.c.key, q.c.text, q.c.references, q.c.attributes, r.c.text)
        .join_from(r, q, r.c.query_id == q.c.id)
        .where(r.c.id.in_(ids))
    )
    return {row[0]: tuple(row[1:]) for row in rows}


def _passages(
    connection: Connection, ids: Sequence[int]
) -> dict[int, list[tuple[str, str | None]]]:
    place, p = table(ResponsePassage), table(Passage)
    rows = connection.execute(
        select(place.c.response_id, p.c.text, place.c.document)
        .join_from(place, p, place.c.passage_id == p.c.id)
        .where(place.c.response_id.in_(ids))
        .order_by(place.c.response_id, place.c.position)
    )
    passages: dict[int, list[tuple[str, str | None]]] = {}
    for response, text, document in rows:
        passages.setdefault(response, []).append((text, document))
    return passages
