"""Saving an answer: a revision is never lost, stored twice or overwritten.

Ratings, comparisons and marks are saved by one function, `save_within`; a `Payload` is what is
saved and the task that it belongs to.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Protocol

from sqlalchemy import Connection, Row, bindparam, insert, select

from annotate_ui.participation import lock_rater
from annotate_ui.tasks.answers import AnswerInput, StoredAnswer, Submission, as_stored
from annotate_ui.tasks.refusals import InvalidError, KeyReusedError, LeftError, StaleError
from study.facts.departures import has_left
from study.schema import RaterAnswerBase
from study.schema.human_ratings import AnswerKind
from study.schema.tables import rater_answers
from study.settings.constructs import ConstructSpec
from study.study import Study


@dataclass(frozen=True)
class Revision:
    """A revision that is about to be written."""

    columns: Mapping[str, Any]
    """The content, and what all answers have in common, by column."""
    previous: Row[Any] | None
    """The newest revision so far."""


_OWNERS = {"value": "assignment_id", "marks": "assignment_id", "choice": "comparison_id"}

# Built once: building a statement takes longer than running it.
_STORED = {
    kind: select(rater_answers)
    .where(rater_answers.c.kind == kind, rater_answers.c[owner] == bindparam("owner"))
    .where(
        (rater_answers.c.construct_key == bindparam("construct"))
        | (rater_answers.c.idempotency_key == bindparam("key"))
    )
    .order_by(rater_answers.c.revision)
    for kind, owner in _OWNERS.items()
}
_WRITTEN = insert(rater_answers).returning(rater_answers)


class AnswerTarget(ABC):
    """The rating, comparison or set of marks that an answer belongs to, as its rater opened it."""

    KIND: ClassVar[AnswerKind] = "value"
    CONTENT: ClassVar[tuple[str, ...]] = ("value", "status", "reason", "comment")
    """Columns that make two answers the same where they are equal."""

    construct: ConstructSpec
    submission: AnswerInput

    @property
    @abstractmethod
    def owner(self) -> int:
        """Database key of the assignment, or of the comparison of a choice."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a value or flag that is not allowed here, with InvalidError."""

    @abstractmethod
    def circumstances(self, connection: Connection, previous: Row[Any] | None) -> dict[str, Any]:
        """Return what the rater had seen by now, and further columns of the answer."""

    def written(self, connection: Connection, row: RaterAnswerBase) -> None:
        """Do what follows from an answer that was written; here nothing."""
        del connection, row

    def stored(self, connection: Connection) -> Sequence[Row[Any]]:
        """Return the stored revisions and the row under the submission's key, oldest first."""
        key = {"construct": self.submission.construct_key, "key": self.submission.key}
        return connection.execute(_STORED[self.KIND], {"owner": self.owner, **key}).all()

    def insert(self, connection: Connection, revision: Revision) -> Row[Any]:
        """Write a revision with its columns and the target's own; return the row."""
        columns = {**revision.columns, **self.circumstances(connection, revision.previous)}
        fields = RaterAnswerBase.model_fields
        known = {name: value for name, value in columns.items() if name in fields}
        answer = RaterAnswerBase.model_validate({**known, "kind": self.KIND})
        row = {**columns, **answer.model_dump(), _OWNERS[self.KIND]: self.owner}
        stored = connection.execute(_WRITTEN, row).one()
        self.written(connection, answer)
        return stored


class Payload(Protocol):
    """What is saved: a submission, and which task of the rater it answers."""

    @property
    def submission(self) -> AnswerInput:
        """The rater's input."""

    def find(self, connection: Connection, study: Study, rater_id: int) -> AnswerTarget:
        """Return the target, which this rater opened on these pages; else raise NotYoursError."""


def save(study: Study, rater_id: int, payload: Payload) -> StoredAnswer:
    """Store a rater's answer as the next revision, in its own transaction.

    A key that was stored before returns the answer that it stored; content that is already stored
    is not written again.

    Raises
    ------
    NotYoursError
        The page does not exist, or this rater did not open it, or it was taken back.
    LeftError
        The rater has left the study.
    InvalidError
        The construct, value, reason or flag is not allowed here.
    KeyReusedError
        The key was stored with other content.
    StaleError
        The answer has changed since the rater saw it; the error contains the stored answer.
    """
    with study.write() as connection:
        return save_within(connection, study, rater_id, payload)


def save_within(
    connection: Connection, study: Study, rater_id: int, payload: Payload
) -> StoredAnswer:
    """Do what `save` does, within a writing transaction that the caller has opened."""
    lock_rater(connection, rater_id)
    if has_left(connection, rater_id):
        raise LeftError
    submission = payload.submission
    target = payload.find(connection, study, rater_id)
    target.check()
    rows = target.stored(connection)
    revisions = [row for row in rows if row.construct_key == submission.construct_key]
    newest = revisions[-1] if revisions else None
    repeated = next((row for row in rows if row.idempotency_key == submission.key), None)
    if repeated is not None:
        if _request_of(repeated, target.CONTENT) != _request(submission, target.CONTENT):
            raise KeyReusedError("This key was used for another value; enter the value again.")
        return as_stored(repeated)
    version = study.construct_versions(connection)[submission.construct_key]
    if (
        newest is not None
        and newest.construct_version == version
        and _content(newest, target.CONTENT) == _content(submission, target.CONTENT)
    ):
        return as_stored(newest, unchanged=True)
    current = 0 if newest is None else newest.revision
    if submission.base_revision != current:
        raise StaleError(
            "Another value was saved here in the meantime.",
            None if newest is None else as_stored(newest),
        )
    columns = {
        **{name: getattr(submission, name) for name in target.CONTENT},
        "construct_key": submission.construct_key,
        "construct_version": version,
        "revision": current + 1,
        "input_kind": submission.input_kind,
        "active_seconds": submission.active_seconds,
        "wall_seconds": submission.wall_seconds,
        "idempotency_key": submission.key,
        "rules_hash": rules_hash(target.construct),
        "config_hash": study.config_hash,
    }
    return as_stored(target.insert(connection, Revision(columns, newest)))


def rules_hash(spec: ConstructSpec) -> str:
    """Return the SHA-256 of the instructions that a rater reads for a construct."""
    instructions = [spec.question, spec.anchors, spec.rules, spec.flags]
    if spec.comment_question is not None:
        instructions.append(spec.comment_question)
    if spec.mark_question is not None:
        instructions.append(spec.mark_question)
    return sha256(json.dumps(instructions, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def check_status(submission: Submission) -> None:
    """Refuse a value without its status, and the other way around, with InvalidError."""
    rated = submission.status == "rated"
    if rated != (submission.value is not None):
        raise InvalidError("Give a value, or choose that you cannot judge.", "value")
    if submission.status == "skipped" and submission.reason is None:
        raise InvalidError("Give a short reason for skipping.", "reason")
    if rated and submission.reason is not None:
        raise InvalidError("A reason is allowed only without a value.", "reason")


def _content(source: Row[Any] | AnswerInput, columns: Sequence[str]) -> tuple[Any, ...]:
    """Return what makes two answers the same, of a row or a submission."""
    content = (getattr(source, name) for name in columns)
    return source.construct_key, *map(_hashable, content)


def _hashable(value: Any) -> Any:
    # JSON columns give lists where a submission has tuples.
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _request_of(row: Row[Any], columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the request that wrote a row."""
    return (
        *_content(row, columns),
        row.revision - 1,
        row.input_kind,
        row.active_seconds,
        row.wall_seconds,
    )


def _request(submission: AnswerInput, columns: Sequence[str]) -> tuple[Any, ...]:
    return (
        *_content(submission, columns),
        submission.base_revision,
        submission.input_kind,
        submission.active_seconds,
        submission.wall_seconds,
    )
