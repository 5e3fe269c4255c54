"""The process that computes the interim figures.

`python -m annotate_ui.monitoring.background_process STUDY KIND [JUDGE]`

It ends with status 0 when the look is stored, and notes beside study.toml how it ended.
"""

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import cast

from filelock import Timeout

from annotate_ui.monitoring.background_job import (
    LONGEST,
    Note,
    computing_lock,
    read_note,
    write_note,
)
from study.schema import now
from study.study import Study

_NICE = 10


def main(folder: Path, kind: str, judge: str | None) -> int:
    """Compute and store one look; return the exit status."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        with computing_lock(folder):
            note = read_note(folder) or Note(kind, now().isoformat(timespec="seconds"))
            alarm = threading.Timer(LONGEST.total_seconds(), _give_up, (folder, note))
            alarm.daemon = True
            alarm.start()
            failed = _looked(folder, kind, judge)
            alarm.cancel()
            _end(folder, note, failed)
    except Timeout:
        # Another process computes, and its note stands.
        return 1
    return 0 if failed is None else 1


def _looked(folder: Path, kind: str, judge: str | None) -> str | None:
    """Return why there is no result; None where it is stored."""
    from analysis.core.errors import AnalysisError
    from annotate_ui.monitoring.interim_analysis import Kind, look
    from study.errors import StudyError

    try:
        study = Study.open(folder)
        try:
            look(study, cast(Kind, kind), "page", judge)
        finally:
            study.close()
    except (StudyError, AnalysisError) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  (whatever it was, the owner is told)
        return f"{type(error).__name__}: {error}"
    return None


def _give_up(folder: Path, note: Note) -> None:
    minutes = LONGEST.total_seconds() / 60
    _end(folder, note, f"not finished after {minutes:g} minutes")
    os._exit(1)


def _end(folder: Path, note: Note, failed: str | None) -> None:
    write_note(folder, replace(note, ended=now().isoformat(timespec="seconds"), failed=failed))


if __name__ == "__main__":
    _folder, _kind, *_judge = sys.argv[1:]
    sys.exit(main(Path(_folder), _kind, _judge[0] if _judge else None))
