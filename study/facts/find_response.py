"""One response by its id, without reading those of the whole study."""

from typing import NamedTuple

from sqlalchemy import Connection, select

from study.errors import StudyError, nearest
from study.facts.current_responses import response_versions
from study.schema.tables import outputs, queries, response_aliases, responses


class FoundResponse(NamedTuple):
    """A response with its ids."""

    id: int
    response_id: str
    query: int
    query_id: str
    systems: list[str]
    """Systems that give it now, in alphabetical order."""
    in_use: bool
    """Whether no later response has replaced it."""


def find_response(connection: Connection, name: str) -> FoundResponse:
    """Return the response of an id, by the rules of `study.facts.current_responses`.

    Raises
    ------
    StudyError
        There is none; the message has the nearest id, or one of the study's as an example.
    """
    key, response = name, None
    if not _versions(connection, name):
        by_alias = select(responses.c.key, responses.c.id).join_from(response_aliases, responses)
        alias = connection.execute(by_alias.where(response_aliases.c.key == name)).first()
        if alias is not None:
            key, response = alias
        else:
            key, _, number = name.rpartition("@")
            key_versions = _versions(connection, key)
            response = next((id_ for id_, v, _ in key_versions if str(v) == number), None)
        if response is None:
            raise _unknown(connection, name)
    rows = _versions(connection, key)
    query_outputs = (
        select(outputs.c.query_id, outputs.c.system, outputs.c.response_id)
        .where(outputs.c.query_id.in_({query for *_, query in rows}))
        .order_by(outputs.c.revision)
    )
    every = list(connection.execute(query_outputs))
    current = {(query, system): of for query, system, of in every}
    versions = response_versions(
        ((id_, key, version) for id_, version, _ in rows),
        ((of, current[query, system] == of) for query, system, of in every),
    )
    if response is None:
        used = [id_ for id_, *_ in rows if id_ in versions.in_use]
        response = (used or [id_ for id_, *_ in rows])[-1]
    query = next(query for id_, _, query in rows if id_ == response)
    query_key = select(queries.c.key).where(queries.c.id == query)
    return FoundResponse(
        response,
        versions.ids[response],
        query,
        connection.execute(query_key).scalar_one(),
        sorted(system for (_, system), of in current.items() if of == response),
        response in versions.in_use,
    )


def _versions(connection: Connection, key: str) -> list[tuple[int, int, int]]:
    """Return response, version and query of each version of a key, oldest first."""
    columns = (responses.c.id, responses.c.version, responses.c.query_id)
    statement = select(*columns).where(responses.c.key == key).order_by(responses.c.version)
    return [(row[0], row[1], row[2]) for row in connection.execute(statement)]


def _unknown(connection: Connection, name: str) -> StudyError:
    response_keys = select(responses.c.key).order_by(responses.c.id)
    keys = [*connection.execute(response_keys).scalars()]
    keys += connection.execute(select(response_aliases.c.key)).scalars()
    hint = nearest(name, keys) or (f"Its ids are such as {keys[0]!r}." if keys else "It has none.")
    return StudyError(f"The study has no response {name!r}. {hint}")
