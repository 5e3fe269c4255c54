"""Responses as tasks: the texts of one stage, and a name that is the same in every push."""

from collections.abc import Sequence
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
    """Return the name of each response's task, which does not identify its system.

    It depends on the texts: in a study that was restored from an earlier backup, the number of a
    response may belong to another text.
    """
    study = study_name(connection)
    rows = connection.execute(
        select(
            responses.c.id, responses.c.content_hash, queries.c.text, queries.c.references
        ).join_from(responses, queries, responses.c.query_id == queries.c.id)
    )
    return {
        row.id: blake2b(
            repr((study, row.id, stage, row.content_hash, row.text, row.references)).encode(
                "utf-8", "surrogatepass"
            ),
            digest_size=16,
        ).hexdigest()
        for row in rows
    }


def task_data(
    connection: Connection, response_ids: Sequence[int], fields: Sequence[Sees]
) -> dict[int, dict[str, Any]]:
    """Return the data of each response's task: these fields and nothing else."""
    tasks: dict[int, dict[str, Any]] = {}
    for start in range(0, len(response_ids), _BATCH):
        batch = response_ids[start : start + _BATCH]
        rows = connection.execute(
            select(
                responses.c.id,
                responses.c.text,
                queries.c.text.label("question"),
                queries.c.references,
            )
            .join_from(responses, queries, responses.c.query_id == queries.c.id)
            .where(responses.c.id.in_(batch))
        )
        for row in rows:
            texts: dict[Sees, Any] = {
                "question": row.question,
                "response": row.text,
                "reference": row.references[0] if row.references else "",
            }
            tasks[row.id] = {field: texts[field] for field in fields if field in texts}
        if "context" in fields:
            for response, passages in passages_of_responses(connection, batch).items():
                tasks[response]["passages"] = passages
    return tasks


def passages_of_responses(
    connection: Connection, response_ids: Sequence[int]
) -> dict[int, list[dict[str, str]]]:
    """Return the passages of each response in order, with their titles."""
    passages: dict[int, list[dict[str, str]]] = {response: [] for response in response_ids}
    rows = connection.execute(
        select(response_passages.c.response_id, passage_table.c.text)
        .join_from(
            response_passages, passage_table, response_passages.c.passage_id == passage_table.c.id
        )
        .where(response_passages.c.response_id.in_(response_ids))
        .order_by(response_passages.c.response_id, response_passages.c.position)
    )
    for response, text in rows:
        number = len(passages[response]) + 1
        passages[response].append({"title": f"Passage {number}", "text": text})
    return passages
