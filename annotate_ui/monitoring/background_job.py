"""Figures computed in a process of their own, one at a time, so that no request waits for them.

What runs is noted beside study.toml, so that a server that was restarted, or another one, knows it
too. The lock says who computes; the note says what, since when, and how it ended.
"""

import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from filelock import FileLock, Timeout

from study.errors import StudyError
from study.schema import now
from study.study import Study

LONGEST = timedelta(minutes=10)
"""A computation that takes longer is ended."""

# A process that was started takes some seconds until it holds the lock.
_STARTING = timedelta(seconds=60)

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Note:
    """What was started last, and how it ended."""

    kind: str
    started: str
    """UTC, as in ISO 8601."""
    ended: str | None = None
    failed: str | None = None
    """Why there is no result."""


def start(study: Study, kind: str, judge: str | None = None) -> None:
    """Have a look computed by a separate process of low priority; its result is stored as a Look.

    While one runs, nothing else is started: `running` says which.

    Raises
    ------
    StudyError
        The study's folder can't be written, or the process can't be started.
    """
    command = [sys.executable, "-m", "annotate_ui.monitoring.background_process"]
    words = [str(study.folder.resolve()), kind, *([judge] if judge is not None else [])]
    try:
        with FileLock(_path(study, "start.lock"), timeout=10):
            if running(study) is not None:
                return
            write_note(study.folder, Note(kind, _moment()))
            process = subprocess.Popen(  # noqa: S603  (our own module, by its full path)
                [*command, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | ONE_THREAD,
                # It goes on when the server stops.
                start_new_session=True,
            )
    except Timeout:
        return
    except OSError as error:
        raise StudyError(
            f"The figures can't be computed in {study.folder}: {error.strerror or error}. Make "
            "the study's folder writable for the server."
        ) from error
    # Somebody must take the ended process's exit status, or it stays in the system's table.
    threading.Thread(target=process.wait, daemon=True).start()


def running(study: Study) -> str | None:
    """Return the kind of look that is being computed now; None where none is."""
    note = read_note(study.folder)
    if note is None or note.ended is not None:
        return None
    since = now() - datetime.fromisoformat(note.started)
    if since < _STARTING or (since < LONGEST + _STARTING and _held(study)):
        return note.kind
    return None


def failure(study: Study) -> Note | None:
    """Return the note of the last computation if it came to nothing, with the reason."""
    note = read_note(study.folder)
    if note is None or running(study) is not None:
        return None
    if note.ended is None:
        return Note(note.kind, note.started, None, "the process ended without a word")
    return note if note.failed is not None else None


def computing_lock(folder: Path) -> FileLock:
    """Return the lock that the computing process holds."""
    return FileLock(folder / _NAME.format("lock"), timeout=10)


def read_note(folder: Path) -> Note | None:
    """Return the note; None where nothing was ever started, or it can't be read."""
    try:
        found = json.loads((folder / _NAME.format("json")).read_text(encoding="utf-8"))
        return Note(**found)
    except (OSError, ValueError, TypeError):
        return None


def write_note(folder: Path, note: Note) -> None:
    """Replace the note as a whole."""
    path = folder / _NAME.format("json")
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(asdict(note)), encoding="utf-8")
    draft.replace(path)


_NAME = ".look.{}"


def _path(study: Study, ending: str) -> Path:
    return study.folder / _NAME.format(ending)


def _held(study: Study) -> bool:
    try:
        with computing_lock(study.folder).acquire(timeout=0):
            return False
    except Timeout:
        return True


def _moment() -> str:
    return now().isoformat(timespec="seconds")
