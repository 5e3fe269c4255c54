"""Values that cannot become ratings: stored once with their reason, reported by every pull."""

import json
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotations import Annotation, InvalidValue
from annotate_ui.label_studio.located_annotations import LocatedAnnotation
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.results import Pulled, Rejection
from study.schema.tables import raters, rejected_values, responses


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
