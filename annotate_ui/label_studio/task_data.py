"""Tasks: the responses that they show, their texts, and a name that is the same in every push."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import permutations
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
PAIRS = 4
"""Number of the stage in which pairs are compared, after all stages of the ratings."""
SIDES = ("1", "2")
"""Names of the two responses of a pair in results."""

Shown = tuple[int, ...]
"""What a task is about: the response that is rated, or the first and the second of a pair."""

_BATCH = 500


def study_name(connection: Connection) -> str:
    """Return the random name of the study, which its backups share."""
    return str(connection.execute(select(study_identities.c.public_id)).scalar_one())


def task_names(connection: Connection, stage: int) -> dict[Shown, str]:
    """Return the name of each possible task of a stage, which does not identify a system.

    It depends on the texts: in a study that was restored from an earlier backup, the number of a
    response may belong to another text.
    """
    study = study_name(connection)
    by_query: dict[int, list[Any]] = defaultdict(list)
    for row in _texts(connection):
        by_query[row.query_id].append(row)
    names: dict[Shown, str] = {}
    for answers in by_query.values():
        for rows in permutations(answers, 2 if stage == PAIRS else 1):
            shown = tuple(row.id for row in rows)
            content = tuple(row.content_hash for row in rows)
            text = repr((study, stage, shown, content, rows[0].question, rows[0].references))
            digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
            names[shown] = digest.hexdigest()
    return names


def task_data(
    connection: Connection, tasks: Sequence[Shown], fields: Sequence[Sees]
) -> list[dict[str, Any]]:
    """Return the data of each task: these fields and nothing else."""
    ids = sorted({response for shown in tasks for response in shown})
    texts = {row.id: row for row in _texts(connection, ids)}
    passages = _passages(connection, ids) if "context" in fields else {}
    data = []
    for shown in tasks:
        first = texts[shown[0]]
        of_field: dict[Sees, dict[str, Any]] = {
            "question": {"question": first.question},
            "response": {"response": first.text}
            if len(shown) == 1
            else {f"response_{n}": texts[r].text for n, r in zip(SIDES, shown, strict=True)},
            "context": {"passages": _titled([passages.get(response, []) for response in shown])},
            "reference": {"reference": next(iter(first.references), "")},
        }
        data.append({name: text for field in fields for name, text in of_field[field].items()})
    return data


def _titled(passages: Sequence[list[str]]) -> list[dict[str, str]]:
    """Return the passages of a task with titles: once if the responses of a pair have the same."""
    same = all(texts == passages[0] for texts in passages)
    return [
        {"title": f"Passage {n}" + ("" if same else f" of response {side}"), "text": text}
        for side, texts in enumerate(passages[:1] if same else passages, 1)
        for n, text in enumerate(texts, 1)
    ]


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
