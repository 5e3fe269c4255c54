"""Links as a file: for the owner's eyes, and never beside the study."""

import csv
import os
from collections.abc import Iterable
from pathlib import Path

from study.csv_injection import escape_formula
from study.errors import StudyError


def write_links(path: Path, links: Iterable[tuple[str, str]], study_folder: Path) -> None:
    """Write raters and links as CSV to a new file that only its owner can read.

    Raises
    ------
    StudyError
        The file exists, can't be made, or would lie inside the study's folder.
    """
    if path.resolve().is_relative_to(study_folder.resolve()):
        raise StudyError(
            f"{path} lies inside the study's folder, which may be mailed or deposited; links let "
            "people in. Name a file elsewhere."
        )
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise StudyError(f"{path} already exists; name another file.") from None
    except OSError as error:
        raise StudyError(
            f"{path} can't be made ({error.strerror}); name a file in a folder of yours."
        ) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["rater", "link"])
            rows.writerows([escape_formula(rater), link] for rater, link in links)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
