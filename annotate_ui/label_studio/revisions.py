"""Values of this channel: their revisions, where they came from, and what raters had seen."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotations import Annotation, InvalidValue
from annotate_ui.label_studio.projects import StoredProject, TaskKey
from annotate_ui.label_studio.results import Pulled, Rejection
from annotate_ui.label_studio.slots import Slot
from annotate_ui.tasks.stages import in_order
from study.schema import RaterAnswerBase
from study.schema.tables import (
    assignments,
    rater_answers,
    raters,
    rejected_values,
    responses,
    reveals,
)
from study.study import Study
from study.types import Sees

# The server sets both times of an annotation that was never edited this close to each other.
_SAME_MOMENT = timedelta(seconds=2)
# Rows are written in batches of this size, which bounds memory.
_BATCH = 2000
# Columns in which revisions differ. The annotation is one of them: it identifies the rater once
# their account is deleted.
_CONTENT = (
    *("construct_version", "external_id", "value", "ranges", "status", "reason", "comment"),
    "flags",
)
# What a withdrawn revision has of the one before.
_KEPT = ("construct_version", "revealed", "after_reveal", "seen_more", "external_id", "rules_hash")
_READ = {"assignment_id", "construct_key", "kind", "revision", "channel", *_CONTENT, *_KEPT}


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
                at, fields, lead = annotation.created, list(project.fields), annotation.lead_seconds
                # When the task was opened, or submitted if that is unknown: an edit adds to it.
                edited = annotation.updated - at > _SAME_MOMENT
                if lead is not None and lead <= 86_400 and not edited:
                    at -= timedelta(seconds=lead)
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


class EarlierAnswers:
    """Values and marks of this channel as they are stored, and where they came from."""

    def __init__(self, connection: Connection) -> None:
        self.newest: dict[tuple[int, str, str], Any] = {}
        """The newest revisions by assignment, construct and kind."""
        self._raters: dict[str, int] = {}
        self._projects: dict[int, int] = {}
        self._rejected: dict[tuple[int | None, int | None], int] = {}
        self.digests: set[tuple[int, str]] = set()
        """Projects and digests of values that were rejected."""
        t, a = rater_answers, assignments
        for row in connection.execute(select(rejected_values)):
            self.digests.add((row.project_id, row.digest))
            self._rejected[row.rater_id, row.response_id] = row.project_id
            if row.external_id is not None and row.rater_id is not None:
                self._raters[f"{row.project_id}/{row.external_id}"] = row.rater_id
        rows: Any = connection.execute(
            select(*(t.c[name] for name in _READ), a.c.rater_id)
            .join_from(t, a, t.c.assignment_id == a.c.id)
            .where(a.c.channel == CHANNEL, t.c.kind.in_(["value", "marks"]))
            .order_by(t.c.id)
        )
        for row in rows:
            self.newest[row.assignment_id, row.construct_key, row.kind] = row
            project, slash, _ = (row.external_id or "").partition("/")
            if slash and row.channel == CHANNEL:
                self._projects[row.assignment_id] = int(project)
                if row.rater_id is not None:
                    self._raters[row.external_id] = row.rater_id

    def rater(self, project: StoredProject, annotation: int) -> int | None:
        """Return the rater of an annotation that was pulled before."""
        return self._raters.get(_origin(project, annotation))

    def project(self, slot: Slot) -> int | None:
        """Return the project that a slot's values came from."""
        return self._projects.get(slot.id) or self._rejected.get((slot.rater_id, slot.response_id))

    def is_rated(self, slot: Slot) -> bool:
        """Whether a slot was rated, according to what was pulled.

        One with a rejected value counts as rated, one whose values were withdrawn does not.
        """
        values = [self.newest.get((slot.id, key, "value")) for key in slot.construct_keys]
        if any(values):
            return bool(self.active(slot))
        return slot.rater_id is not None and (slot.rater_id, slot.response_id) in self._rejected

    def active(self, slot: Slot | None, kind: str = "value") -> set[str]:
        """Return the constructs of a slot with an answer that was not withdrawn."""
        keys = () if slot is None else slot.construct_keys
        rows = {key: slot and self.newest.get((slot.id, key, kind)) for key in keys}
        return {key for key, row in rows.items() if row and row.status != "withdrawn"}


@dataclass(frozen=True)
class LocatedAnnotation:
    """An annotation with the response of its task, and its rater."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """The response that is rated; None: the task is not the study's."""
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


class Revisions(EarlierAnswers):
    """What a pull adds: at most one revision of each kind for each construct of a slot, and the
    values that are rejected."""

    def __init__(self, connection: Connection, study: Study, result: Pulled) -> None:
        super().__init__(connection)
        self._connection, self._study, self._result = connection, study, result
        self._rows: list[dict[str, Any]] = []
        self._rejects: dict[tuple[int, str], dict[str, Any]] = {}
        self._doubtful: list[dict[str, Any]] = []
        self._versions = study.construct_versions(connection)

    def add(self, slot: Slot, located: LocatedAnnotation, values: Mapping[str, Any]) -> None:
        """Add an answer of an annotation, unless the newest revision has the same content."""
        version, annotation = values["construct_version"], located.annotation
        outdated = version != self._versions.get(values["construct_key"], version)
        self._result.outdated += outdated and values.get("value") is not None
        origin = {
            "wall_seconds": annotation.lead_seconds,
            "external_id": _origin(located.project, annotation.number),
            "external_at": annotation.updated,
        }
        self._write(slot.id, {**values, **origin})

    def reject(self, located: LocatedAnnotation, *values: InvalidValue) -> None:
        """Add values of an annotation that cannot become ratings."""
        project, annotation = located.project.id, located.annotation
        for invalid in values:
            value: dict[str, Any] = {"response_id": located.response_id}
            value |= {"rater_id": located.rater_id, **asdict(invalid)}
            identity = json.dumps([annotation.number, *value.values()])
            digest = sha256(identity.encode()).hexdigest()
            origin = {"external_id": str(annotation.number), "external_at": annotation.updated}
            value |= {"project_id": project, "digest": digest}
            self._rejects[project, digest] = {**value, **origin}

    def doubt(self, located: LocatedAnnotation, key: str, value: float) -> None:
        """Report a value that is stored and was perhaps not meant."""
        row: dict[str, Any] = {"rater_id": located.rater_id, "response_id": located.response_id}
        row |= {"construct_key": key, "value": f"{value:g}", "reason": f"perhaps {value / 10:g}"}
        self._doubtful.append({**row, "external_id": located.annotation.number})

    def withdraw(
        self,
        slot: Slot,
        kind: str,
        keys: Collection[str | None],
        reason: str,
        at: datetime | None = None,
    ) -> None:
        """Withdraw the answers on these constructs, which are no longer in Label Studio."""
        for key in sorted(self.active(slot, kind).intersection(keys)):
            previous = self.newest[slot.id, key, kind]
            row = {name: getattr(previous, name) for name in _KEPT}
            row |= {"kind": kind, "construct_key": key, "status": "withdrawn", "reason": reason}
            self._write(slot.id, {**row, "external_at": at})

    def _write(self, slot: int, values: Mapping[str, Any]) -> None:
        row = RaterAnswerBase.model_validate({"input_kind": CHANNEL, "channel": CHANNEL, **values})
        previous = self.newest.get((slot, row.construct_key, row.kind))
        if previous is not None and _content(previous) == _content(row):
            self._result.unchanged += row.kind == "value"
            return
        result, is_new = self._result, previous is None
        if row.kind == "marks":
            result.marks += 1
        elif row.status == "withdrawn":
            result.withdrawn += 1
        else:
            result.new, result.changed = result.new + is_new, result.changed + (not is_new)
            result.skipped += row.status == "skipped"
        place = {"assignment_id": slot, "config_hash": self._study.config_hash}
        revision = 1 if previous is None else previous.revision + 1
        self._rows.append({**row.model_dump(), **place, "revision": revision})
        if len(self._rows) == _BATCH:
            self._connection.execute(insert(rater_answers), self._rows)
            self._rows = []

    def flush(self) -> None:
        """Write everything, of the rejected values those that no earlier pull stored."""
        new = [row for key, row in self._rejects.items() if key not in self.digests]
        for table, rows in ((rater_answers, self._rows), (rejected_values, new)):
            if rows:
                self._connection.execute(insert(table), rows)
        people = self._connection.execute(select(raters.c.id, raters.c.code))
        codes = {row.id: row.code for row in people}
        rated = self._connection.execute(select(responses.c.id, responses.c.key))
        keys = {row.id: row.key for row in rated}

        def reported(row: dict[str, Any]) -> Rejection:
            place = codes.get(row["rater_id"]), keys.get(row["response_id"])
            what = row["construct_key"], row["value"], row["reason"]
            return Rejection(*place, *what, int(row["external_id"]))

        self._result.rejected_new = len(new)
        self._result.rejected = [reported(row) for row in self._rejects.values()]
        self._result.doubtful = [reported(row) for row in self._doubtful]


def _content(row: Any) -> str:
    return json.dumps([getattr(row, name) for name in _CONTENT])


def _origin(project: StoredProject, annotation: int) -> str:
    """Return the `external_id` of a value: the study's number of the project, the annotation's.

    Numbers of projects in Label Studio are unique within one server only.
    """
    return f"{project.id}/{annotation}"
