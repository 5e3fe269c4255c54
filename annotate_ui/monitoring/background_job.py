"""The background job: figures of a campaign computed in a process of low priority.

`python -m annotate_ui.monitoring.background_job STUDY KIND [JUDGE]`

Two things are computed here, since raters wait for the same processor. An interim analysis is
started by a request and stores its own result. One runs at a time; a note next to study.toml
records what was started, when, and how it ended, for a server that is restarted and for other
servers. A snapshot (KIND is `snapshot`) is written to standard output, and the caller waits for it.
"""

import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from filelock import FileLock, Timeout

from study.errors import StudyError
from study.schema import now
from study.study import Study

if TYPE_CHECKING:
    from annotate_ui.monitoring.campaign_progress import Snapshot
    from annotate_ui.monitoring.interim_analysis import Kind

LONGEST = timedelta(minutes=10)
"""A computation that takes longer is ended."""

_SNAPSHOT = "snapshot"
# Time that a started process may need until it holds the lock.
_STARTING = timedelta(seconds=60)
_NICE = 10
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_NAME = ".background_job.{}"


@dataclass(frozen=True)
class Note:
    """The last interim analysis that was started, and how it ended."""

    kind: str
    started: str
    """UTC, as in ISO 8601."""
    ended: str | None = None
    failed: str | None = None
    """Why there is no result."""


def start(study: Study, kind: str, judge: str | None = None) -> None:
    """Start the process for an interim analysis, which stores its result itself.

    While one runs, no other is started; `running` returns which.

    Raises
    ------
    StudyError
        The study's folder can't be written, or the process can't be started.
    """
    try:
        with FileLock(_path(study.folder, "start.lock"), timeout=10):
            if running(study) is not None:
                return
            write_note(study.folder, Note(kind, _moment()))
            process = subprocess.Popen(  # noqa: S603  (our own module, by its full path)
                _command(study, kind, *([judge] if judge is not None else [])),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | _ONE_THREAD,
                # It continues when the server stops.
                start_new_session=True,
            )
    except Timeout:
        return
    except OSError as error:
        raise StudyError(
            f"The figures can't be computed in {study.folder}: {error.strerror or error}. Make "
            "the study's folder writable for the server."
        ) from error
    # An ended process stays in the system's table until its exit status is read.
    threading.Thread(target=process.wait, daemon=True).start()


def compute_snapshot(study: Study) -> "Snapshot":
    """Return the state of a campaign, computed by the process; wait for it.

    Raises
    ------
    StudyError
        The process failed, or took longer than ten minutes.
    """
    try:
        done = subprocess.run(  # noqa: S603  (our own module, by its full path)
            _command(study, _SNAPSHOT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=os.environ | _ONE_THREAD,
            timeout=LONGEST.total_seconds(),
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StudyError(
            f"The state of {study.folder} can't be computed ({type(error).__name__}). Run "
            f"`ccrs watch {study.folder}` in a terminal: it computes the same and shows the error."
        ) from error
    computed: Snapshot = pickle.loads(done.stdout)  # noqa: S301  (written by our own process)
    return computed


def running(study: Study) -> str | None:
    """Return the kind of interim analysis that is being computed, or None."""
    note = read_note(study.folder)
    if note is None or note.ended is not None:
        return None
    since = now() - datetime.fromisoformat(note.started)
    if since < _STARTING or (since < LONGEST + _STARTING and _locked(study)):
        return note.kind
    return None


def failure(study: Study) -> Note | None:
    """Return the note of the last interim analysis if it has no result, with the reason."""
    note = read_note(study.folder)
    if note is None or running(study) is not None:
        return None
    if note.ended is None:
        return Note(note.kind, note.started, None, "the process ended without an error message")
    return note if note.failed is not None else None


def computing_lock(folder: Path) -> FileLock:
    """Return the lock that the process of an interim analysis holds."""
    return FileLock(_path(folder, "lock"), timeout=10)


def read_note(folder: Path) -> Note | None:
    """Return the note; None before the first analysis, or if it can't be read."""
    try:
        return Note(**json.loads(_path(folder, "json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_note(folder: Path, note: Note) -> None:
    """Replace the note as a whole."""
    path = _path(folder, "json")
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(asdict(note)), encoding="utf-8")
    draft.replace(path)


def main(folder: Path, kind: str, judge: str | None) -> int:
    """Compute what the process was started for; return the exit status."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    if kind == _SNAPSHOT:
        alarm = _alarm(lambda: None)
        _write_snapshot(folder)
        alarm.cancel()
        return 0
    try:
        with computing_lock(folder):
            note = read_note(folder) or Note(kind, _moment())
            minutes = LONGEST.total_seconds() / 60
            alarm = _alarm(lambda: _end(folder, note, f"not finished after {minutes:g} minutes"))
            failed = _analyse(folder, kind, judge)
            alarm.cancel()
            _end(folder, note, failed)
    except Timeout:
        # Another process computes, and has written the note.
        return 1
    return 0 if failed is None else 1


def _write_snapshot(folder: Path) -> None:
    from annotate_ui.monitoring.campaign_progress import snapshot

    with Study.open(folder) as study:
        pickle.dump(snapshot(study), sys.stdout.buffer)


def _analyse(folder: Path, kind: str, judge: str | None) -> str | None:
    """Compute and store an interim analysis; return why there is no result, else None."""
    from analysis.core.errors import AnalysisError
    from annotate_ui.monitoring.interim_analysis import run_interim_analysis

    try:
        with Study.open(folder) as study:
            run_interim_analysis(study, cast("Kind", kind), "page", judge)
    except (StudyError, AnalysisError) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  (the owner is shown whatever it was)
        return f"{type(error).__name__}: {error}"
    return None


def _alarm(last_words: Callable[[], None]) -> threading.Timer:
    """End this process when it has taken too long."""

    def end() -> None:
        last_words()
        os._exit(1)

    alarm = threading.Timer(LONGEST.total_seconds(), end)
    alarm.daemon = True
    alarm.start()
    return alarm


def _command(study: Study, *words: str) -> list[str]:
    module = "annotate_ui.monitoring.background_job"
    return [sys.executable, "-m", module, str(study.folder.resolve()), *words]


def _end(folder: Path, note: Note, failed: str | None) -> None:
    write_note(folder, replace(note, ended=_moment(), failed=failed))


def _path(folder: Path, ending: str) -> Path:
    return folder / _NAME.format(ending)


def _locked(study: Study) -> bool:
    try:
        with computing_lock(study.folder).acquire(timeout=0):
            return False
    except Timeout:
        return True


def _moment() -> str:
    return now().isoformat(timespec="seconds")


if __name__ == "__main__":
    _folder, _kind, *_judge = sys.argv[1:]
    sys.exit(main(Path(_folder), _kind, _judge[0] if _judge else None))
