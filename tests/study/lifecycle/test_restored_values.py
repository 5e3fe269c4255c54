"""No value gets into a study by a backup that could not have been saved or imported."""

import io
import json
import re
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from study import Study, StudyError
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from tests.ccrs_command import in_process
from tests.study.lifecycle.conftest import plant
from tests.study.lifecycle.test_untrusted_backups import members, packed
from tests.study.populated_study import fill


def tampered(folder: Path, data: bytes, statement: str) -> Path:
    """Return a backup whose database was changed, its triggers as they were."""
    contents, path = members(data), folder / "d.db"
    path.write_bytes(contents["database.sqlite"])
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        changed = connection.execute(statement).rowcount
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
    assert changed > 0
    contents["database.sqlite"] = path.read_bytes()
    path.unlink()
    made = folder / "tampered.ccrs-backup"
    made.write_bytes(packed(contents))
    return made


def backup_of(folder: Path, fill_in: Callable[[Study], object]) -> bytes:
    study = Study.create(folder / "s")
    fill_in(study)
    done = backup(study, folder)
    study.close()
    return done.path.read_bytes()


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a backup with a rater's work, links, and comparisons."""
    return backup_of(tmp_path_factory.mktemp("rated"), plant)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a backup with scores of every kind."""
    return backup_of(tmp_path_factory.mktemp("scored"), fill)


def refusal(tmp_path: Path, made: Path) -> str:
    with pytest.raises(StudyError) as caught:
        restore(made, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    message = str(caught.value)
    assert message.startswith(f"{made}: table ")
    assert "Nothing was restored; restore another backup, or correct this row" in message
    return message


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (
            "UPDATE rater_answer SET value = 1e6 WHERE id = 1",
            "row 1: 1000000 is outside the scale 0 to",
        ),
        (
            "UPDATE rater_answer SET value = 9e999 WHERE id = 1",
            r"row 1: value 9.0e\+999 is not a number|value Inf is not a number",
        ),
        (
            "UPDATE rater_answer SET value = 'high' WHERE id = 1",
            "row 1: value 'high' is not a number",
        ),
        ("UPDATE rater_answer SET value = NULL WHERE id = 1", "marks exactly when its status"),
        ("UPDATE rater_answer SET status = 'good' WHERE id = 1", "status 'good': Input should be"),
        (
            "UPDATE rater_answer SET active_seconds = -5 WHERE id = 1",
            "active_seconds '-5.0': Input",
        ),
        ("UPDATE rater_answer SET kind = 'reply' WHERE id = 1", "a reply, and nothing else, has"),
        ("UPDATE rater_answer SET flags = '{' WHERE id = 1", "row 1: flags '{' is not JSON"),
        ("UPDATE rater_answer SET created_at = 'today' WHERE id = 1", "'today' is not a time"),
        ("UPDATE rater_answer SET late = 7 WHERE id = 1", "row 1: late 7 is not 0 or 1"),
        ("UPDATE rater_answer SET value = 400 WHERE kind = 'choice'", "400 is outside the scale"),
        (
            "UPDATE scorer_answer SET value = -1 WHERE id = 2",
            "row 2: -1 is outside the scale 0 to 100",
        ),
        (
            "UPDATE scorer_answer SET value = 1000 WHERE second_response_id > 0",
            "1000 is outside the scale",
        ),
        ("UPDATE rater SET attributes = x'00'", "attributes .* is not JSON"),
        ("UPDATE invitation SET token_hash = 'x' WHERE id = 1", "token_hash 'x' is not bytes"),
    ],
)
def test_a_row_that_could_not_have_been_saved(
    rated: bytes, tmp_path: Path, statement: str, why: str
) -> None:
    message = refusal(tmp_path, tampered(tmp_path, rated, statement))
    assert re.search(why, message), message


@pytest.mark.parametrize("table", ["scorer_answer", "judge_answer", "rater_answer"])
def test_scores_of_every_kind_are_on_their_scale(scored: bytes, tmp_path: Path, table: str) -> None:
    statement = f"UPDATE {table} SET value = 101 WHERE value > 1"
    assert "101 is outside the scale 0 to 100" in refusal(
        tmp_path, tampered(tmp_path, scored, statement)
    )


def test_a_judgment_that_was_read_again_is_on_its_scale(scored: bytes, tmp_path: Path) -> None:
    statement = (
        "INSERT INTO reading (id, judgment_id, revision, parser_version, value, created_at) "
        "SELECT 1, min(id), 1, 'p', 101, '2026-01-01 00:00:00.000000' FROM judge_answer"
    )
    contents, path = members(scored), tmp_path / "d.db"
    path.write_bytes(contents["database.sqlite"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    manifest = json.loads(contents["manifest.json"])
    manifest["rows"]["reading"] = 1
    contents |= {
        "database.sqlite": path.read_bytes(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    made = tmp_path / "tampered.ccrs-backup"
    made.write_bytes(packed(contents))
    assert "'reading', row 1: 101 is outside" in refusal(tmp_path, made)


def test_the_command_names_row_and_reason(rated: bytes, tmp_path: Path) -> None:
    made = tampered(tmp_path, rated, "UPDATE rater_answer SET value = 'high' WHERE id = 1")
    done = in_process("restore", made, tmp_path / "back")
    assert done.returncode == 2
    assert "table 'rater_answer', row 1: value 'high' is not a number." in " ".join(
        done.stderr.split()
    )
    assert "Traceback" not in done.stderr


def test_a_new_database_is_private(study: Study) -> None:
    for path in study.folder.glob("study.db*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "lied-about"])
def test_a_manifest_that_expands_is_refused_before_it_is_read(
    rated: bytes, tmp_path: Path, stated: bool
) -> None:
    contents = members(rated)
    size = 200 << 20
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in contents.items():
            target.writestr(name, b" " * size if name == "manifest.json" else data)
    data = stream.getvalue()
    if not stated:
        lie = data.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
        assert lie != data
        data = lie
    made = tmp_path / "bomb.ccrs-backup"
    made.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(StudyError, match=r"manifest\.json.*Nothing was restored"):
            restore(made, tmp_path / "back")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_settings_that_expand_are_refused(rated: bytes, tmp_path: Path) -> None:
    contents = members(rated)
    contents["study.toml"] = b"#" * (20 << 20)
    made = tmp_path / "bomb.ccrs-backup"
    made.write_bytes(packed(contents))
    with pytest.raises(StudyError, match=r"study\.toml unpacks to 20 MB; at most 16 MB are read"):
        restore(made, tmp_path / "back")


def test_what_was_not_changed_comes_back(rated: bytes, scored: bytes, tmp_path: Path) -> None:
    for number, data in enumerate((rated, scored)):
        made = tmp_path / f"{number}.ccrs-backup"
        made.write_bytes(data)
        restored = restore(made, tmp_path / str(number))
        assert (tmp_path / str(number) / "study.db").stat().st_mode & 0o077 == 0
        assert restored.rows == json.loads(members(data)["manifest.json"])["rows"]
