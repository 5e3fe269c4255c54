"""Values of this channel: their revisions, where they came from, and what raters had seen."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, Subquery, insert, select

from annotate_ui.label_studio import CHANNEL, reasons
from annotate_ui.label_studio.annotations import Annotation, InvalidValue
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.results import Pulled, Rejection
from annotate_ui.label_studio.slots import Slot
from annotate_ui.tasks.stages import in_order
from study.facts.counted_marks import newest_marks
from study.facts.ratings import newest_ratings
from study.schema import RaterAnswerBase
from study.schema.human_ratings import AnswerKind
from study.schema.tables import (
    assignments,
    rater_answers,
    raters,
    ratings,
    rejected_values,
    responses,
    reveals,
    sentence_marks,
)
from study.study import Study
from study.types import Sees

# The server sets both times of an annotation that was never edited this close to each other.
_SAME_MOMENT = timedelta(seconds=2)


class _Shown(NamedTuple):
    """A stage that was shown to a rater."""

    slot: int
    stage: int
    repeat: int
    at: datetime
    fields: Sequence[Sees]


class Reveals:
    """Everything that was shown to raters on any channel, by rater and query."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._shown: dict[tuple[int | None, int], list[_Shown]] = defaultdict(list)
        t, a = reveals, assignments
        columns = t.c.assignment_id, t.c.stage, a.c.repeat, t.c.created_at, t.c.fields
        rows = connection.execute(
            select(a.c.rater_id, responses.c.query_id, *columns)
            .join_from(t, a, t.c.assignment_id == a.c.id)
            .join(responses, a.c.response_id == responses.c.id)
        )
        for rater, query, *shown in rows:
            self._shown[rater, query].append(_Shown(*shown))

    def add(self, filled: Sequence[tuple[Slot, StoredProject, Annotation]]) -> None:
        """Store that the slots' stages were shown to their raters; each is stored once."""
        stored = {(shown.slot, shown.stage) for some in self._shown.values() for shown in some}
        new: list[dict[str, Any]] = []
        for slot, project, annotation in filled:
            if (slot.id, project.stage) not in stored:
                stored.add((slot.id, project.stage))
                at, fields = _shown_at(annotation), list(project.fields)
                shown = _Shown(slot.id, project.stage, slot.repeat, at, fields)
                self._shown[slot.rater_id, slot.query_id].append(shown)
                place = {"assignment_id": slot.id, "stage": project.stage}
                new.append({**place, "fields": fields, "created_at": at})
        if new:
            self._connection.execute(insert(reveals), new)

    def at(self, slot: Slot, time: datetime, project: StoredProject) -> dict[str, Any]:
        """Return what the slot's rater had seen of its query when an annotation was last changed.

        The rater saw the fields of the project, which study.toml may have changed since.
        """
        before = [
            shown
            for shown in self._shown[slot.rater_id, slot.query_id]
            if shown.at <= time and shown.slot != slot.id
        ]
        fields = {field for shown in before for field in shown.fields}.union(project.fields)
        later = (s.stage > project.stage and s.repeat == slot.repeat for s in before)
        return {
            "revealed": list(in_order(fields)),
            "after_reveal": any(later),
            "seen_more": not fields.issubset(project.fields),
        }


def _shown_at(annotation: Annotation) -> datetime:
    """Return when a task was opened, or submitted if that is unknown: an edit adds to its time."""
    edited = annotation.updated - annotation.created > _SAME_MOMENT
    if annotation.lead_seconds is None or edited or annotation.lead_seconds > 86_400:
        return annotation.created
    return annotation.created - timedelta(seconds=annotation.lead_seconds)


# Rows are written in batches of this size, which bounds memory.
_BATCH = 2000


class _Values(NamedTuple):
    """Answers of one kind, of which each change is the next revision."""

    kind: AnswerKind
    table: Subquery
    newest: Callable[..., Subquery]
    content: tuple[str, ...]
    """Columns in which revisions differ.

    The annotation is one of them: it identifies the rater once their account is deleted.
    """


_ALWAYS = ("construct_version", "external_id")
_OF_VALUE = (*_ALWAYS, "value", "status", "reason", "comment")
RATINGS = _Values("value", ratings, newest_ratings, (*_OF_VALUE, "flags"))
MARKS = _Values("marks", sentence_marks, newest_marks, (*_ALWAYS, "ranges"))
# What a withdrawn revision has of the one before.
_KEPT = ("construct_version", "revealed", "after_reveal", "seen_more", "external_id", "rules_hash")


class Revisions:
    """The values of one table as they were before a pull, and the revisions that it adds.

    A pull adds at most one revision for each construct of a slot.
    """

    def __init__(
        self, connection: Connection, study: Study, result: Pulled, values: _Values
    ) -> None:
        self._connection, self._study, self._result = connection, study, result
        self._values = values
        self._rows: list[dict[str, Any]] = []
        self._versions = study.construct_versions(connection)
        owners = select(assignments.c.id).where(assignments.c.channel == CHANNEL)
        mine = values.table.c.assignment_id.in_(owners)
        newest: Any = connection.execute(select(values.newest(mine)))
        self.newest = {(row.assignment_id, row.construct_key): row for row in newest}
        """By assignment and construct."""

    def active(self, slot: Slot | None) -> set[str]:
        """Return the constructs of a slot with a value that was not withdrawn."""
        keys = () if slot is None else slot.construct_keys
        return {key for key in keys if slot and is_active(self.newest.get((slot.id, key)))}

    def add(
        self, slot: Slot, key: str, project: StoredProject, annotation: Annotation, **values: Any
    ) -> None:
        """Add a value of an annotation, unless the newest revision has the same content."""
        if "value" in values:
            values["status"] = "skipped" if annotation.skipped else "rated"
            values["reason"] = reasons.SKIPPED if annotation.skipped else None
        row = {
            "wall_seconds": annotation.lead_seconds,
            "external_id": origin(project, annotation.number),
            "external_at": annotation.updated,
            "channel": CHANNEL,
            **values,
        }
        outdated = row["construct_version"] != self._versions.get(key, row["construct_version"])
        self._result.outdated += outdated and values.get("value") is not None
        self._write(slot.id, key, row)

    def withdraw(
        self, slot: Slot, keys: Collection[str | None], reason: str, at: datetime | None = None
    ) -> None:
        """Withdraw the values of these constructs, which are no longer in Label Studio."""
        for key in sorted(self.active(slot).intersection(keys)):
            previous = self.newest[slot.id, key]
            row = {name: getattr(previous, name) for name in _KEPT if hasattr(previous, name)}
            row |= {"status": "withdrawn", "reason": reason}
            self._write(slot.id, key, {**row, "external_at": at})

    def _write(self, owner: int, key: str, values: dict[str, Any]) -> None:
        previous = self.newest.get((owner, key))
        common = {"construct_key": key, "input_kind": CHANNEL, "channel": CHANNEL}
        row = RaterAnswerBase.model_validate({**common, "kind": self._values.kind, **values})
        if previous is not None and self._content(previous) == self._content(row):
            self._result.unchanged += self._values is not MARKS
            return
        self._count(values.get("status"), is_new=previous is None)
        self._rows.append(
            {
                **row.model_dump(),
                "construct_key": key,
                "revision": 1 if previous is None else previous.revision + 1,
                "assignment_id": owner,
                "config_hash": self._study.config_hash,
            }
        )
        if len(self._rows) >= _BATCH:
            self.flush()

    def _count(self, status: str | None, *, is_new: bool) -> None:
        result = self._result
        if self._values is MARKS:
            result.marks += 1
        elif status == "withdrawn":
            result.withdrawn += 1
        else:
            result.new += is_new
            result.changed += not is_new
            result.skipped += status == "skipped"

    def _content(self, row: Any) -> str:
        return json.dumps([getattr(row, name) for name in self._values.content])

    def flush(self) -> None:
        """Write the rows that are still in memory."""
        if self._rows:
            self._connection.execute(insert(rater_answers), self._rows)
            self._rows = []


def is_active(row: Any) -> bool:
    """Whether a revision is a value that was not withdrawn."""
    if row is None:
        return False
    return row.status != "withdrawn" if hasattr(row, "status") else row.ranges is not None


def origin(project: StoredProject, annotation: int) -> str:
    """Return the `external_id` of a value: the study's number of the project, the annotation's.

    Numbers of projects in Label Studio are unique within one server only.
    """
    return f"{project.id}/{annotation}"


def project_of(external_id: str | None) -> int | None:
    """Return the study's number of the project of a value; None: it was not pulled, or erased."""
    project, slash, _ = (external_id or "").partition("/")
    return int(project) if slash and project.isdigit() else None


class Origins:
    """Which annotation each value came from that was stored before this pull."""

    def __init__(self, connection: Connection) -> None:
        self._projects: dict[int, int] = {}
        self._raters: dict[str, int] = {}
        self._rejected: dict[tuple[int | None, int | None], int] = {}
        for row in connection.execute(select(rejected_values)):
            self._rejected[row.rater_id, row.response_id] = row.project_id
            if row.external_id is not None and row.rater_id is not None:
                self._raters[f"{row.project_id}/{row.external_id}"] = row.rater_id
        t = rater_answers
        rows = connection.execute(
            select(t.c.external_id, assignments.c.id, assignments.c.rater_id)
            .join_from(t, assignments, t.c.assignment_id == assignments.c.id)
            .where(assignments.c.channel == CHANNEL, t.c.channel == CHANNEL)
            .order_by(t.c.id)
        )
        for external_id, slot, rater in rows:
            project = project_of(external_id)
            if project is not None:
                self._projects[slot] = project
                if rater is not None:
                    self._raters[external_id] = rater

    def rater(self, project: StoredProject, annotation: int) -> int | None:
        """Return the rater of an annotation that was pulled before."""
        return self._raters.get(origin(project, annotation))

    def project(self, slot: Slot) -> int | None:
        """Return the project that a slot's values came from."""
        return self._projects.get(slot.id) or self._rejected.get((slot.rater_id, slot.response_id))


class RejectedValues:
    """The rejected values of one pull."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: dict[tuple[int, str], dict[str, Any]] = {}
        self._doubtful: list[dict[str, Any]] = []

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

    def doubt(
        self, annotation: Annotation, rater: int | None, response: int, key: str, value: float
    ) -> None:
        """Report a value that is stored and was perhaps not meant."""
        row = {"rater_id": rater, "response_id": response, "construct_key": key}
        row |= {"value": f"{value:g}", "reason": f"perhaps {value / 10:g}"}
        self._doubtful.append({**row, "external_id": annotation.number})

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

        def reported(row: dict[str, Any]) -> Rejection:
            number = row["external_id"]
            return Rejection(
                codes.get(row["rater_id"]),
                keys.get(row["response_id"]),
                row["construct_key"],
                row["value"],
                row["reason"],
                None if number is None else int(number),
            )

        result.rejected_new = len(new)
        result.rejected = [reported(row) for row in self._rows.values()]
        result.doubtful = [reported(row) for row in self._doubtful]
