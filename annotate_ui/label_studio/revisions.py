"""Ratings of this channel: their newest revisions, where they came from, and writing new ones."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, null, select

from annotate_ui.label_studio import CHANNEL, FOLLOWED
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import Pulled
from study.facts.ratings import newest_ratings
from study.schema import RatingBase
from study.schema.tables import (
    assignments,
    decisions,
    ratings,
    rejected_values,
    sentence_marks,
)
from study.study import Study

# Rows are written in batches of this size, which bounds memory.
_BATCH = 2000


class Revisions:
    """The ratings of this channel as they were before a pull, and the revisions that it adds.

    A pull adds at most one revision for each construct of a slot.
    """

    def __init__(self, connection: Connection, study: Study, result: Pulled, channel: str) -> None:
        self._connection, self._study, self._result = connection, study, result
        self._rows: list[dict[str, Any]] = []
        self._versions = study.construct_versions(connection)
        self.newest = ratings_of_channel(connection, channel)
        """By slot and construct, with the rater."""

    def active_constructs(self, slot: Slot) -> set[str]:
        """Return the constructs of a slot with a rating that was not withdrawn."""
        return {
            key
            for key in slot.construct_keys
            if (row := self.newest.get((slot.id, key))) is not None and row.answered
        }

    def add(self, slot: Slot, row: RatingBase) -> None:
        """Add a revision, unless the newest one has the same content."""
        previous = self.newest.get((slot.id, row.construct_key))
        version = self._versions.get(row.construct_key, row.construct_version)
        self._result.outdated += row.status == "rated" and row.construct_version != version
        if previous is not None and _content(previous) == _content(row):
            self._result.unchanged += 1
            return
        if previous is None:
            self._result.new += 1
        else:
            self._result.changed += 1
        self._result.skipped += row.status == "skipped"
        self._write(slot, row, 0 if previous is None else previous.revision)

    def withdraw(
        self,
        slot: Slot,
        construct_keys: Iterable[str],
        reason: str,
        annotation: Annotation | None = None,
    ) -> None:
        """Withdraw the ratings of these constructs, which are no longer in Label Studio."""
        for key in construct_keys:
            previous = self.newest.get((slot.id, key))
            if previous is None or not previous.answered:
                continue
            self._result.withdrawn += 1
            row = RatingBase(
                construct_key=key,
                construct_version=previous.construct_version,
                status="withdrawn",
                reason=reason,
                input_kind=CHANNEL,
                revealed=list(previous.revealed),
                after_reveal=previous.after_reveal,
                seen_more=previous.seen_more,
                channel=CHANNEL,
                external_id=previous.external_id,
                external_at=None if annotation is None else annotation.updated,
                rules_hash=previous.rules_hash,
            )
            self._write(slot, row, previous.revision)

    def _write(self, slot: Slot, row: RatingBase, revision: int) -> None:
        self._rows.append(
            {
                **row.model_dump(),
                "revision": revision + 1,
                "assignment_id": slot.id,
                "config_hash": self._study.config_hash,
            }
        )
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are still in memory."""
        if self._rows:
            self._connection.execute(insert(ratings), self._rows)
            self._rows = []


def ratings_of_channel(
    connection: Connection, channel: str = CHANNEL
) -> dict[tuple[int, str], Any]:
    """Return the newest revision of each rating of this channel, with its rater."""
    newest = newest_ratings(
        ratings.c.assignment_id.in_(
            select(assignments.c.id).where(assignments.c.channel == channel)
        )
    )
    rows: Any = connection.execute(
        select(newest, assignments.c.rater_id)
        .join_from(newest, assignments, newest.c.assignment_id == assignments.c.id)
        .order_by(newest.c.id)
    )
    return {(row.assignment_id, row.construct_key): row for row in rows}


def _content(rating: Any) -> tuple[Any, ...]:
    return (
        rating.construct_version,
        rating.value,
        rating.status,
        rating.reason,
        rating.comment,
        tuple(rating.flags),
        # The same value in another annotation is a change: the annotation identifies the rater
        # once their account is deleted.
        rating.external_id,
    )


def origin(project: StoredProject, annotation: int) -> str:
    """Return the `external_id` of a rating: the study's number of the project, the annotation's.

    Numbers of projects in Label Studio are unique within one server only.
    """
    return f"{project.id}/{annotation}"


class EarlierPull(NamedTuple):
    """What an annotation was pulled with."""

    response: int | None
    """None: it compared responses."""
    at: datetime


class Origins:
    """The project and rater of each value that was stored before this pull."""

    def __init__(self, connection: Connection, newest: Iterable[Any]) -> None:
        self._projects: dict[int, int] = {}
        self._raters = _raters(connection)
        self._connection = connection
        for row in newest:
            if row.external_id is None:
                continue  # Erasing a person removes it.
            project, slash, _ = row.external_id.partition("/")
            if slash and project.isdigit():
                self._projects[row.assignment_id] = int(project)
        self._rejected = {
            (row.rater_id, row.response_id): row.project_id
            for row in connection.execute(
                select(
                    rejected_values.c.rater_id,
                    rejected_values.c.response_id,
                    rejected_values.c.project_id,
                )
            )
        }

    def rater(self, project: StoredProject, annotation: int) -> int | None:
        """Return the rater of an annotation that was pulled before."""
        return self._raters.get(origin(project, annotation))

    def response(self, project: StoredProject, annotation: Annotation) -> EarlierPull | None:
        """Return what an annotation was pulled with before; None: it was not.

        Label Studio reuses the numbers of deleted annotations: one that was created later than
        what was pulled is another one.
        """
        before = self._pulled.get(origin(project, annotation.number))
        return None if before is None or annotation.created > before.at else before

    @cached_property
    def _pulled(self) -> dict[str, EarlierPull]:
        rated = select(
            ratings.c.external_id, ratings.c.external_at, assignments.c.response_id
        ).join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
        compared = select(decisions.c.external_id, decisions.c.external_at, null())
        rated = rated.where(assignments.c.channel == FOLLOWED)
        marked = select(
            sentence_marks.c.external_id, sentence_marks.c.external_at, assignments.c.response_id
        ).join_from(sentence_marks, assignments, sentence_marks.c.assignment_id == assignments.c.id)
        marked = marked.where(assignments.c.channel == FOLLOWED)
        return {
            external_id: EarlierPull(response, at)
            for statement in (compared, marked, rated)
            for external_id, at, response in self._connection.execute(statement)
            if external_id is not None and at is not None
        }

    def project(self, slot: Slot) -> int | None:
        """Return the project that a slot's values came from."""
        number = self._projects.get(slot.id)
        return number or self._rejected.get((slot.rater_id, slot.response_id))


def _raters(connection: Connection) -> dict[str, int]:
    """Return the rater of every annotation with a stored or rejected value."""
    stored = [
        row
        for table in (sentence_marks, ratings)
        for row in connection.execute(
            select(table.c.external_id, assignments.c.rater_id)
            .join_from(table, assignments, table.c.assignment_id == assignments.c.id)
            .where(assignments.c.channel.in_((CHANNEL, FOLLOWED)), table.c.external_id.is_not(None))
            .order_by(table.c.id)
        )
    ]
    rejected = connection.execute(
        select(
            rejected_values.c.project_id, rejected_values.c.external_id, rejected_values.c.rater_id
        ).where(rejected_values.c.external_id.is_not(None), rejected_values.c.rater_id.is_not(None))
    )
    raters = {f"{row.project_id}/{row.external_id}": row.rater_id for row in rejected}
    return raters | {row.external_id: row.rater_id for row in stored if row.rater_id is not None}
