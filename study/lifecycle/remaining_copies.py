"""Where copies of a study lie that may still hold an erased person's data."""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study.lifecycle.erasure_log import ErasureLog
from study.study import Study

SUFFIX = ".ccrs-backup"


@dataclass(frozen=True)
class RemainingCopy:
    """A file, and why it is named."""

    path: Path
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return {"path": str(self.path), "why": self.why}


def remaining_copies(
    study: Study, ledger: ErasureLog, code: str | None
) -> tuple[RemainingCopy, ...]:
    """Return the known copies of a study, and the files in its folder that mention a person."""
    reasons: dict[Path, str] = {}
    for copy in ledger.copies():
        where = "" if copy.path.exists() else "; not found there now"
        reasons[copy.path] = f"{copy.kind}, made {copy.made_at[:10]}{where}"
    word = None if code is None else re.compile(_anywhere(code), re.IGNORECASE)
    for path in _files(study.folder, study.config.database):
        if path.resolve() in reasons:
            continue
        if "-before-upgrade-" in path.name:
            reasons[path] = "the database as it was before an upgrade"
        elif path.name.endswith(SUFFIX):
            reasons[path] = "backup"
        elif word is not None and _holds(path, word):
            reasons[path] = "mentions the code"
    return tuple(RemainingCopy(path, why) for path, why in reasons.items())


def _anywhere(code: str) -> bytes:
    # As in `word_of`, for bytes: those have no letters beyond ASCII's.
    return rb"(?<![^\W_])" + re.escape(code.encode()) + rb"(?![^\W_])"


def _files(folder: Path, database: str) -> Iterator[Path]:
    database_files = {folder / f"{database}{suffix}" for suffix in ("", "-wal", "-shm")}
    for path in sorted(folder.rglob("*")):
        if path not in database_files and path.is_file() and not path.is_symlink():
            yield path


def _holds(path: Path, word: re.Pattern[bytes]) -> bool:
    try:
        if not path.stat().st_size:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return word.search(data) is not None
    except OSError:
        # What can't be read is reported rather than skipped.
        return True
