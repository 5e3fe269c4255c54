"""The owner rejects the work of a rater, or one response of it, and may take that back.

A rejection is a further revision of each rating, withdrawn with its reason, so that what the rater
entered stays and is in no figure. The slot is released: another rater can get it. Taking it back
adds the revision before the rejection once more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from annotate_ui.participants.tokens import revoke_tokens
from annotate_ui.participants.withdrawal import take_back, undecided_comparisons
from annotate_ui.participation import lock_rater, lock_slots
from study.errors import StudyError
from study.facts.departures import has_left, left_at
from study.facts.find_response import find_response
from study.facts.ratings import REJECTED, is_rejected, unfinished_slots
from study.facts.slots import OWN_CHANNEL, rater_taker
from study.schema import RaterAnswerBase, now
from study.schema.human_ratings import AnswerKind
from study.schema.tables import assignments, comparisons, departures, rater_answers
from study.study import Study

_OF_ASSIGNMENTS: tuple[AnswerKind, ...] = ("value", "marks")
# What a revision has of the one before, where the owner made it. Its time of work is not repeated.
_CONTENT = (
    *("kind", "construct_key", "construct_version", "revealed", "after_reveal", "seen_more"),
    *("late", "channel", "rules_hash", "text_format", "input_kind"),
)
_ENTERED = (*_CONTENT, "value", "ranges", "status", "reason", "comment", "flags")


@dataclass(frozen=True)
class ChangedWork:
    """What a rejection, or taking one back, has changed."""

    values: int
    """Values and sets of marks."""
    slots: int
    """Responses whose slot was released; taking it back, those that are the rater's again, or
    were until another rater took the slot."""


def reject(study: Study, rater_id: int, assignment_id: int | None = None) -> ChangedWork:
    """Reject what a rater has entered; None for `assignment_id` rejects all and ends their part.

    Training is left out, as it counts nowhere. Comparisons that were decided stay as they are and
    count; of the others, those of a rater whose part ends are released. What was rejected before
    does not change.

    Parameters
    ----------
    study
        The study.
    rater_id
        The rater's key in the database.
    assignment_id
        Key of the one assignment to reject.

    Raises
    ------
    StudyError
        There is nothing that could be rejected.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        lock_slots(connection)
        at = now()
        theirs = _theirs(rater_id, assignment_id)
        newest = [row for row in _newest(connection, theirs) if row.status != "withdrawn"]
        rows = [
            # After the reveal, so that the value that counts is the same when it is taken back.
            _revision(
                study, row, at, _CONTENT, status="withdrawn", reason=REJECTED, after_reveal=True
            )
            for row in newest
        ]
        if not rows:
            raise StudyError(
                "There is nothing to reject: no value, or all are rejected already. "
                f"`ccrs invite {study.folder} --remove RATER` ends a rater's part."
            )
        connection.execute(insert(rater_answers), rows)
        released = {row.assignment_id for row in newest}
        if assignment_id is None:
            released |= set(unfinished_slots(connection, study.config, rater_id))
            if not has_left(connection, rater_id):
                left = {"rater_id": rater_id, "kind": "removed", "created_at": at}
                connection.execute(insert(departures).values(**left))
                undecided = comparisons.c.id.in_(undecided_comparisons(connection, rater_id))
                connection.execute(update(comparisons).where(undecided).values(released_at=at))
                revoke_tokens(connection, rater_id)
        else:
            released.add(assignment_id)
            _open_to_others(connection, rater_id, assignment_id)
        live = assignments.c.id.in_(released) & assignments.c.released_at.is_(None)
        done = connection.execute(
            update(assignments).where(live).values(released_at=at, leased_until=None)
        )
        return ChangedWork(len(rows), done.rowcount)


def restore(study: Study, rater_id: int, assignment_id: int | None = None) -> ChangedWork:
    """Take a rejection back; parameters as of `reject`.

    Where all of a rater's work was rejected at once, that is taken back, and responses that were
    rejected one by one before stay rejected until the next call.
    Slots that another rater has taken meanwhile stay theirs, and the values count beside them.
    A rater whose part ended with the rejection takes part again, and needs a new link.

    Raises
    ------
    StudyError
        Nothing is rejected.
    """
    with study.write() as connection:
        lock_rater(connection, rater_id)
        lock_slots(connection)
        theirs = _theirs(rater_id, assignment_id)
        rejected = [row for row in _newest(connection, theirs) if is_rejected(row)]
        departed_at = left_at(connection, rater_id)
        if assignment_id is None:
            rejected = _at_once(rejected, departed_at)
        before = _before(connection, rejected)
        at = now()
        rows = [
            _revision(study, before[row.id], at, _ENTERED) | {"revision": row.revision + 1}
            for row in rejected
        ]
        if not rows:
            raise StudyError("Nothing of this work is rejected, so that nothing can be restored.")
        connection.execute(insert(rater_answers), rows)
        done = connection.execute(
            update(assignments)
            .where(
                assignments.c.id.in_({row.assignment_id for row in rejected}),
                assignments.c.released_at.in_({row.created_at for row in rejected}),
            )
            .values(released_at=None)
        )
        # Only the departure that came with the rejection is taken back with it.
        if assignment_id is None and any(row.created_at == departed_at for row in rejected):
            assert departed_at is not None  # noqa: S101
            again = {"rater_id": rater_id, "kind": "readmitted", "created_at": at}
            connection.execute(insert(departures).values(**again))
            take_back(connection, rater_id, departed_at)
        return ChangedWork(len(rows), done.rowcount)


def rejected_assignments(connection: Connection, rater_id: int) -> set[int]:
    """Return the keys of a rater's assignments with rejected values or marks."""
    newest = _newest(connection, _theirs(rater_id, None))
    return {row.assignment_id for row in newest if is_rejected(row)}


def assignment_of(connection: Connection, rater_id: int, response: str) -> int:
    """Return the key of a rater's main assignment of the response with this id.

    Raises
    ------
    StudyError
        The response does not exist, or was not assigned to the rater.
    """
    found = find_response(connection, response)
    mine = select(assignments.c.id).where(
        *_theirs(rater_id, None),
        assignments.c.response_id == found.id,
    )
    key = connection.execute(mine.order_by(assignments.c.id).limit(1)).scalar()
    if key is None:
        raise StudyError(f"Response {response!r} was not assigned to this rater on these pages.")
    return int(key)


def _theirs(rater_id: int, assignment_id: int | None) -> tuple[ColumnElement[bool], ...]:
    """Return conditions on the table of assignments."""
    one = () if assignment_id is None else (assignments.c.id == assignment_id,)
    return (
        assignments.c.rater_id == rater_id,
        assignments.c.channel == OWN_CHANNEL,
        assignments.c.purpose != "training",
        *one,
    )


def _at_once(rejected: list[Row[Any]], departed_at: datetime | None) -> list[Row[Any]]:
    """Return what the last rejection of all work has rejected; everything where none is."""
    latest = max((row.created_at for row in rejected), default=None)
    last = [row for row in rejected if row.created_at == latest]
    whole = latest == departed_at or len({row.assignment_id for row in last}) > 1
    return last if whole else rejected


def _open_to_others(connection: Connection, rater_id: int, assignment_id: int) -> None:
    """Keep a slot no longer for the rater whose work in it was rejected."""
    one = assignments.c.id == assignment_id
    kept = connection.execute(select(assignments.c.open_to).where(one)).scalar_one() or []
    others = [taker for taker in kept if taker != rater_taker(rater_id)]
    if others != kept:
        connection.execute(update(assignments).where(one).values(open_to=others))


def _newest(connection: Connection, theirs: Sequence[ColumnElement[bool]]) -> list[Row[Any]]:
    """Return the newest revision of each value and set of marks, in the order of storing."""
    rows = connection.execute(
        select(rater_answers)
        .where(
            rater_answers.c.assignment_id.in_(select(assignments.c.id).where(*theirs)),
            rater_answers.c.kind.in_(_OF_ASSIGNMENTS),
        )
        .order_by(rater_answers.c.id)
    )
    newest = {(row.assignment_id, row.construct_key, row.kind): row for row in rows}
    return list(newest.values())


def _before(connection: Connection, rejected: Sequence[Row[Any]]) -> Mapping[int, Row[Any]]:
    """Return the revision before each rejection, by the key of the rejection."""
    wanted = {(r.assignment_id, r.construct_key, r.kind, r.revision - 1): r.id for r in rejected}
    rows = connection.execute(
        select(rater_answers).where(
            rater_answers.c.assignment_id.in_({row.assignment_id for row in rejected})
        )
    )
    found = {}
    for row in rows:
        key = (row.assignment_id, row.construct_key, row.kind, row.revision)
        if key in wanted:
            found[wanted[key]] = row
    return found


def _revision(
    study: Study, row: Row[Any], at: datetime, columns: Sequence[str], **other: Any
) -> dict[str, Any]:
    """Return a further revision of a row with the content of these columns."""
    content = {name: getattr(row, name) for name in columns}
    answer = RaterAnswerBase.model_validate({**content, **other})
    return {
        **answer.model_dump(),
        "revision": row.revision + 1,
        "assignment_id": row.assignment_id,
        "config_hash": study.config_hash,
        "created_at": at,
    }
