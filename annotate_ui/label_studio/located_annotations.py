"""Annotations with what their task shows and who gave them; values that are rejected."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotations import Annotation, InvalidValue, UnreadableAnnotation
from annotate_ui.label_studio.projects import StoredProject, TaskKey
from annotate_ui.label_studio.results import Pulled, Rejection
from annotate_ui.label_studio.task_data import task_names
from study.schema.tables import raters, rejected_values, responses


@dataclass
class FetchedProject:
    """A project with its annotations as they are on the server."""

    project: StoredProject
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[UnreadableAnnotation] = field(default_factory=list)

    @property
    def by_task(self) -> dict[int, int]:
        """Number of a task to its response."""
        return {number: response for response, number in self.project.tasks.items()}


class LocatedAnnotation(NamedTuple):
    """An annotation with the response of its task, and its rater."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """The response that is rated; None: there is none, or the task is not the study's."""
    rater_id: int | None
    """None: erased from the study, or the account was deleted in Label Studio."""

    @property
    def task_key(self) -> TaskKey:
        """The response of the task and what it asks for."""
        return self.response_id or 0, self.project.construct_keys

    @property
    def rating_key(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count; several users may be one rater."""
        return self.rater_id, self.task_key, None if self.response_id else self.annotation.task

    @property
    def recency(self) -> tuple[Any, int]:
        """Greater for a later annotation."""
        return self.annotation.updated, self.annotation.number


def locate(
    connection: Connection,
    projects: Sequence[FetchedProject],
    rater_of: Callable[[StoredProject, Annotation], int | None],
) -> list[LocatedAnnotation]:
    """Return every annotation with the response of its task and its rater, in the order of rating.

    Tasks of pushed projects are found by name: an interrupted push may have sent tasks without
    storing their numbers, and Label Studio reuses the numbers of deleted tasks.
    """
    names: dict[int, dict[str, int]] = {}
    found: list[tuple[StoredProject, Annotation, int | None]] = []
    for fetched in projects:
        project = fetched.project
        if project.stage not in names:
            by_response = task_names(connection, project.stage)
            names[project.stage] = {name: response for response, name in by_response.items()}
        for annotation in fetched.annotations:
            response = names[project.stage].get(annotation.name or "")
            found.append((project, annotation, response))
    # Raters are looked up in this order, so that new ones are added in the order of rating.
    found.sort(key=lambda row: (row[1].created, row[1].number))
    return [LocatedAnnotation(*row, rater_of(*row[:2])) for row in found]


def latest(annotations: Sequence[LocatedAnnotation]) -> dict[Any, LocatedAnnotation]:
    """Return the annotations that count: the latest of each rater and task, by `rating_key`."""
    newest: dict[Any, LocatedAnnotation] = {}
    for located in annotations:
        previous = newest.get(located.rating_key)
        if previous is None or previous.recency < located.recency:
            newest[located.rating_key] = located
    return newest


class RejectedValues:
    """The rejected values of one pull."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: dict[tuple[int, str], dict[str, Any]] = {}
        self._doubtful: list[tuple[LocatedAnnotation, int, str, float]] = []

    def add(
        self,
        project: StoredProject,
        invalid: InvalidValue,
        annotation: Annotation | None = None,
        rater_id: int | None = None,
        response_id: int | None = None,
    ) -> None:
        """Add a value; `annotation` is None for an unreadable one."""
        number = None if annotation is None else annotation.number
        value = {
            "response_id": response_id,
            "rater_id": rater_id,
            "construct_key": invalid.construct_key,
            "value": invalid.value,
            "reason": invalid.reason,
        }
        digest = sha256(json.dumps([number, *value.values()]).encode()).hexdigest()
        self._rows[project.id, digest] = {
            **value,
            "project_id": project.id,
            "digest": digest,
            "external_id": None if number is None else str(number),
            "external_at": None if annotation is None else annotation.updated,
        }

    def doubt(self, located: LocatedAnnotation, rater: int, construct: str, value: float) -> None:
        """Report a value that is stored and was perhaps not meant."""
        self._doubtful.append((located, rater, construct, value))

    def store(self, result: Pulled) -> None:
        """Store the values that no earlier pull stored; add all of them to the result."""
        t = rejected_values
        rows = self._connection.execute(select(t.c.project_id, t.c.digest))
        stored = {(row.project_id, row.digest) for row in rows}
        new = [row for key, row in self._rows.items() if key not in stored]
        if new:
            self._connection.execute(insert(t), new)
        people = self._connection.execute(select(raters.c.id, raters.c.code))
        codes = {row.id: row.code for row in people}
        rated = self._connection.execute(select(responses.c.id, responses.c.key))
        keys = {row.id: row.key for row in rated}
        result.rejected_new = len(new)
        result.rejected = [
            Rejection(
                codes.get(row["rater_id"]),
                keys.get(row["response_id"]),
                row["construct_key"],
                row["value"],
                row["reason"],
                None if row["external_id"] is None else int(row["external_id"]),
            )
            for row in self._rows.values()
        ]
        result.doubtful = [
            Rejection(
                codes.get(rater),
                keys.get(located.response_id),
                construct,
                f"{value:g}",
                f"perhaps {value / 10:g}",
                located.annotation.number,
            )
            for located, rater, construct, value in self._doubtful
        ]
