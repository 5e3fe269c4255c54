"""Ratings written straight into a study's tables, as the rating pages would have left them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import insert

from study import Study
from study.schema import (
    Assignment,
    AssignmentBase,
    Noun,
    Output,
    Query,
    Rater,
    RaterAnswer,
    RaterAnswerBase,
    RaterBase,
    Response,
    table,
)
from study.schema.human_ratings import Status


@dataclass(frozen=True)
class Rated:
    """A revision: its value, or the status in its place."""

    answer: float | str
    after_reveal: bool = False
    late: bool = False
    at: datetime | None = None


def add(study: Study, noun: type[Noun], *rows: dict[str, Any]) -> list[int]:
    """Insert rows; return their ids."""
    t = table(noun)
    with study.write() as connection:
        return [
            connection.execute(insert(t).values(**r).returning(t.c.id)).scalar_one() for r in rows
        ]


def add_responses(study: Study, queries: int = 1, systems: Sequence[str] = ("A",)) -> list[int]:
    """A response of each system to each query, named r0, r1, ...; return their ids."""
    ids = []
    for q in range(queries):
        query = {"key": f"q{q}", "text": f"?{q}", "references": ["!"], "attributes": {}}
        (query_id,) = add(study, Query, query)
        for s, system in enumerate(systems):
            number = q * len(systems) + s
            content = {"query_id": query_id, "version": 1, "context_hash": None}
            (response,) = add(
                study,
                Response,
                {
                    **content,
                    "key": f"r{number}",
                    "text": "x",
                    "content_hash": f"{number:016}".encode(),
                },
            )
            output = {"query_id": query_id, "system": system, "revision": 1}
            add(study, Output, {**output, "response_id": response})
            ids.append(response)
    return ids


def add_rater(study: Study, code: str) -> int:
    """A rater; return their id."""
    return add(study, Rater, RaterBase(code=code).model_dump())[0]


def add_assignment(
    study: Study, rater: int | None, response: int, keys: Iterable[str], **other: Any
) -> int:
    """An assignment; return its id."""
    named = {
        name: other.pop(name)
        for name in ("leased_until", "replaces_id", "released_at")
        if name in other
    }
    noun = AssignmentBase(construct_keys=list(keys), **other)
    row = noun.model_dump() | named | {"rater_id": rater, "response_id": response}
    row["config_hash"] = "x"
    return add(study, Assignment, row)[0]


def add_ratings(
    study: Study, assignment: int, key: str, revisions: Iterable[Rated | float | str], **other: Any
) -> None:
    """Revisions of a construct's rating, in order."""
    rows = []
    for number, revision in enumerate(revisions, start=1):
        rated = revision if isinstance(revision, Rated) else Rated(revision)
        status, value = (
            (rated.answer, None) if isinstance(rated.answer, str) else ("rated", rated.answer)
        )
        noun = RaterAnswerBase(
            construct_key=key,
            revision=number,
            value=value,
            status=cast(Status, status),
            after_reveal=rated.after_reveal,
            late=rated.late,
            rules_hash="told",
            **other,
        )
        at = {} if rated.at is None else {"created_at": rated.at}
        rows.append({**noun.model_dump(), **at, "assignment_id": assignment, "config_hash": "x"})
    add(study, RaterAnswer, *rows)
