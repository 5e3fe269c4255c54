"""Values that can't be ratings: each is kept once, as it came, and all are told at every pull."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotation_reader import Annotation, Unfit
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.pull_result import KeptAside, Pulled
from study.schema import Rater, SetAside, table


class Asides:
    """What one pull sets aside; `responses` holds the keys of responses by their numbers."""

    def __init__(self, connection: Connection, responses: Mapping[int, str]) -> None:
        self._connection = connection
        self._responses = responses
        self._rows: dict[tuple[int, str], dict[str, Any]] = {}

    def add(
        self,
        project: StoredProject,
        unfit: Unfit,
        annotation: Annotation | None = None,
        rater_id: int | None = None,
        response_id: int | None = None,
    ) -> None:
        """Set a value aside; without an annotation it is one that can't be read."""
        number = None if annotation is None else annotation.number
        told = [number, response_id, rater_id, unfit.construct_key, unfit.value, unfit.reason]
        digest = sha256(json.dumps(told).encode()).hexdigest()
        self._rows[project.id, digest] = {
            "project_id": project.id,
            "digest": digest,
            "rater_id": rater_id,
            "response_id": response_id,
            "construct_key": unfit.construct_key,
            "value": unfit.value,
            "reason": unfit.reason,
            "external_id": None if number is None else str(number),
            "external_at": None if annotation is None else annotation.updated,
        }

    def store(self, result: Pulled) -> None:
        """Store what no pull before met, and tell everything."""
        s, w = table(SetAside), table(Rater)
        known = {
            (row.project_id, row.digest)
            for row in self._connection.execute(select(s.c.project_id, s.c.digest))
        }
        new = [row for key, row in self._rows.items() if key not in known]
        if new:
            self._connection.execute(insert(s), new)
        codes = {row.id: row.code for row in self._connection.execute(select(w.c.id, w.c.code))}
        result.aside_new = len(new)
        result.aside = [
            KeptAside(
                codes.get(row["rater_id"]),
                self._responses.get(row["response_id"]),
                row["construct_key"],
                row["value"],
                row["reason"],
                None if row["external_id"] is None else int(row["external_id"]),
            )
            for row in self._rows.values()
        ]
