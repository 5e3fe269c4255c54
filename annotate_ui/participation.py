"""Participation: raters who have left, paused campaigns, and the locks of a save.

While a campaign is paused, no new page is opened; open pages can be finished and saved.
"""

from collections.abc import Iterable
from typing import Literal

from sqlalchemy import Connection, bindparam, insert, select

from study.errors import StudyError
from study.schema import Departure, Pause, Rater, table
from study.schema.locks import LockSpace, lock_until_commit
from study.study import Study

DepartureKind = Literal["withdrew", "removed"]

LONGEST_MESSAGE = 500
"""Maximum length of the message of a pause, in characters."""


def paused(connection: Connection) -> str | None:
    """Return the message of the pause, which may be empty; None: the campaign is not paused."""
    p = table(Pause)
    newest = connection.execute(
        select(p.c.paused, p.c.message).order_by(p.c.id.desc()).limit(1)
    ).one_or_none()
    return (newest.message or "") if newest is not None and newest.paused else None


def pause(study: Study, message: str | None = None) -> None:
    """Pause the campaign until `resume`; an earlier message is replaced.

    Raises
    ------
    StudyError
        The message is too long.
    """
    text = (message or "").strip()
    if len(text) > LONGEST_MESSAGE:
        raise StudyError(
            f"The message has {len(text)} characters; the maximum is {LONGEST_MESSAGE}."
        )
    with study.write() as connection:
        if paused(connection) != text:
            connection.execute(insert(table(Pause)).values(paused=True, message=text or None))


def resume(study: Study) -> bool:
    """Resume the campaign; return whether it was paused."""
    with study.write() as connection:
        if paused(connection) is None:
            return False
        connection.execute(insert(table(Pause)).values(paused=False, message=None))
        return True


_departure = table(Departure)
_NEWEST_DEPARTURE = (
    select(_departure.c.kind)
    .where(_departure.c.rater_id == bindparam("rater"))
    .order_by(_departure.c.id.desc())
    .limit(1)
)


def has_left(connection: Connection, rater_id: int) -> bool:
    """Whether a rater withdrew or was removed, and was not readmitted since."""
    newest = connection.execute(_NEWEST_DEPARTURE, {"rater": rater_id}).scalar()
    return newest is not None and newest != "readmitted"


def departures(
    connection: Connection, rater_ids: Iterable[int] | None = None
) -> dict[int, DepartureKind]:
    """Return the raters who have left and how; `rater_ids` restricts the query to these raters."""
    d = table(Departure)
    rows = select(d.c.rater_id, d.c.kind).order_by(d.c.id)
    if rater_ids is not None:
        rows = rows.where(d.c.rater_id.in_(list(rater_ids)))
    newest = {row.rater_id: row.kind for row in connection.execute(rows)}
    return {rater: kind for rater, kind in newest.items() if kind != "readmitted"}


_rater = table(Rater)
_RATER_LOCKED = select(_rater.c.id).where(_rater.c.id == bindparam("rater")).with_for_update()


def lock_rater(connection: Connection, rater_id: int) -> None:
    """Serialize the requests of one rater; SQLite has a single writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(_RATER_LOCKED, {"rater": rater_id})


def lock_slots(connection: Connection) -> None:
    """Serialize the transactions that hand out or renew slots."""
    lock_until_commit(connection, LockSpace.SLOT_QUEUE)
