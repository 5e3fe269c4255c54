"""One writer a run: a lock that the kernel, or the database server, releases when it dies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from study.errors import StudyError
from study.study import Study

# Advisory locks are pairs of numbers; this one keeps ours apart from other programs'.
_OURS = 0x63637273


@contextmanager
def sole_writer(study: Study, run_id: int, name: str) -> Iterator[Callable[[], None]]:
    """Hold the right to write to a run; yield what confirms, before a write, that it is held.

    Raises
    ------
    StudyError
        Another process holds it.
    """
    refusal = StudyError(
        f"Another process is working on the run {name!r} of {study.folder}. Wait until it has "
        "finished, or stop it; then run the command again."
    )
    if study.engine.dialect.name == "postgresql":
        # A connection of its own: the server releases the lock when it is gone.
        with study.engine.connect() as connection:
            held = connection.execute(
                text("SELECT pg_try_advisory_lock(:ours, :run)"), {"ours": _OURS, "run": run_id}
            ).scalar_one()
            connection.commit()
            if not held:
                raise refusal
            try:
                yield lambda: _confirm(connection, name)
            finally:
                # Where the connection is gone, so is the lock.
                with suppress(SQLAlchemyError):
                    connection.execute(
                        text("SELECT pg_advisory_unlock(:ours, :run)"),
                        {"ours": _OURS, "run": run_id},
                    )
                    connection.commit()
        return
    lock = FileLock(study.folder / f".judge-run-{run_id}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise refusal from None
    try:
        # The kernel takes this lock from no living process.
        yield lambda: None
    finally:
        lock.release()


def _confirm(connection: Connection, name: str) -> None:
    try:
        connection.execute(text("SELECT 1"))
        connection.commit()
    except SQLAlchemyError:
        raise StudyError(
            f"The database server ended the connection that holds the run {name!r} for this "
            "process. What was judged is kept; run the command again to go on."
        ) from None
