"""Pausing a campaign: nothing new is opened meanwhile; what is open can be finished and saved."""

from sqlalchemy import Connection, insert, select

from study.errors import StudyError
from study.schema import Pause, table
from study.study import Study

LONGEST_MESSAGE = 500
"""Characters of what raters are told."""


def paused(connection: Connection) -> str | None:
    """Return what raters are told while the campaign is paused; None: it is not paused."""
    p = table(Pause)
    newest = connection.execute(
        select(p.c.paused, p.c.message).order_by(p.c.id.desc()).limit(1)
    ).one_or_none()
    return (newest.message or "") if newest is not None and newest.paused else None


def pause(study: Study, message: str | None = None) -> None:
    """Open nothing new to raters until `resume`; an earlier message is replaced.

    Raises
    ------
    StudyError
        The message is too long.
    """
    told = (message or "").strip()
    if len(told) > LONGEST_MESSAGE:
        raise StudyError(
            f"The message has {len(told)} characters; raters are told {LONGEST_MESSAGE} at most."
        )
    with study.write() as connection:
        if paused(connection) != told:
            connection.execute(insert(table(Pause)).values(paused=True, message=told or None))


def resume(study: Study) -> bool:
    """Take the campaign up again; return whether it was paused."""
    with study.write() as connection:
        if paused(connection) is None:
            return False
        connection.execute(insert(table(Pause)).values(paused=False, message=None))
        return True
