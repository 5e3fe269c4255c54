"""Raters leave, by themselves or by the owner's decision, and may be let in again.

What they finished stays theirs and counts. What they began and did not finish goes back, so that
somebody else may be given it; values that were saved in it stay, too.
"""

from collections import defaultdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from annotate_ui.participants.tokens import revoke_tokens
from annotate_ui.participation import DepartureKind, has_left, lock_rater, lock_slots
from study.errors import StudyError, nearest
from study.facts.ratings import answered_constructs
from study.facts.slots import OWN_CHANNEL, is_handed_on, is_live, is_live_comparison
from study.schema import Assignment, Comparison, Decision, Departure, Rater, Rating, now, table
from study.study import Study


def leave(study: Study, rater_id: int, kind: DepartureKind) -> int | None:
    """End a rater's part in the study; return how many assignments and comparisons went back.

    Their links and sessions end, and unfinished assignments and comparisons of these pages are
    released. One who has left already is left alone, and None is returned.

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
        connection.execute(
            insert(table(Departure)).values(rater_id=rater_id, kind=kind, created_at=at)
        )
        a, c = table(Assignment), table(Comparison)
        ended = ((a, _unfinished(connection, rater_id)), (c, _undecided(connection, rater_id)))
        for one, ids in ended:
            connection.execute(update(one).where(one.c.id.in_(ids)).values(released_at=at))
        revoke_tokens(connection, rater_id)
        return sum(len(ids) for _, ids in ended)


def readmit(study: Study, rater_code: str) -> int:
    """Let a rater in again who left, or who did not pass the training; return their key.

    What was released when they left and has not been handed on is theirs again. Their old link
    stays revoked: `ccrs invite STUDY RATER` makes another.

    Raises
    ------
    StudyError
        There is no such rater.
    """
    with study.write() as connection:
        rater_id = rater_key(connection, study, rater_code)
        # In the order in which slots are handed out, so that the two cannot block each other.
        lock_rater(connection, rater_id)
        lock_slots(connection)
        left_at = _left_at(connection, rater_id)
        connection.execute(
            insert(table(Departure)).values(rater_id=rater_id, kind="readmitted", created_at=now())
        )
        if left_at is not None:
            _take_back(connection, rater_id, left_at)
        return rater_id


def rater_key(connection: Connection, study: Study, code: str) -> int:
    """Return the database key of the rater with this code.

    Raises
    ------
    StudyError
        There is none; the nearest code is named.
    """
    w = table(Rater)
    known = {row.code: row.id for row in connection.execute(select(w.c.code, w.c.id))}
    if code not in known:
        hint = nearest(code, known) or f"`ccrs invite {study.folder} --list` shows the raters."
        raise StudyError(f"{code!r} is no rater of {study.folder}. {hint}")
    return int(known[code])


def finished(connection: Connection, where: ColumnElement[bool]) -> set[int]:
    """Return the ids of the assignments of which every construct has an answer."""
    a = table(Assignment)
    answered = answered_constructs(table(Rating).c.assignment_id.in_(select(a.c.id).where(where)))
    rated = defaultdict[int, set[str]](set)
    for row in connection.execute(select(answered)):
        rated[row.assignment_id].add(row.construct_key)
    asked = connection.execute(select(a.c.id, a.c.construct_keys).where(where))
    return {row.id for row in asked if rated[row.id].issuperset(row.construct_keys)}


def _unfinished(connection: Connection, rater_id: int) -> list[int]:
    """Return the assignments that a rater holds on these pages and has not finished."""
    a = table(Assignment)
    mine = (a.c.rater_id == rater_id) & (a.c.channel == OWN_CHANNEL)
    done = finished(connection, mine)
    # What was handed on is another's work already.
    rows = connection.execute(select(a.c.id).where(mine, is_live()))
    return [row.id for row in rows if row.id not in done]


def _undecided(connection: Connection, rater_id: int) -> list[int]:
    c, d = table(Comparison), table(Decision)
    decided = select(d.c.id).where(d.c.comparison_id == c.c.id).exists()
    rows = connection.execute(
        select(c.c.id).where(c.c.rater_id == rater_id, is_live_comparison(), ~decided)
    )
    return [row.id for row in rows]


def _left_at(connection: Connection, rater_id: int) -> datetime | None:
    d = table(Departure)
    newest = connection.execute(
        select(d.c.kind, d.c.created_at)
        .where(d.c.rater_id == rater_id)
        .order_by(d.c.id.desc())
        .limit(1)
    ).one_or_none()
    if newest is None or newest.kind == "readmitted":
        return None
    at: datetime = newest.created_at
    return at


def _take_back(connection: Connection, rater_id: int, left_at: datetime) -> None:
    """Hold again what was released at that moment, the slots handed on since excepted."""
    a, c = table(Assignment), table(Comparison)
    kept: tuple[tuple[Any, ColumnElement[bool] | None], ...] = ((a, ~is_handed_on()), (c, None))
    for one, further in kept:
        again = update(one).where(one.c.rater_id == rater_id, one.c.released_at == left_at)
        again = again if further is None else again.where(further)
        connection.execute(again.values(released_at=None))
