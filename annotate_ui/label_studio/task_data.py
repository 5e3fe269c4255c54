"""Responses as tasks: the texts of one stage, and a name that is the same in every push."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, select

from study.schema import Passage, Query, Response, ResponsePassage, StudyIdentity, table
from study.types import Sees

NAME = "ccrs_id"
"""Field of a task's data with its name."""

_BATCH = 500


def study_name(connection: Connection) -> str:
    """Return the random name of the study, which its backups share."""
    return str(connection.execute(select(table(StudyIdentity).c.public_id)).scalar_one())


def task_names(connection: Connection, stage: int) -> dict[int, str]:
    """Return the name of each response's task, which does not identify its system.

    It depends on the texts: in a study that was restored from an earlier backup, the number of a
    response may belong to another text.
    """
    study = study_name(connection)
    r, q = table(Response), table(Query)
    rows = connection.execute(
        select(r.c.id, r.c.content_hash, q.c.text, q.c.references).join_from(
            r, q, r.c.query_id == q.c.id
        )
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
    r, q = table(Response), table(Query)
    for start in range(0, len(response_ids), _BATCH):
        batch = response_ids[start : start + _BATCH]
        rows = connection.execute(
            select(r.c.id, r.c.text, q.c.text.label("question"), q.c.references)
            .join_from(r, q, r.c.query_id == q.c.id)
            .where(r.c.id.in_(batch))
        )
        for row in rows:
            texts: dict[Sees, Any] = {
                "question": row.question,
                "response": row.text,
                "reference": row.references[0] if row.references else "",
            }
            tasks[row.id] = {field: texts[field] for field in fields if field in texts}
        if "context" in fields:
            for response, passages in _passages(connection, batch).items():
                tasks[response]["passages"] = passages
    return tasks


def _passages(
    connection: Connection, response_ids: Sequence[int]
) -> dict[int, list[dict[str, str]]]:
    rp, p = table(ResponsePassage), table(Passage)
    passages: dict[int, list[dict[str, str]]] = {response: [] for response in response_ids}
    rows = connection.execute(
        select(rp.c.response_id, p.c.text)
        .join_from(rp, p, rp.c.passage_id == p.c.id)
        .where(rp.c.response_id.in_(response_ids))
        .order_by(rp.c.response_id, rp.c.position)
    )
    for response, text in rows:
        number = len(passages[response]) + 1
        passages[response].append({"title": f"Passage {number}", "text": text})
    return passages
