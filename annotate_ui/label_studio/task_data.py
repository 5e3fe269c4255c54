"""Tasks: the responses that they show, their texts, and a name that is the same in every push."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, select

from study.schema.tables import (
    passages as passage_table,
    queries,
    response_passages,
    responses,
    study_identities,
)
from study.types import Sees

NAME = "ccrs_id"
"""Field of a task's data with its name."""
_BATCH = 500


def study_name(connection: Connection) -> str:
    """Return the random name of the study, which its backups share."""
    return str(connection.execute(select(study_identities.c.public_id)).scalar_one())


def task_names(connection: Connection, stage: int) -> dict[int, str]:
    """Return the name of the task of each response in a stage, which does not identify a system.

    It depends on the texts: in a study that was restored from an earlier backup, the number of a
    response may belong to another text.
    """
    study = study_name(connection)
    names: dict[int, str] = {}
    for row in _texts(connection):
        text = repr((study, stage, row.id, row.content_hash, row.question, row.references))
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
        names[row.id] = digest.hexdigest()
    return names


def task_data(
    connection: Connection, tasks: Sequence[int], fields: Sequence[Sees]
) -> list[dict[str, Any]]:
    """Return the data of the task of each response: these fields and nothing else."""
    ids = sorted(tasks)
    texts = {row.id: row for row in _texts(connection, ids)}
    passages = _passages(connection, ids) if "context" in fields else {}
    data = []
    for response in tasks:
        row = texts[response]
        of_field: dict[Sees, dict[str, Any]] = {
            "question": {"question": row.question},
            "response": {"response": row.text},
            "context": {"passages": _titled(passages.get(response, []))},
            "reference": {"reference": next(iter(row.references), "")},
        }
        data.append({name: text for field in fields for name, text in of_field[field].items()})
    return data


def _titled(passages: Sequence[str]) -> list[dict[str, str]]:
    return [{"title": f"Passage {n}", "text": text} for n, text in enumerate(passages, 1)]


def _texts(connection: Connection, ids: Sequence[int] | None = None) -> Iterable[Any]:
    statement = select(
        responses.c.id,
        responses.c.query_id,
        responses.c.content_hash,
        responses.c.text,
        queries.c.text.label("question"),
        queries.c.references,
    ).join_from(responses, queries, responses.c.query_id == queries.c.id)
    if ids is None:
        yield from connection.execute(statement)
        return
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        yield from connection.execute(statement.where(responses.c.id.in_(some)))


def _passages(connection: Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the passages of each response, in order."""
    passages: dict[int, list[str]] = defaultdict(list)
    statement = (
        select(response_passages.c.response_id, passage_table.c.text)
        .join_from(
            response_passages, passage_table, response_passages.c.passage_id == passage_table.c.id
        )
        .order_by(response_passages.c.response_id, response_passages.c.position)
    )
    for start in range(0, len(ids), _BATCH):
        some = statement.where(response_passages.c.response_id.in_(ids[start : start + _BATCH]))
        for response, text in connection.execute(some):
            passages[response].append(text)
    return passages
