"""Results of push and pull, and the values that were rejected."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio.annotations import Annotation, InvalidValue, UnreadableAnnotation
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.task_data import Shown
from study.schema.tables import raters, rejected_values


@dataclass(frozen=True)
class PushedProject:
    """A project that tasks were sent to."""

    number: int
    url: str
    stage: int
    constructs: tuple[str, ...]
    overlap: int
    is_new: bool
    tasks: int
    """Tasks that it has now."""


@dataclass
class Pushed:
    """The result of a push."""

    server: str
    projects: list[PushedProject] = field(default_factory=list)
    """Projects that tasks were added to."""
    tasks: int = 0
    """Tasks that were added."""
    existing: int = 0
    """Tasks that had been added before."""
    adopted: int = 0
    """Of the added tasks, those that an interrupted push had sent."""
    duplicates: int = 0
    """Unrated tasks that were on the server twice and were deleted."""
    deleted: int = 0
    """Tasks that were deleted in Label Studio; unrated ones are sent again."""
    replaced: int = 0
    """Untouched tasks of an earlier version of a construct that were replaced."""
    outdated: int = 0
    """Rated tasks of an earlier version of a construct, which stay."""
    unknown_projects: list[int] = field(default_factory=list)
    """Projects that were made for this study but are not stored in it."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects of the study that are no longer on the server; unrated tasks are sent again."""
    blocked: int = 0
    """Places of tasks occupied by people whose value cannot count; further tasks replace them."""
    waiting: int = 0
    """Slots whose task is sent once the earlier stages of their query are rated and pulled."""
    slots: int = 0
    """All slots that are reserved for Label Studio."""
    ignored_settings: list[str] = field(default_factory=list)
    """Settings of [design] in study.toml that do not apply in Label Studio."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Rejection:
    """A value that cannot become a rating, as it is reported."""

    rater: str | None
    response: str | None
    construct: str | None
    value: str | None
    """As JSON."""
    reason: str
    annotation: int | None
    """Its number in Label Studio."""


@dataclass
class Pulled:
    """The result of a pull."""

    server: str
    annotations: int = 0
    """Annotations on the server."""
    drafts: int = 0
    """Drafts on the server, which are not ratings."""
    new: int = 0
    """Values of constructs that were stored for the first time, including skipped ones."""
    changed: int = 0
    """Values that were edited since the last pull."""
    withdrawn: int = 0
    """Values whose annotation was deleted, or changed to an invalid value."""
    skipped: int = 0
    """Of the new and changed values, those of skipped tasks."""
    unchanged: int = 0
    marks: int = 0
    """Sets of marks on sentences that were stored, changed or withdrawn."""
    outdated: int = 0
    """Values of an earlier version of their construct, which the score table leaves out."""
    further: int = 0
    """Annotations of people beyond the planned number of a task, whose values count."""
    edited_by_other: int = 0
    """Annotations that another user than their rater changed last."""
    erased: int = 0
    """Annotations of people who were erased from the study, of which nothing was stored."""
    raters: dict[str, int] = field(default_factory=dict)
    """New raters: code to the user's number."""
    rejected: list[Rejection] = field(default_factory=list)
    """All values on the server that cannot become ratings."""
    rejected_new: int = 0
    """Of the rejected values, those that no earlier pull read."""
    missing_projects: list[int] = field(default_factory=list)
    """Projects of the study that are no longer on the server; their pulled values stay."""
    imported: dict[str, int] = field(default_factory=dict)
    """Queries, responses and other content that came with the tasks of followed projects."""
    kept: int = 0
    """Annotations whose task was changed after they were pulled; their values stay as they were."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Content of followed projects that was not stored, with how often it occurred."""

    @property
    def stored_anything(self) -> bool:
        """Whether the pull wrote anything."""
        return bool(
            self.new
            or self.changed
            or self.withdrawn
            or self.marks
            or self.raters
            or self.rejected_new
            or self.imported
        )

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return asdict(self)


@dataclass
class FetchedProject:
    """A project with its annotations as they are on the server."""

    project: StoredProject
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[UnreadableAnnotation] = field(default_factory=list)
    responses: dict[int, Shown] = field(default_factory=dict)
    """Of a followed project: number of a task to the response that is rated."""
    compared: dict[int, dict[str, int]] = field(default_factory=dict)
    """Number of a task to the responses that are compared, by their name in results."""
    changed: set[int] = field(default_factory=set)
    """Tasks whose texts were changed after annotations of them were pulled."""

    @property
    def by_task(self) -> dict[int, Shown]:
        """Number of a task to what it shows."""
        if self.project.following is not None:
            return self.responses
        return {number: shown for shown, number in self.project.tasks.items()}


class RejectedValues:
    """The rejected values of one pull. Each is stored once; every pull reports all of them."""

    def __init__(self, connection: Connection, response_keys: Mapping[int, str]) -> None:
        self._connection = connection
        self._response_keys = response_keys
        self._rows: dict[tuple[int, str], dict[str, Any]] = {}

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
        content = [
            number,
            response_id,
            rater_id,
            invalid.construct_key,
            invalid.value,
            invalid.reason,
        ]
        digest = sha256(json.dumps(content).encode()).hexdigest()
        self._rows[project.id, digest] = {
            "project_id": project.id,
            "digest": digest,
            "rater_id": rater_id,
            "response_id": response_id,
            "construct_key": invalid.construct_key,
            "value": invalid.value,
            "reason": invalid.reason,
            "external_id": None if number is None else str(number),
            "external_at": None if annotation is None else annotation.updated,
        }

    def store(self, result: Pulled) -> None:
        """Store the values that no earlier pull stored; add all of them to the result."""
        stored = {
            (row.project_id, row.digest)
            for row in self._connection.execute(
                select(rejected_values.c.project_id, rejected_values.c.digest)
            )
        }
        new = [row for key, row in self._rows.items() if key not in stored]
        if new:
            self._connection.execute(insert(rejected_values), new)
        codes = {
            row.id: row.code for row in self._connection.execute(select(raters.c.id, raters.c.code))
        }
        result.rejected_new = len(new)
        result.rejected = [
            Rejection(
                codes.get(row["rater_id"]),
                self._response_keys.get(row["response_id"]),
                row["construct_key"],
                row["value"],
                row["reason"],
                None if row["external_id"] is None else int(row["external_id"]),
            )
            for row in self._rows.values()
        ]
