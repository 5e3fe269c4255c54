"""Saving a decision: each is a revision, and none is lost, doubled or overwritten."""

from typing import Any

from sqlalchemy import Connection, Row, insert, select

from annotate_ui.participation import has_left, lock_rater
from annotate_ui.tasks.compared_fields import fields_compared
from annotate_ui.tasks.comparison_input import Choice, points
from annotate_ui.tasks.refusals import (
    InvalidError,
    KeyReusedError,
    LeftError,
    NotYoursError,
    StaleError,
)
from annotate_ui.tasks.save import rules_hash
from annotate_ui.tasks.stages import in_order
from annotate_ui.tasks.stored_rating import StoredAnswer
from study.schema import Assignment, Comparison, Decision, DecisionBase, Response, Reveal, table
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.types import Sees


def save_decision(study: Study, rater_id: int, public_id: str, choice: Choice) -> StoredAnswer:
    """Store what a rater said of a comparison, as the next revision of the decision.

    Raises
    ------
    NotYoursError
        There is no such comparison, or it was not opened by this rater, or it was taken back.
    LeftError
        The rater has left the study.
    InvalidError
        The construct, value or reason is none that may be given here.
    KeyReusedError
        The key came with another content before.
    StaleError
        The decision has changed since the rater saw it; the error holds what is stored.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        if has_left(connection, rater_id):
            raise LeftError("You have left the study. What you finished is kept.")
        comparison = _comparison(connection, rater_id, public_id)
        _check(study, comparison, choice)
        d = table(Decision)
        revisions = connection.execute(
            select(d).where(d.c.comparison_id == comparison.id).order_by(d.c.revision)
        ).all()
        before = next((row for row in revisions if row.idempotency_key == choice.key), None)
        if before is not None:
            if _asked(before) != _asked_by(choice):
                raise KeyReusedError("This key was used for another choice; choose again.")
            return as_stored(before)
        newest = revisions[-1] if revisions else None
        version = study.construct_versions(connection)[comparison.construct_key]
        if (
            newest is not None
            and newest.construct_version == version
            and _content(newest) == _content_of(choice)
        ):
            return as_stored(newest, unchanged=True)
        current = 0 if newest is None else newest.revision
        if choice.base_revision != current:
            raise StaleError(
                "This was decided elsewhere in the meantime.",
                None if newest is None else as_stored(newest),
            )
        spec = study.config.construct_spec(comparison.construct_key)
        row = DecisionBase(
            construct_version=version,
            revision=current + 1,
            value=choice.value,
            status=choice.status,
            reason=choice.reason,
            input_kind=choice.input_kind,
            active_seconds=choice.active_seconds,
            wall_seconds=choice.wall_seconds,
            comment=choice.comment,
            revealed=_revealed(connection, study.config, rater_id, comparison.query_id),
            idempotency_key=choice.key,
            rules_hash=None if spec is None else rules_hash(spec),
        )
        written = connection.execute(
            insert(d)
            .values(
                **row.model_dump(),
                comparison_id=comparison.id,
                construct_key=comparison.construct_key,
                config_hash=study.config_hash,
            )
            .returning(d)
        ).one()
        return as_stored(written)


def newest_decision(connection: Connection, comparison_id: int) -> StoredAnswer | None:
    """Return a decision as it stands."""
    d = table(Decision)
    row = connection.execute(
        select(d).where(d.c.comparison_id == comparison_id).order_by(d.c.revision.desc()).limit(1)
    ).one_or_none()
    return None if row is None else as_stored(row)


def as_stored(row: Row[Any], *, unchanged: bool = False) -> StoredAnswer:
    """Return a row of the table of decisions as what stands."""
    return StoredAnswer(
        construct=row.construct_key,
        revision=row.revision,
        value=row.value,
        status=row.status,
        reason=row.reason,
        comment=row.comment,
        flags=(),
        input_kind=row.input_kind,
        saved_at=row.created_at,
        late=False,
        unchanged=unchanged,
    )


def _comparison(connection: Connection, rater_id: int, public_id: str) -> Row[Any]:
    c = table(Comparison)
    # The owner is part of the question: another rater's comparison does not exist here.
    mine = select(c).where(
        c.c.public_id == public_id,
        c.c.rater_id == rater_id,
        c.c.opened_at.is_not(None),
        c.c.released_at.is_(None),
    )
    # An address may hold anything, also what a database can't compare with.
    row = connection.execute(mine).one_or_none() if public_id.isalnum() else None
    if row is None:
        raise NotYoursError("There is no such page for you. Go on from the start page.")
    return row


def _check(study: Study, comparison: Row[Any], choice: Choice) -> None:
    known = {spec.key for spec in study.config.constructs}
    if choice.construct_key != comparison.construct_key or choice.construct_key not in known:
        raise InvalidError(f"{choice.construct_key!r} is not compared here.", "construct")
    if (choice.status == "rated") != (choice.value is not None):
        raise InvalidError("Choose one, or say that you cannot judge.", "value")
    if choice.value is not None and choice.value not in points(study.config.preferences.scale):
        raise InvalidError(f"{choice.value:g} is none of the choices.", "value")
    if choice.status == "skipped" and choice.reason is None:
        raise InvalidError("Say in a few words why the comparison is skipped.", "reason")
    if choice.status == "rated" and choice.reason is not None:
        raise InvalidError("A reason stands where there is no choice.", "reason")


def _revealed(
    connection: Connection, config: StudyConfig, rater_id: int, query_id: int
) -> list[Sees]:
    """Return the fields of the query that the rater was shown, rating or comparing."""
    v, a, r = table(Reveal), table(Assignment), table(Response)
    rated = connection.execute(
        select(v.c.fields)
        .join_from(v, a, v.c.assignment_id == a.c.id)
        .join(r, a.c.response_id == r.c.id)
        .where(a.c.rater_id == rater_id, r.c.query_id == query_id)
    )
    seen: set[Sees] = {field for fields in rated.scalars() for field in fields}
    seen |= fields_compared(connection, config, rater_id, query_id)
    return list(in_order(seen))


def _content(row: Row[Any]) -> tuple[Any, ...]:
    return row.value, row.status, row.reason, row.comment


def _content_of(choice: Choice) -> tuple[Any, ...]:
    return choice.value, choice.status, choice.reason, choice.comment


def _asked(row: Row[Any]) -> tuple[Any, ...]:
    seconds = row.active_seconds, row.wall_seconds
    return *_content(row), row.revision - 1, row.input_kind, *seconds


def _asked_by(choice: Choice) -> tuple[Any, ...]:
    seconds = choice.active_seconds, choice.wall_seconds
    return *_content_of(choice), choice.base_revision, choice.input_kind, *seconds
