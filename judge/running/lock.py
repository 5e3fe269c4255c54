"""A single writer for each run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from study.errors import StudyError
from study.schema.locks import LockSpace, exclusive
from study.study import Study


@contextmanager
def sole_writer(study: Study, run_id: int, name: str) -> Iterator[Callable[[], None]]:
    """Lock a run for writing; yield what confirms, before a write, that it is still locked.

    Raises
    ------
    StudyError
        Another process has the lock, or, on confirming, the database server ended this one.
    """
    busy = StudyError(
        f"Another process is working on the run {name!r} of {study.folder}. Wait until it has "
        "finished, or stop it; then run the command again."
    )
    with exclusive(study.engine, study.folder, LockSpace.JUDGE_RUN, run_id, busy=busy) as is_locked:

        def confirm() -> None:
            if not is_locked():
                raise StudyError(
                    f"The database server ended the connection that locks the run {name!r} for "
                    "this process. What was judged is stored; run the command again to resume."
                )

        yield confirm
