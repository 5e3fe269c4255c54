"""One command at a time: two would read the server at different moments, and contradict."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from study.errors import StudyError
from study.study import Study

# Advisory locks are pairs of numbers; the first keeps ours apart from other programs'.
_LOCK = {"ours": 0x63637273, "what": 0x4C53}


@contextmanager
def alone(study: Study) -> Iterator[None]:
    """Hold the right to speak to Label Studio for a study.

    Raises
    ------
    StudyError
        Another process holds it.
    """
    refusal = StudyError(
        f"Another `ccrs label-studio` is at work on {study.folder}. Wait until it has finished."
    )
    if study.engine.dialect.name == "postgresql":
        # A connection of its own: the server releases the lock when it is gone.
        with study.engine.connect() as connection:
            held = connection.execute(
                text("SELECT pg_try_advisory_lock(:ours, :what)"), _LOCK
            ).scalar_one()
            connection.commit()
            if not held:
                raise refusal
            try:
                yield
            finally:
                with suppress(SQLAlchemyError):
                    connection.execute(text("SELECT pg_advisory_unlock(:ours, :what)"), _LOCK)
                    connection.commit()
        return
    lock = FileLock(study.folder / ".label-studio.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise refusal from None
    try:
        yield
    finally:
        lock.release()
