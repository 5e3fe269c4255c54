"""Backups: whole while others write, and brought back as they were."""

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, select, text
from sqlalchemy.engine import make_url

from study import Study, StudyError
from study.errors import StudyExistsError
from study.lifecycle.backup import backup
from study.lifecycle.erase import erase
from study.lifecycle.restore import restore
from study.schema import Erasure, Noun, Rater
from study.schema.tables import scorer_answers
from tests.study.lifecycle.conftest import (
    CODE,
    OTHER,
    Planted,
    everything,
    need_pg_dump,
    plant,
    rows,
)


@pytest.fixture
def elsewhere(planted: Planted) -> Iterator[str | None]:
    """Return an empty database for what is restored; None where it needs none."""
    if planted.study.engine.dialect.name == "sqlite":
        yield None
        return
    need_pg_dump(planted.study)
    name = f"ccrs_test_{uuid4().hex}"
    server = create_engine(os.environ["CCRS_TEST_POSTGRESQL"], isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield (
        make_url(planted.study.config.database)
        .set(database=name)
        .render_as_string(hide_password=False)
    )
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


def shown(study: Study) -> str:
    with study.read() as connection:
        return repr(
            [
                sorted(map(repr, connection.execute(select(t)).all()))
                for t in Noun.metadata.sorted_tables
            ]
        )


def test_the_words_of_own_prompts_come_back_with_the_runs(study: Study, tmp_path: Path) -> None:
    folder = study.folder / "prompts" / "mine"
    folder.mkdir(parents=True)
    words = {"version.toml": "scale = [0, 100]\n", "QR.txt": "{response} Größe?\n"}
    for name, text_ in words.items():
        (folder / name).write_text(text_, encoding="utf-8")
    # Neither is a part of a prompt version.
    (folder / "notes.md").write_text("mine")
    (folder / "CC.txt").symlink_to(tmp_path / "elsewhere.txt")
    done = backup(study, tmp_path)
    back = restore(done.path, tmp_path / "back")
    restored = {
        path.relative_to(back.folder / "prompts").as_posix(): path.read_text(encoding="utf-8")
        for path in (back.folder / "prompts").rglob("*")
        if path.is_file()
    }
    assert restored == {f"mine/{name}": text_ for name, text_ in words.items()}


def test_what_comes_back_is_what_was_there(
    planted: Planted, elsewhere: str | None, tmp_path: Path
) -> None:
    study = planted.study
    done = backup(study, tmp_path)
    assert done.path.name.startswith("any-study-")
    assert done.path.suffix == ".ccrs-backup"
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
    assert done.rows["rater_answer"] == 3
    restore(done.path, tmp_path / "back", database=elsewhere)
    again = Study.open(tmp_path / "back")
    assert shown(again) == shown(study)
    with pytest.raises(Exception, match="append-only"), again.write() as connection:
        connection.execute(scorer_answers.delete())
    again.close()
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_who_was_erased_since_is_in_the_backup_and_can_be_erased_again(
    planted: Planted, elsewhere: str | None, tmp_path: Path
) -> None:
    study = planted.study
    done = backup(study, tmp_path / "one.ccrs-backup")
    erase(study, CODE)
    restore(done.path, tmp_path / "back", database=elsewhere)
    again = Study.open(tmp_path / "back")
    assert CODE in [row["code"] for row in rows(again, Rater)]
    assert rows(again, Erasure) == []
    erase(again, CODE)
    assert everything(again) == everything(study)
    assert [row["code"] for row in rows(again, Rater)] == [OTHER]
    again.close()
    if elsewhere is None:
        restored = (tmp_path / "back" / "study.db").read_bytes()
        assert [word for word in planted.words if word in restored] == []


def test_a_backup_made_after_an_erasure_has_its_row_and_not_the_person(
    planted_sqlite: Planted, tmp_path: Path
) -> None:
    study = planted_sqlite.study
    erase(study, CODE)
    done = backup(study, tmp_path)
    restore(done.path, tmp_path / "back")
    again = Study.open(tmp_path / "back")
    assert rows(again, Erasure) == rows(study, Erasure) != []
    again.close()
    restored = (tmp_path / "back" / "study.db").read_bytes()
    assert [word for word in planted_sqlite.words if word in restored] == []


def test_files_that_the_settings_name_go_along(tmp_path: Path) -> None:
    settings = '[rating]\nconsent = "consent.md"\ninstructions = "how.md"\n'
    study = Study.create(tmp_path / "s", settings)
    (tmp_path / "s" / "consent.md").write_text("Agree?")
    with pytest.raises(StudyError, match=r"names how\.md"):
        backup(study)
    (tmp_path / "s" / "how.md").write_text("So.")
    (tmp_path / "s" / "private.txt").write_text("not named")
    done = backup(study, tmp_path)
    assert done.files == ("consent.md", "how.md")
    restore(done.path, tmp_path / "back")
    names = {path.name for path in (tmp_path / "back").iterdir()} - {"study.db-wal", "study.db-shm"}
    assert names == {"study.toml", "study.db", "consent.md", "how.md"}
    assert (tmp_path / "back" / "study.toml").read_text() == settings
    study.close()


def test_places_that_are_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="inside the study's folder"):
        backup(study, study.folder)
    with pytest.raises(StudyError, match="not a folder"):
        backup(study, tmp_path / "none" / "b.ccrs-backup")
    done = backup(study, tmp_path / "b.ccrs-backup")
    with pytest.raises(StudyError, match="already exists"):
        backup(study, done.path)
    with pytest.raises(StudyExistsError):
        restore(done.path, study.folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    with pytest.raises(StudyError, match="not empty"):
        restore(done.path, tmp_path / "full")
    with pytest.raises(StudyError, match="does not exist"):
        restore(tmp_path / "none.ccrs-backup", tmp_path / "back")
    (tmp_path / "empty").mkdir()
    restore(done.path, tmp_path / "empty")
    Study.open(tmp_path / "empty").close()


def test_a_backup_while_others_save_loses_nothing(study: Study, tmp_path: Path) -> None:
    plant(study)
    # Large enough that the copy takes many steps while rows come in.
    with study.write() as connection:
        connection.exec_driver_sql("CREATE TABLE filling (content BLOB)")
        connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
            "INSERT INTO filling SELECT randomblob(4000) FROM n"
        )
        connection.exec_driver_sql("CREATE TABLE saved (number INTEGER PRIMARY KEY)")
    stop, saved = threading.Event(), []

    def save() -> None:
        place = study.folder / "study.db"
        with closing(sqlite3.connect(place, isolation_level=None, timeout=60)) as writer:
            while not stop.is_set():
                writer.execute("BEGIN IMMEDIATE")
                number = writer.execute("INSERT INTO saved DEFAULT VALUES").lastrowid
                writer.execute("COMMIT")
                saved.append((number, time.monotonic()))
                time.sleep(1 / 60)

    thread = threading.Thread(target=save)
    thread.start()
    time.sleep(0.5)
    began = time.monotonic()
    done = backup(study, tmp_path)
    ended = time.monotonic()
    stop.set()
    thread.join()
    before = [number for number, at in saved if at <= began]
    meanwhile = [number for number, at in saved if began < at < ended]
    assert len(meanwhile) > 2, "saves went on"
    kept = done.rows["saved"]
    assert len(before) <= kept <= len(saved)
    with closing(sqlite3.connect(study.folder / "study.db")) as live:
        numbers = {row[0] for row in live.execute("SELECT number FROM saved")}
    assert numbers == {number for number, _ in saved}


def test_without_pg_dump_it_says_so(
    any_study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any_study.engine.dialect.name == "sqlite":
        return
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StudyError, match="pg_dump is not installed"):
        backup(any_study, tmp_path / "b.ccrs-backup")
    assert not (tmp_path / "b.ccrs-backup").exists()


def test_a_full_database_is_not_restored_into(planted: Planted, tmp_path: Path) -> None:
    study = planted.study
    if study.engine.dialect.name == "sqlite":
        return
    need_pg_dump(study)
    done = backup(study, tmp_path)
    before = everything(study)
    with pytest.raises(StudyExistsError, match="already contains"):
        restore(done.path, tmp_path / "back")
    assert everything(study) == before
    assert not (tmp_path / "back").exists()


def test_backup_and_restore_as_json(study: Study, tmp_path: Path) -> None:
    done = backup(study, tmp_path)
    assert json.loads(json.dumps(done.as_json()))["bytes"] == done.path.stat().st_size
    back = restore(done.path, tmp_path / "back")
    assert json.loads(json.dumps(back.as_json()))["rows"] == done.rows


def test_a_backup_that_fails_leaves_nothing(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from study.lifecycle import backup as backing_up

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backing_up, "write_backup_file", fails)
    with pytest.raises(OSError, match="No space"):
        backup(study, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"study"}


def test_a_backup_without_room_is_refused(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    usage = shutil.disk_usage(tmp_path)
    # The copy and the compressed file may both be as large as the database.
    needed = 2 * (study.folder / "study.db").stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=needed - 1))
    with pytest.raises(StudyError, match="Free some space"):
        backup(study, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=needed))
    assert backup(study, tmp_path).path.is_file()
