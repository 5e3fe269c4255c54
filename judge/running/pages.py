"""Responses and their stored judgments, read page by page in the order of work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, LargeBinary, cast, func, select

from judge.metrics.metric import Content
from study.errors import StudyError, nearest
from study.facts.current_responses import current_outputs, current_responses
from study.schema.tables import (
    judgments,
    outputs,
    passages as passage_table,
    queries,
    response_passages,
    responses,
)
from study.study import Study

# Responses whose texts are in memory at once. Databases bind at least this many parameters.
_PAGE = 240


@dataclass(frozen=True, slots=True)
class Place:
    """A response and its position in the order of work."""

    query: int
    context_hash: bytes
    """Empty for a response without passages."""
    response: int
    selected: bool = True
    """Whether it is to be judged now. The others are read for the prompts that they share."""


class AnsweredItem(NamedTuple):
    """The columns of a stored answer that decide whether work is left."""

    id: int
    response_id: int
    construct_key: str
    construct_version: int
    repeat: int
    attempt: int
    missing_reason: str | None
    second_response_id: int | None
    """Response (database key) that was shown second."""
    probe: str | None
    round: int


class ContentPage(NamedTuple):
    """Some responses with the answers of a run on them."""

    contents: list[Content]
    answers: list[AnsweredItem]


def places(study: Study, systems: Sequence[str] = ()) -> list[Place]:
    """Return the current responses, ordered by query and context; those of `systems` are selected.

    Raises
    ------
    StudyError
        The study has no response, or has no system of this name.
    """
    with study.read() as connection:
        current = {response.id for response in current_responses(connection)[0]}
        if not current:
            raise StudyError(
                f"{study.folder} has no responses yet; import them with "
                f"`ccrs import {study.folder} FILE`."
            )
        chosen = _system_responses(connection, systems) if systems else current
        rows = connection.execute(
            select(responses.c.query_id, responses.c.context_hash, responses.c.id)
        )
        order = [
            Place(query, bytes(context or b""), response, response in chosen)
            for query, context, response in rows
            if response in current
        ]
    return sorted(order, key=lambda place: (place.query, place.context_hash, place.response))


def pages(
    study: Study,
    order: Sequence[Place],
    run_id: int | None,
    *,
    texts: bool,
    size: int | None = None,
    answers: FromClause = judgments,
) -> Iterator[ContentPage]:
    """Yield the responses in pages of whole queries, of at least `size` responses.

    Passages are read only with `texts`; their lengths are always read. `answers` are the ones of
    the run to read: judgments, or those on probes or pairs. No transaction stays open
    between pages, since the work on a page may take long.
    """
    start = 0
    while start < len(order):
        end = min(start + (size or _PAGE), len(order))
        # A page ends with a query, so that responses that share a prompt are on one page.
        while end < len(order) and order[end].query == order[end - 1].query:
            end += 1
        with study.read() as connection:
            contents = _contents(connection, order[start:end], texts)
            stored: list[AnsweredItem] = []
            if run_id is not None:
                stored = _stored(connection, answers, run_id, order[start:end])
        yield ContentPage(contents, stored)
        start = end


def _system_responses(connection: Connection, systems: Sequence[str]) -> set[int]:
    names = set(connection.execute(select(outputs.c.system).distinct()).scalars())
    for system in systems:
        if system not in names:
            listed = ", ".join(sorted(names)) or "none"
            raise StudyError(
                f"The study has no output of the system {system!r}. {nearest(system, names)} "
                f"Its systems: {listed}.".replace("  ", " ")
            )
    current = current_outputs()
    rows = connection.execute(select(current.c.response_id).where(current.c.system.in_(systems)))
    return set(rows.scalars())


def _contents(connection: Connection, page: Sequence[Place], texts: bool) -> list[Content]:
    ids = [place.response for place in page]
    rows = connection.execute(
        select(responses.c.id, responses.c.text, queries.c.text, queries.c.references)
        .join_from(responses, queries, responses.c.query_id == queries.c.id)
        .where(responses.c.id.in_(ids))
    )
    by_id = {row[0]: row for row in rows}
    # Responses with the same context hash have the same passages, which are read once.
    sources_by_context = {
        place.context_hash: place.response
        for place in page
        if place.context_hash and place.selected
    }
    lengths = _lengths(connection, list(sources_by_context.values()))
    passages = _passages(connection, list(sources_by_context.values())) if texts else {}
    contents = []
    for place in page:
        _, text, question, references = by_id[place.response]
        source = sources_by_context.get(place.context_hash)
        count, size = lengths[source] if source is not None else (0, 0)
        shown_passages = None
        if texts:
            shown_passages = () if source is None else passages.get(source, ())
        contents.append(
            Content(
                place.response,
                place.query,
                place.context_hash,
                question,
                tuple(references),
                text,
                shown_passages,
                size,
                count,
                place.selected,
            )
        )
    return contents


def _stored(
    connection: Connection, answers: FromClause, run_id: int, page: Sequence[Place]
) -> list[AnsweredItem]:
    columns = answers.c
    rows = connection.execute(
        select(*(columns[name] for name in AnsweredItem._fields))
        .where(
            columns.run_id == run_id,
            columns.response_id.in_([place.response for place in page]),
        )
        .order_by(columns.id)
    )
    return [AnsweredItem._make(row) for row in rows]


def _lengths(connection: Connection, responses: list[int]) -> dict[int, tuple[int, int]]:
    """Return the number of passages of each response, and their bytes."""
    rows = connection.execute(
        select(
            response_passages.c.response_id,
            func.count(),
            func.sum(_octets(connection, passage_table.c.text)),
        )
        .join_from(
            response_passages, passage_table, response_passages.c.passage_id == passage_table.c.id
        )
        .where(response_passages.c.response_id.in_(responses))
        .group_by(response_passages.c.response_id)
    )
    return {response: (int(count), int(size)) for response, count, size in rows}


def _octets(connection: Connection, column: ColumnElement[str]) -> ColumnElement[int]:
    if connection.dialect.name == "postgresql":
        return func.octet_length(column)
    # SQLite's length of a text is in characters, and of a BLOB in bytes.
    return func.length(cast(column, LargeBinary))


def _passages(connection: Connection, responses: list[int]) -> dict[int, tuple[str, ...]]:
    rows = connection.execute(
        select(response_passages.c.response_id, response_passages.c.passage_id)
        .where(response_passages.c.response_id.in_(responses))
        .order_by(response_passages.c.response_id, response_passages.c.position)
    ).all()
    ids = list({passage for _, passage in rows})
    text: dict[int, str] = {}
    for start in range(0, len(ids), 500):
        chunk = select(passage_table.c.id, passage_table.c.text).where(
            passage_table.c.id.in_(ids[start : start + 500])
        )
        text.update((row[0], row[1]) for row in connection.execute(chunk))
    passages: dict[int, list[str]] = {}
    for response, passage in rows:
        passages.setdefault(response, []).append(text[passage])
    return {response: tuple(texts) for response, texts in passages.items()}
