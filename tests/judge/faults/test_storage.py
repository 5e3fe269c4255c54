"""Two processes, a busy database, a full disk, a run that is killed."""

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copytree

import pytest

from judge import show_run
from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from study.schema.database import _UNWRITABLE
from tests.judge.faults.faulty_run import (
    SHORT_WAITS,
    WHOLE,
    InTheBackground,
    assert_completes,
    assert_stored_once,
    commanded,
    judged,
    judgments,
    until,
)
from tests.judge.stub.process import ROOT, Stub
from tests.small_disk import fill_up, small_disk

LIMIT = "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"


@contextmanager
def another_process(
    study: Study, stub: Stub, *more: str, file_size: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run `ccrs judge` on the study in a process of its own."""

    # Python ignores the signal of this limit, so the kernel refuses each write beyond it.
    limit = "" if file_size is None else f"import resource; {LIMIT.format(file_size)}; "
    options = {**SHORT_WAITS, "base_url": stub.base_url, "concurrency": 4}
    words = [w for name, v in options.items() for w in (f"--{name.replace('_', '-')}", str(v))]
    # A shell starts what runs in the background deaf to Ctrl-C, and children inherit that.
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    main = f"{limit}{hears}from study.cli.root import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "judge", str(study.folder), *words, *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_two_processes_do_not_work_on_one_run(small_study: Study, stub: Stub) -> None:
    stub.behave("slow", delay=0.5)
    with another_process(small_study, stub) as other:
        until(lambda: len(stub.log().judged) >= 4)
        with pytest.raises(StudyError, match="Another process is working on the run 'stub-judge'"):
            judged(small_study, stub)
        # Another run of the same study has nothing to wait for.
        parallel = judged(small_study, stub, name="parallel", temperature=0.5, limit=8)
        assert parallel.judged == 8
        output, errors = other.communicate(timeout=60)
        assert (other.returncode, errors) == (0, "")
        assert f"{WHOLE} judgments of the run 'stub-judge' were stored" in output
    of_both = [row["run_id"] for row in judgments(small_study)]
    assert sorted(of_both.count(run) for run in set(of_both)) == [8, WHOLE]
    assert judged(small_study, stub).judged == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_loses_only_what_was_under_way(
    small_study: Study, stub: Stub, how: signal.Signals
) -> None:
    stub.behave("slow", delay=0.05)
    with another_process(small_study, stub) as other:
        until(lambda: len(judgments(small_study)) >= 10)
        other.send_signal(how)
        _, errors = other.communicate(timeout=60)
    if how == signal.SIGINT:
        assert other.returncode == 2
        assert "Traceback" not in errors
        assert "run the command again" in errors
    stored = assert_stored_once(small_study)
    answered = sum(request["status"] == 200 for request in stub.log().judged)
    assert stored >= 10
    assert answered - 4 <= stored <= answered
    # The lock went with the process: the next one goes on at once.
    assert_completes(small_study, stub)
    # What was killed has a beginning and no end.
    ended = "interrupted" if how == signal.SIGINT else None
    assert [call.ended for call in show_run(small_study, "stub-judge").calls] == [ended, "done"]


def holding(path: Path, seconds: float) -> subprocess.Popen[str]:
    """Return another process that writes to the database for so long, once it does."""
    code = (
        "import sqlite3, sys, time\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)\n"
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True)\n"
        "time.sleep(float(sys.argv[2])); c.execute('ROLLBACK')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_busy_database_is_waited_for(small_study: Study, stub: Stub) -> None:
    stub.behave("slow", delay=0.03)
    run = InTheBackground(lambda: judged(small_study, stub, concurrency=4))
    until(lambda: len(judgments(small_study)) >= 8)
    with holding(small_study.folder / small_study.config.database, 1.0) as other:
        before = len(judgments(small_study))
        time.sleep(0.5)
        assert len(judgments(small_study)) == before
        # No slot is free before its judgment is stored, so nothing piles up.
        log = stub.log()
        assert log.unanswered == 0
        assert sum(r["status"] == 200 for r in log.judged) - before <= 4
        other.wait()
    run.wait()
    assert run.error is None
    assert assert_stored_once(small_study) == WHOLE
    assert set(stub.log().times_asked().values()) == {1}


def test_a_database_that_stays_busy_stops_the_run(
    small_study: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.schema.database._BUSY_SECONDS", 0.3)
    stub.behave("slow", delay=0.03)
    with closing(Study.open(small_study.folder)) as hasty:
        run = InTheBackground(lambda: judged(hasty, stub, concurrency=4))
        until(lambda: len(judgments(small_study)) >= 8)
        with holding(small_study.folder / small_study.config.database, 30) as other:
            run.wait()
            other.kill()
            other.communicate()
    assert isinstance(run.error, RunStoppedError)
    assert "database is locked. Another process is writing" in str(run.error)
    assert run.error.outcome.judged == assert_stored_once(small_study) < WHOLE
    assert_completes(small_study, stub)


def test_a_full_disk_stops_the_run_and_keeps_what_was_stored(
    small_study: Study, stub: Stub, tmp_path: Path
) -> None:
    small_study.close()
    with small_disk(tmp_path / "disk", 8 * 2**20) as disk:
        copytree(small_study.folder, disk / "study")
        study = Study.open(disk / "study")
        run = InTheBackground(lambda: judged(study, stub, concurrency=4))
        stub.behave("slow", delay=0.03)
        until(lambda: len(judgments(study)) >= 8)
        # Something else takes the rest of the disk.
        fill_up(disk / "large")
        run.wait()
        assert isinstance(run.error, RunStoppedError)
        assert "Free some space and run the command again" in str(run.error)
        (disk / "large").unlink()
        assert run.error.outcome.judged == assert_stored_once(study) < WHOLE
        assert_completes(study, stub)
        with closing(sqlite3.connect(study.folder / study.config.database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        study.close()


def test_a_limit_on_files_stops_the_run_and_keeps_what_was_stored(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("slow", delay=0.01)
    # A closed database has no log file; after some commits the log exceeds the limit.
    small_study.close()
    with another_process(small_study, stub, file_size=150_000) as other:
        output, errors = other.communicate(timeout=60)
    assert other.returncode == 2, output
    assert "run the command again" in errors
    assert "Traceback" not in errors
    assert 0 < assert_stored_once(small_study) < WHOLE
    assert f"{assert_stored_once(small_study)} judgments of the run" in output
    assert_completes(small_study, stub)


def test_a_study_on_a_network_file_system_is_not_judged(
    small_study: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = small_study.folder.parent.resolve()
    mounted = f"41 22 0:44 / {point} rw - nfs4 server:/export rw"
    monkeypatch.setattr("study.lifecycle.file_system._mounted", lambda: mounted)
    with pytest.raises(StudyError, match=r"is on a network file system \(nfs4 at .*PostgreSQL"):
        judged(small_study, stub)
    assert commanded(small_study, stub).code == 2
    assert (stub.log().asked, judgments(small_study)) == (0, [])


def test_a_full_disk_is_reported_without_denying_what_was_stored() -> None:
    """The message comes with the number of judgments that were stored before."""
    for remedy in _UNWRITABLE.values():
        assert "nothing was written" not in remedy
