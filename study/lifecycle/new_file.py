"""A new file, outside of a study's folder, that only its owner can read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from study.errors import StudyError


@contextmanager
def new_file(path: Path, study_folder: Path) -> Iterator[Path]:
    """Yield where to write a file, which gets its name once it is complete.

    Raises
    ------
    StudyError
        As `check_new`, or the file can't be created.
    """
    check_new(path, study_folder)
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StudyError(
            f"{path} can't be created ({error.strerror}); name a file in a folder of yours."
        ) from None
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        check_new(path, study_folder)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def check_new(path: Path, study_folder: Path) -> None:
    """Check that a file can have this path.

    Raises
    ------
    StudyError
        The file exists, its folder does not, or it would be in the study's folder.
    """
    if path.resolve().is_relative_to(study_folder.resolve()):
        raise StudyError(
            f"{path} is inside the study's folder, which may be lost, mailed or deposited as a "
            "whole; name a place elsewhere."
        )
    if not path.parent.is_dir():
        raise StudyError(f"{path.parent} is not a folder; create it first.")
    if path.is_symlink() or path.exists():
        raise StudyError(f"{path} already exists; name another file.")
