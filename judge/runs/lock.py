"""One writer a run: a lock that the kernel, or the database server, releases when it dies."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout
from sqlalchemy import text

from study.campaign import Study
from study.errors import StudyError

# Advisory locks are pairs of numbers; this one keeps ours apart from other programs'.
_OURS = 0x63637273


@contextmanager
def sole_writer(study: Study, run_id: int, name: str) -> Iterator[None]:
    """Hold the right to write to a run.

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
                yield
            finally:
                connection.execute(
                    text("SELECT pg_advisory_unlock(:ours, :run)"), {"ours": _OURS, "run": run_id}
                )
                connection.commit()
        return
    lock = FileLock(study.folder / f".judge-run-{run_id}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise refusal from None
    try:
        yield
    finally:
        lock.release()
