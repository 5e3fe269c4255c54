"""One command at a time: two would read the server at different moments, and contradict."""

from collections.abc import Iterator
from contextlib import contextmanager

from study.errors import StudyError
from study.schema.locks import LockSpace, exclusive
from study.study import Study


@contextmanager
def alone(study: Study) -> Iterator[None]:
    """Lock a study's exchange with Label Studio.

    Raises
    ------
    StudyError
        Another process has the lock.
    """
    busy = StudyError(
        f"Another `ccrs label-studio` is at work on {study.folder}. Wait until it has finished."
    )
    with exclusive(study.engine, study.folder, LockSpace.LABEL_STUDIO, busy=busy):
        yield
