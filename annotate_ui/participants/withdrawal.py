"""Raters who withdraw or are removed, and who may be readmitted.

Finished work stays theirs and counts. Unfinished work is released, so that other raters can get
it; the values that were saved in it stay, too.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from annotate_ui.participants.tokens import revoke_tokens
from annotate_ui.participation import lock_rater, lock_slots
from study.errors import StudyError, nearest
from study.facts.comparison_decisions import is_decided
from study.facts.departures import DepartureKind, has_left, left_at
from study.facts.ratings import unfinished_slots
from study.facts.slots import is_handed_on, is_live_comparison
from study.schema import now
from study.schema.tables import assignments, comparisons, departures, raters
from study.study import Study


def leave(study: Study, rater_id: int, kind: DepartureKind) -> int | None:
    """End a rater's part in the study; return the number of released assignments and comparisons.

    Their links and sessions end, and unfinished assignments and comparisons of these pages are
    released. For a rater who has already left, nothing changes and None is returned.

    Parameters
    ----------
    study
        The study they leave.
    rater_id
        The rater's key in the database.
    kind
        `withdrew`: they chose so; `removed`: the owner did.
    """
    with study.write() as connection:
        # In the order in which slots are handed out, so that the two cannot block each other.
        lock_rater(connection, rater_id)
        lock_slots(connection)
        if has_left(connection, rater_id):
            return None
        at = now()
        connection.execute(insert(departures).values(rater_id=rater_id, kind=kind, created_at=at))
        ended = (
            (assignments, unfinished_slots(connection, study.config, rater_id)),
            (comparisons, undecided_comparisons(connection, rater_id)),
        )
        for noun, ids in ended:
            connection.execute(update(noun).where(noun.c.id.in_(ids)).values(released_at=at))
        revoke_tokens(connection, rater_id)
        return sum(len(ids) for _, ids in ended)


def readmit(study: Study, rater_code: str) -> int:
    """Readmit a rater who left, or who did not pass the training; return their key.

    Work that was released when they left and has not been handed on is theirs again. Their old
    link stays revoked: `ccrs invite STUDY RATER` creates another one.

    Raises
    ------
    StudyError
        The rater does not exist.
    """
    with study.write() as connection:
        rater_id = rater_key(connection, study, rater_code)
        # In the order in which slots are handed out, so that the two cannot block each other.
        lock_rater(connection, rater_id)
        lock_slots(connection)
        departed_at = left_at(connection, rater_id)
        connection.execute(
            insert(departures).values(rater_id=rater_id, kind="readmitted", created_at=now())
        )
        if departed_at is not None:
            take_back(connection, rater_id, departed_at)
        return rater_id


def rater_key(connection: Connection, study: Study, code: str) -> int:
    """Return the database key of the rater with this code.

    Raises
    ------
    StudyError
        The rater is unknown; the nearest code is suggested.
    """
    known = {row.code: row.id for row in connection.execute(select(raters.c.code, raters.c.id))}
    if code not in known:
        hint = nearest(code, known) or f"`ccrs invite {study.folder} --list` shows the raters."
        raise StudyError(f"{code!r} is not a rater of {study.folder}. {hint}")
    return int(known[code])


def undecided_comparisons(connection: Connection, rater_id: int) -> list[int]:
    """Return the keys of a rater's comparisons that are still to be decided."""
    rows = connection.execute(
        select(comparisons.c.id).where(
            comparisons.c.rater_id == rater_id, is_live_comparison(), ~is_decided()
        )
    )
    return [row.id for row in rows]


def take_back(connection: Connection, rater_id: int, departed_at: datetime) -> None:
    """Undo the releases of that time, except for slots that were handed on since.

    The caller has called `lock_slots`.
    """
    released: tuple[tuple[Any, ColumnElement[bool] | None], ...] = (
        (assignments, ~is_handed_on()),
        (comparisons, None),
    )
    for target, condition in released:
        undo = update(target).where(
            target.c.rater_id == rater_id, target.c.released_at == departed_at
        )
        undo = undo if condition is None else undo.where(condition)
        connection.execute(undo.values(released_at=None))
