"""Participation: paused campaigns, and the locks of a save.

While a campaign is paused, no new page is opened; open pages can be finished and saved.
"""

from sqlalchemy import Connection, bindparam, insert, select

from study.errors import StudyError
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.tables import pauses, raters
from study.study import Study

LONGEST_MESSAGE = 500
"""Maximum length of the message of a pause, in characters."""


def paused(connection: Connection) -> str | None:
    """Return the message of the pause, which may be empty; None: the campaign is not paused."""
    newest = connection.execute(
        select(pauses.c.paused, pauses.c.message).order_by(pauses.c.id.desc()).limit(1)
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
            connection.execute(insert(pauses).values(paused=True, message=text or None))


def resume(study: Study) -> bool:
    """Resume the campaign; return whether it was paused."""
    with study.write() as connection:
        if paused(connection) is None:
            return False
        connection.execute(insert(pauses).values(paused=False, message=None))
        return True


_RATER_LOCKED = select(raters.c.id).where(raters.c.id == bindparam("rater")).with_for_update()


def lock_rater(connection: Connection, rater_id: int) -> None:
    """Serialize the requests of one rater; SQLite has a single writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(_RATER_LOCKED, {"rater": rater_id})


def lock_slots(connection: Connection) -> None:
    """Serialize the transactions that hand out or renew slots."""
    lock_until_commit(connection, LockSpace.SLOT_QUEUE)
