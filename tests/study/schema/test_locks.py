"""Locks between processes: each kind has a key space of its own."""

from contextlib import suppress
from pathlib import Path

import pytest

from study import Study, StudyError
from study.schema.locks import LockSpace, exclusive, lock_until_commit

BUSY = StudyError("busy")


def test_a_lock_excludes_only_those_of_its_kind_and_key(any_study: Study) -> None:
    engine, folder = any_study.engine, any_study.folder
    with exclusive(engine, folder, LockSpace.JUDGE_RUN, 7, busy=BUSY) as is_locked:
        assert is_locked()
        with (
            pytest.raises(StudyError, match="busy"),
            exclusive(engine, folder, LockSpace.JUDGE_RUN, 7, busy=BUSY),
        ):
            pass
        for space, key in ((LockSpace.JUDGE_RUN, 8), (LockSpace.LABEL_STUDIO, 7)):
            with exclusive(engine, folder, space, key, busy=BUSY) as other:
                assert other()
    with exclusive(engine, folder, LockSpace.JUDGE_RUN, 7, busy=BUSY) as is_locked:
        assert is_locked()


def test_a_lock_is_released_where_its_block_fails(any_study: Study) -> None:
    for _ in range(2):
        with (
            suppress(ZeroDivisionError),
            exclusive(any_study.engine, any_study.folder, LockSpace.LABEL_STUDIO, busy=BUSY),
        ):
            _ = 1 / 0


def test_a_lock_of_a_transaction_keeps_no_lock_of_another_kind_waiting(any_study: Study) -> None:
    engine, folder = any_study.engine, any_study.folder
    with any_study.write() as connection:
        lock_until_commit(connection, LockSpace.ASSIGNMENT)
        with exclusive(engine, folder, LockSpace.JUDGE_RUN, 1, busy=BUSY) as is_locked:
            assert is_locked()


def test_no_other_module_names_an_advisory_lock() -> None:
    root = Path(__file__).resolve().parents[3]
    naming = [
        path.relative_to(root).as_posix()
        for package in ("study", "judge", "annotate_ui", "analysis")
        for path in (root / package).rglob("*.py")
        if "pg_advisory" in path.read_text(encoding="utf-8")
        or "pg_try_advisory" in path.read_text(encoding="utf-8")
    ]
    assert naming == ["study/schema/locks.py"]
