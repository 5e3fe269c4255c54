"""Locks between processes: advisory locks of PostgreSQL, lock files next to an SQLite database.

An advisory lock is a pair of numbers. The first is the kind of lock and is listed in `LockSpace`
alone, so that the key of one kind (such as the id of a judge run) never equals that of another.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from study.errors import StudyError


class LockSpace(IntEnum):
    """The kinds of locks. The upper bytes ("ccr" in ASCII) are those of no other known program."""

    SCHEMA = 0x63637201
    """The creation of tables."""
    ASSIGNMENT = 0x63637202
    """Planning and storing assignments, adjudication included."""
    SLOT_QUEUE = 0x63637203
    """Handing out and renewing open slots."""
    JUDGE_RUN = 0x63637204
    """Writing to a judge run; the key is the run's id."""
    LABEL_STUDIO = 0x63637205
    """Exchange with a Label Studio server."""
    RESPONSES = 0x63637206
    """Making responses: the files of rankings and answers in the study's folder."""


def lock_until_commit(connection: Connection, space: LockSpace, key: int = 0) -> None:
    """Wait until no other transaction has this lock, and keep it until the end of this one.

    On SQLite the writing transaction itself excludes all others.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:space, :key)"), {"space": int(space), "key": key}
        )


@contextmanager
def exclusive(
    engine: Engine, folder: Path, space: LockSpace, key: int = 0, *, busy: StudyError
) -> Iterator[Callable[[], bool]]:
    """Keep a lock for the duration of the block; yield a check that this process still has it.

    The kernel or the database server releases the lock of a process that dies.

    Parameters
    ----------
    folder
        Folder of the lock file of an SQLite study.
    busy
        Raised where another process has the lock.
    """
    if engine.dialect.name == "postgresql":
        names = {"space": int(space), "key": key}
        # A separate connection: the server releases the lock when the connection ends.
        with engine.connect() as connection:
            acquired = connection.execute(
                text("SELECT pg_try_advisory_lock(:space, :key)"), names
            ).scalar_one()
            connection.commit()
            if not acquired:
                raise busy
            try:
                yield lambda: _is_alive(connection)
            finally:
                # Where the connection has ended, so has the lock.
                with suppress(SQLAlchemyError):
                    connection.execute(text("SELECT pg_advisory_unlock(:space, :key)"), names)
                    connection.commit()
        return
    name = space.name.lower().replace("_", "-")
    lock = FileLock(folder / f".{name}{f'-{key}' if key else ''}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise busy from None
    try:
        # The kernel takes the lock of a file from no living process.
        yield lambda: True
    finally:
        lock.release()


def _is_alive(connection: Connection) -> bool:
    try:
        connection.execute(text("SELECT 1"))
        connection.commit()
    except SQLAlchemyError:
        return False
    return True
