"""Upgrades are proven with a migration of the tests' own, on top of the real ones."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import insert

from judge import JudgeSettings, show_run
from judge.runs.calls import begin_call, end_call
from study import Study, StudyError, upgrade_study
from study.database import SCHEMA_REVISION
from study.nouns import Query, Response, table
from study.upgrading import MIGRATIONS

# These tests are of creating and upgrading: none takes the copy of a template.
pytestmark = pytest.mark.usefixtures("real_database")

NEXT = """
import sqlalchemy as sa
from alembic import op

from study.migrations.append_only import protect

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    {body}
"""
REBUILD = """with op.batch_alter_table("query", recreate="always") as batch:
        batch.add_column(sa.Column("language", sa.String()))
    protect(["query"])"""
LOSE = 'op.execute("DROP TRIGGER response_refuses_delete"); op.execute("DELETE FROM response")'
ORPHAN = (
    'op.execute("DROP TRIGGER response_refuses_update"); '
    'op.execute("UPDATE response SET query_id = 99")'
)


def migrations_with(tmp_path: Path, body: str) -> Path:
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = NEXT.format(head=SCHEMA_REVISION, body=body)
    (folder / "versions" / "9999_next.py").write_text(text)
    return folder


@pytest.fixture
def filled(study: Study) -> Study:
    with study.write() as connection:
        connection.execute(
            insert(table(Query)).values(id=1, key="q", text="?", references=[], attributes={})
        )
        connection.execute(
            insert(table(Response)).values(
                key="r", version=1, text="!", query_id=1, content_hash=b"0" * 16
            )
        )
    study.close()
    return study


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_the_revision_in_the_code_is_the_newest_migration() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA_REVISION]


def test_a_study_of_this_version_needs_no_upgrade(study: Study) -> None:
    done = upgrade_study(study.folder)
    assert (done.before, done.after, done.copy) == (SCHEMA_REVISION, SCHEMA_REVISION, None)


def test_a_rebuilt_table_keeps_its_rows_and_a_copy_stays(filled: Study, tmp_path: Path) -> None:
    done = upgrade_study(filled.folder, migrations=migrations_with(tmp_path, REBUILD))
    database = filled.folder / "study.db"
    assert done.after == "9999"
    assert rows(database, "SELECT key, language FROM query") == [("q", None)]
    assert rows(database, "SELECT key FROM response") == [("r",)]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(database, "DELETE FROM query")
    assert done.copy is not None
    assert rows(done.copy, "SELECT version_num FROM alembic_version") == [(SCHEMA_REVISION,)]
    assert rows(done.copy, "SELECT key FROM query") == [("q",)]


@pytest.mark.parametrize(("body", "problem"), [(LOSE, "row counts"), (ORPHAN, "references")])
def test_an_upgrade_that_would_lose_something_is_undone(
    filled: Study, tmp_path: Path, body: str, problem: str
) -> None:
    database = filled.folder / "study.db"
    before = rows(database, "SELECT * FROM response")
    with pytest.raises(StudyError, match=problem):
        upgrade_study(filled.folder, migrations=migrations_with(tmp_path, body))
    assert rows(database, "SELECT * FROM response") == before
    assert rows(database, "SELECT version_num FROM alembic_version") == [(SCHEMA_REVISION,)]
    Study.open(filled.folder).close()


def test_a_failed_upgrade_can_be_tried_again(filled: Study, tmp_path: Path) -> None:
    with pytest.raises(StudyError):
        upgrade_study(filled.folder, migrations=migrations_with(tmp_path / "bad", LOSE))
    done = upgrade_study(filled.folder, migrations=migrations_with(tmp_path / "good", REBUILD))
    assert done.after == "9999"


def test_a_study_of_the_first_schema_opens(tmp_path: Path) -> None:
    """The fixture is a study made by release 0.1.0, as SQL."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text('name = "Made by 0.1.0"\n')
    script = (Path(__file__).parent / "releases" / "0.1.0.sql").read_text(encoding="utf-8")
    connection = sqlite3.connect(folder / "study.db")
    connection.executescript(script)
    connection.close()
    upgrade_study(folder)
    opened = Study.open(folder)
    assert len(opened.score_table()) == 5
    opened.close()


def test_a_study_of_schema_0004_keeps_its_run_and_takes_calls(tmp_path: Path) -> None:
    """The fixture is a study as it was before calls were kept, as SQL."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text('name = "Of schema 0004"\n')
    script = (Path(__file__).parent / "releases" / "schema-0004.sql").read_text(encoding="utf-8")
    connection = sqlite3.connect(folder / "study.db")
    connection.executescript(script)
    connection.close()
    done = upgrade_study(folder)
    assert (done.before, done.after) == ("0004", SCHEMA_REVISION)
    opened = Study.open(folder)
    assert len(opened.score_table()) == 5
    run = show_run(opened, "judge-1")
    assert (run.judgments, run.calls, run.account.cost) == (1, [], None)
    key = begin_call(opened, 1, JudgeSettings(price=(1.0, 2.0)), 3)
    end_call(opened, key, ended="done", answered=3, judged=3, seconds=1.5)
    opened.close()
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(folder / "study.db", "DELETE FROM judge_call_end")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(folder / "study.db", "UPDATE judge_call SET wanted = 0")
