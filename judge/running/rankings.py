"""Metrics of rankings, with the study's rankings and a file of relevance judgments."""

import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from sqlalchemy import select

from judge.engines.encoders.transformer_model import short_name
from judge.metrics.relevance_judgments import Relevance, read_relevance
from judge.metrics.retrieval import Retrieval
from study.errors import StudyError
from study.schema.tables import queries, response_passages
from study.study import Study


def retrieval_metrics(
    study: Study,
    keys: Sequence[str],
    path: Path | None,
    grades: Mapping[str, float] | None = None,
) -> list[Retrieval]:
    """Return the metrics of these keys on the judgments of a file; `grades` are those of words.

    Raises
    ------
    InputError
        With all faults of the file.
    StudyError
        No file is given, or it names no query of the study.
    """
    if path is None:
        raise StudyError(f"{keys[0]} needs relevance judgments: name their file with --qrels FILE.")
    judged = read_relevance(path, grades)
    documents: dict[int, list[str | None]] = {}
    with study.read() as connection:
        named = connection.execute(select(queries.c.key, queries.c.id).order_by(queries.c.id))
        ids = {row.key: row.id for row in named}
        rows = connection.execute(
            select(response_passages.c.response_id, response_passages.c.document).order_by(
                response_passages.c.response_id, response_passages.c.position
            )
        )
        for response, document in rows:
            documents.setdefault(response, []).append(document)
    relevance = {ids[query]: grades for query, grades in judged.items() if query in ids}
    if not relevance:
        raise StudyError(
            f"{path} judges no query of the study; its queries are named like "
            f"{next(iter(judged))!r}, those of the study like {next(iter(ids), None)!r}."
        )
    identity = f"qrels sha256:{_digest(judged, ids)}"
    source = short_name(path.stem, identity)
    return [Retrieval(key, documents, relevance, source, identity) for key in keys]


def _digest(judged: Relevance, queries: Collection[str]) -> str:
    """Return the hash of the judgments on queries of the study, whatever their order and format."""
    used = {query: grades for query, grades in judged.items() if query in queries}
    return sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()
