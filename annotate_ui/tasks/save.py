"""Saving a rating: each committed value is a revision, and none is lost, doubled or overwritten."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select
from sqlalchemy.orm import aliased

from annotate_ui.participation import has_left, lock_rater, lock_slots
from annotate_ui.tasks.compared_fields import fields_compared
from annotate_ui.tasks.rating_input import Commit
from annotate_ui.tasks.refusals import (
    InvalidError,
    KeyReusedError,
    LeftError,
    NotYoursError,
    StaleError,
)
from annotate_ui.tasks.slot_queue import hold_for_good, is_over, renew, renewed_by_now
from annotate_ui.tasks.stages import in_order
from annotate_ui.tasks.steps import OWN_CHANNEL, stages_of
from annotate_ui.tasks.stored_rating import StoredAnswer, as_stored, newest_ratings
from study.schema import Assignment, Rating, RatingBase, Response, Reveal, table
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

# Made once: every save runs these.
_a, _r, _v, _g = table(Assignment), table(Response), table(Reveal), table(Rating)
_MINE = (
    select(_a, _r.c.query_id)
    .join_from(_a, _r, _a.c.response_id == _r.c.id)
    # The owner is part of the question: another rater's assignment does not exist here.
    .where(_a.c.public_id == bindparam("public_id"), _a.c.rater_id == bindparam("rater"))
    .where(_a.c.channel == OWN_CHANNEL)
)
_SHOWN = (
    select(_v.c.id, _v.c.stage, _v.c.fields, _a.c.repeat, _v.c.assignment_id)
    .join_from(_v, _a, _v.c.assignment_id == _a.c.id)
    .join(_r, _a.c.response_id == _r.c.id)
    .where(_a.c.rater_id == bindparam("rater"), _r.c.query_id == bindparam("query"))
)
_STORED = (
    select(_g)
    .where(_g.c.assignment_id == bindparam("assignment"))
    .where(
        (_g.c.construct_key == bindparam("construct")) | (_g.c.idempotency_key == bindparam("key"))
    )
    .order_by(_g.c.revision)
)
_WRITTEN = insert(_g).returning(_g)


def save(study: Study, rater_id: int, public_id: str, stage: int, commit: Commit) -> StoredAnswer:
    """Store what a rater committed at a step, as the next revision of the rating.

    Raises
    ------
    NotYoursError
        There is no such step, or it was not opened by this rater.
    LeftError
        The rater has left the study.
    InvalidError
        The construct, value, reason or flag is none that may be given here.
    KeyReusedError
        The key came with another content before.
    StaleError
        The rating has changed since the rater saw it; the error holds what is stored.
    """
    with study.write() as connection:
        return save_within(connection, study, rater_id, public_id, stage, commit)


def save_within(
    connection: Connection,
    study: Study,
    rater_id: int,
    public_id: str,
    stage: int,
    commit: Commit,
) -> StoredAnswer:
    """Do what `save` does, within a writing transaction that the caller has opened."""
    lock_rater(connection, rater_id)
    if has_left(connection, rater_id):
        raise LeftError("You have left the study. What you finished is kept.")
    assignment = _assignment(connection, rater_id, public_id)
    opened = _reveals(connection, rater_id, assignment)
    own = next((v for v in opened if v.own and v.stage == stage), None)
    if own is None:
        raise NotYoursError("This page was not opened for you. Go on from the start page.")
    spec = _construct(study, assignment, stage, commit)
    _check(commit, spec)
    newest, before = _stored(connection, assignment.id, commit)
    if before is not None:
        if _asked(before) != _asked_by(commit):
            raise KeyReusedError("This key was used for another value; commit the value again.")
        return as_stored(before)
    version = study.construct_versions(connection)[commit.construct_key]
    if (
        newest is not None
        and newest.construct_version == version
        and _content(newest) == _content_of(commit)
    ):
        return as_stored(newest, unchanged=True)
    current = 0 if newest is None else newest.revision
    if commit.base_revision != current:
        raise StaleError(
            "This was rated elsewhere in the meantime.",
            None if newest is None else as_stored(newest),
        )
    late = _late(connection, assignment)
    compared = fields_compared(connection, study.config, rater_id, assignment.query_id)
    seen = {field for v in opened for field in v.fields} | compared
    row = RatingBase(
        construct_key=commit.construct_key,
        construct_version=version,
        revision=current + 1,
        value=commit.value,
        status=commit.status,
        reason=commit.reason,
        input_kind=commit.input_kind,
        active_seconds=commit.active_seconds,
        wall_seconds=commit.wall_seconds,
        comment=commit.comment,
        flags=list(commit.flags),
        revealed=list(in_order(seen)),
        # Only what was opened after this step tells that the step was over.
        after_reveal=any(
            v.stage > stage and v.id > own.id and v.repeat == assignment.repeat for v in opened
        )
        or _compared_since(newest, compared.difference(own.fields)),
        # Such as in a repeat, or on a response that came in after the query was finished.
        seen_more=not seen.issubset(own.fields),
        late=late,
        idempotency_key=commit.key,
        rules_hash=rules_hash(spec),
    )
    written = connection.execute(
        _WRITTEN,
        {
            **row.model_dump(),
            "assignment_id": assignment.id,
            "config_hash": study.config_hash,
        },
    ).one()
    _renew(connection, study, rater_id, assignment, late)
    return as_stored(written)


def rules_hash(spec: ConstructSpec) -> str:
    """Return the SHA-256 of what a rater is told about a construct."""
    told = [spec.question, spec.anchors, spec.rules, spec.flags]
    return sha256(json.dumps(told, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _assignment(connection: Connection, rater_id: int, public_id: str) -> Row[Any]:
    mine = {"public_id": public_id, "rater": rater_id}
    # An address may hold anything, also what a database can't compare with.
    row = connection.execute(_MINE, mine).one_or_none() if public_id.isalnum() else None
    if row is None:
        raise NotYoursError("There is no such page for you. Go on from the start page.")
    return row


@dataclass(frozen=True)
class _Shown:
    id: int
    stage: int
    fields: tuple[Sees, ...]
    repeat: int
    own: bool


def _reveals(connection: Connection, rater_id: int, assignment: Row[Any]) -> list[_Shown]:
    """Return what the rater was shown of the query, by any of its responses."""
    query = {"rater": rater_id, "query": assignment.query_id}
    return [
        _Shown(
            row.id,
            row.stage,
            tuple(row.fields),
            row.repeat,
            row.assignment_id == assignment.id,
        )
        for row in connection.execute(_SHOWN, query)
    ]


def _construct(study: Study, assignment: Row[Any], stage: int, commit: Commit) -> ConstructSpec:
    spec = study.config.construct_spec(commit.construct_key)
    if spec is None or commit.construct_key not in assignment.construct_keys:
        raise InvalidError(f"{commit.construct_key!r} is not rated here.", "construct")
    (own,) = stages_of(study.config, [commit.construct_key])
    if own.number != stage:
        raise InvalidError(f"{spec.name} is not rated at this step.", "construct")
    return spec


def _check(commit: Commit, spec: ConstructSpec) -> None:
    if (commit.status == "rated") != (commit.value is not None):
        raise InvalidError("Give a value, or say that you cannot judge.", "value")
    if commit.value is not None:
        problem = spec.scale.problem(commit.value) or spec.scale.off_grid(commit.value)
        if problem:
            raise InvalidError(f"{problem}.", "value")
    if commit.status == "skipped" and commit.reason is None:
        raise InvalidError("Say in a few words why the response is skipped.", "reason")
    if commit.status == "rated" and commit.reason is not None:
        raise InvalidError("A reason stands where there is no value.", "reason")
    unknown = [flag for flag in commit.flags if flag not in spec.flags]
    if unknown:
        raise InvalidError(f"{unknown[0]!r} is no remark on {spec.name}.", "flags")
    if len(set(commit.flags)) < len(commit.flags):
        raise InvalidError("A remark is ticked twice.", "flags")


def _compared_since(newest: Row[Any] | None, more: set[Sees]) -> bool:
    """Say whether a comparison has shown more since a rating was given, by what it had seen."""
    if newest is None:
        return False
    return bool(newest.after_reveal) or not more.issubset(newest.revealed)


def _stored(
    connection: Connection, assignment_id: int, commit: Commit
) -> tuple[Row[Any] | None, Row[Any] | None]:
    """Return a rating as it stands, and what is stored under the key of a commit."""
    rows = connection.execute(
        _STORED,
        {"assignment": assignment_id, "construct": commit.construct_key, "key": commit.key},
    ).all()
    revisions = [row for row in rows if row.construct_key == commit.construct_key]
    under_key = next((row for row in rows if row.idempotency_key == commit.key), None)
    return revisions[-1] if revisions else None, under_key


def _content(row: Row[Any]) -> tuple[Any, ...]:
    return row.construct_key, row.value, row.status, row.reason, row.comment, tuple(row.flags)


def _content_of(commit: Commit) -> tuple[Any, ...]:
    return (
        commit.construct_key,
        commit.value,
        commit.status,
        commit.reason,
        commit.comment,
        commit.flags,
    )


def _asked(row: Row[Any]) -> tuple[Any, ...]:
    return *_content(row), row.revision - 1, row.input_kind, row.active_seconds, row.wall_seconds


def _asked_by(commit: Commit) -> tuple[Any, ...]:
    return (
        *_content_of(commit),
        commit.base_revision,
        commit.input_kind,
        commit.active_seconds,
        commit.wall_seconds,
    )


def _late(connection: Connection, assignment: Row[Any]) -> bool:
    if assignment.released_at is None and not is_over(assignment.leased_until):
        return False
    # What has run out or was taken back may be on its way to another rater at this moment.
    lock_slots(connection)
    return True


def _renew(
    connection: Connection, study: Study, rater_id: int, assignment: Row[Any], late: bool
) -> None:
    if assignment.leased_until is None and assignment.released_at is None:
        return
    if late and _handed_on(connection, assignment.id):
        return
    if assignment.released_at is None and not renewed_by_now(study, assignment.leased_until):
        renew(connection, study, rater_id, assignment.query_id)
    rated = set(newest_ratings(connection, assignment.id))
    known = {construct.key for construct in study.config.constructs}
    if rated.issuperset(known.intersection(assignment.construct_keys)):
        hold_for_good(connection, assignment.id)


def _handed_on(connection: Connection, assignment_id: int) -> bool:
    successor = aliased(table(Assignment))
    found = connection.execute(
        select(successor.c.id).where(successor.c.replaces_id == assignment_id)
    ).first()
    return found is not None
