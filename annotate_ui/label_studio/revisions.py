"""Values of this channel: their newest revisions, where they came from, and writing new ones."""

import json
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Subquery, insert, null, select

from annotate_ui.label_studio import CHANNEL, PREFILLED, reasons
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import Pulled
from study.facts.comparison_decisions import newest_decisions
from study.facts.counted_marks import newest_marks
from study.facts.ratings import newest_ratings
from study.schema import RaterAnswerBase
from study.schema.human_ratings import AnswerKind
from study.schema.tables import (
    assignments,
    comparisons,
    decisions,
    rater_answers,
    ratings,
    rejected_values,
    sentence_marks,
)
from study.study import Study

# Rows are written in batches of this size, which bounds memory.
_BATCH = 2000


class _Values(NamedTuple):
    """Answers of one kind, of which each change is the next revision."""

    kind: AnswerKind
    table: Subquery
    owner: str
    """Column with what a value belongs to: an assignment, or a comparison."""
    newest: Callable[..., Subquery]
    content: tuple[str, ...]
    """Columns in which revisions differ.

    The annotation is one of them: it identifies the rater once their account is deleted.
    """


_ALWAYS = ("construct_version", "external_id")
_OF_VALUE = (*_ALWAYS, "value", "status", "reason", "comment")
RATINGS = _Values("value", ratings, "assignment_id", newest_ratings, (*_OF_VALUE, "flags"))
MARKS = _Values("marks", sentence_marks, "assignment_id", newest_marks, (*_ALWAYS, "ranges"))
DECISIONS = _Values("choice", decisions, "comparison_id", newest_decisions, _OF_VALUE)
# What a withdrawn revision has of the one before.
_KEPT = ("construct_version", "revealed", "after_reveal", "seen_more", "external_id", "rules_hash")


class Revisions:
    """The values of one table as they were before a pull, and the revisions that it adds.

    A pull adds at most one revision for each construct of an owner: a slot or a comparison.
    """

    def __init__(
        self,
        connection: Connection,
        study: Study,
        result: Pulled,
        values: _Values,
        channel: str | None = None,
    ) -> None:
        self._connection, self._study, self._result = connection, study, result
        self._values = values
        self._rows: list[dict[str, Any]] = []
        self._versions = study.construct_versions(connection)
        owners = select(assignments.c.id).where(assignments.c.channel == channel)
        conditions = () if channel is None else (values.table.c.assignment_id.in_(owners),)
        newest: Any = connection.execute(select(values.newest(*conditions)))
        self.newest = {(getattr(row, values.owner), row.construct_key): row for row in newest}
        """By owner and construct."""

    def active(self, owner: int, keys: Collection[str]) -> set[str]:
        """Return those of the constructs that have a value which was not withdrawn."""
        return {key for key in keys if is_active(self.newest.get((owner, key)))}

    def add(
        self, owner: int, key: str, project: StoredProject, annotation: Annotation, **values: Any
    ) -> None:
        """Add a value of an annotation, unless the newest revision has the same content."""
        if "value" in values:
            values["status"] = "skipped" if annotation.skipped else "rated"
            values["reason"] = reasons.SKIPPED if annotation.skipped else None
        row = {
            "wall_seconds": annotation.lead_seconds,
            "external_id": origin(project, annotation.number),
            "external_at": annotation.updated,
            "channel": PREFILLED if annotation.prefilled else CHANNEL,
            **values,
        }
        outdated = row["construct_version"] != self._versions.get(key, row["construct_version"])
        self._result.outdated += outdated and values.get("value") is not None
        self._write(owner, key, row)

    def withdraw(
        self, owner: int, keys: Collection[str], reason: str, at: datetime | None = None
    ) -> None:
        """Withdraw the values of these constructs, which are no longer in Label Studio."""
        for key in self.active(owner, keys):
            previous = self.newest[owner, key]
            row = {name: getattr(previous, name) for name in _KEPT if hasattr(previous, name)}
            row |= {"status": "withdrawn", "reason": reason}
            self._write(owner, key, {**row, "external_at": at})

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
                self._values.owner: owner,
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


class EarlierPull(NamedTuple):
    """What an annotation was pulled with."""

    response: int | None
    """None: it compared responses."""
    at: datetime | None


class Origins:
    """Which annotation each value came from that was stored before this pull."""

    def __init__(self, connection: Connection) -> None:
        self._projects: dict[int, int] = {}
        self._raters: dict[str, int] = {}
        self._pulled: dict[str, EarlierPull] = {}
        self._rejected: dict[tuple[int | None, int | None], int] = {}
        for row in connection.execute(select(rejected_values)):
            self._rejected[row.rater_id, row.response_id] = row.project_id
            if row.external_id is not None and row.rater_id is not None:
                self._raters[f"{row.project_id}/{row.external_id}"] = row.rater_id
        for table, owners, response in (
            (decisions, comparisons, null()),
            (sentence_marks, assignments, assignments.c.response_id),
            (ratings, assignments, assignments.c.response_id),
        ):
            owner = table.c.comparison_id if table is decisions else table.c.assignment_id
            rows = connection.execute(
                select(
                    table.c.external_id, table.c.external_at, owners.c.id, owners.c.rater_id,
                    response.label("response"),
                )
                .join_from(table, owners, owner == owners.c.id)
                .where(table.c.channel.in_((CHANNEL, PREFILLED)))
                .order_by(table.c.id)
            )  # fmt: skip
            for external_id, at, of, rater, rated in rows:
                project = project_of(external_id)
                if project is None:
                    continue
                if table is not decisions:
                    self._projects[of] = project
                if rater is not None:
                    self._raters[external_id] = rater
                if at is not None:
                    self._pulled[external_id] = EarlierPull(rated, at)

    def rater(self, project: StoredProject, annotation: int) -> int | None:
        """Return the rater of an annotation that was pulled before."""
        return self._raters.get(origin(project, annotation))

    def response(self, project: StoredProject, annotation: Annotation) -> EarlierPull | None:
        """Return what an annotation was pulled with before; None: it was not.

        Label Studio reuses the numbers of deleted annotations: one that was created later than
        what was pulled is another one.
        """
        before = self._pulled.get(origin(project, annotation.number))
        if before is None or before.at is None or annotation.created > before.at:
            return None
        return before

    def project(self, slot: Slot) -> int | None:
        """Return the project that a slot's values came from."""
        return self._projects.get(slot.id) or self._rejected.get((slot.rater_id, slot.response_id))
