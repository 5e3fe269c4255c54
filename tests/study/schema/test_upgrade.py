"""Upgrades, tested with a migration that exists only here, on top of the real ones."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import insert, inspect, text

from study import Study, StudyError, upgrade_study
from study.schema.database import SCHEMA_REVISION
from study.schema.tables import queries, responses
from study.schema.upgrade import MIGRATIONS

NEXT = """
import sqlalchemy as sa
from alembic import op

from study.schema.creation import protect

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    {body}
"""
REBUILD = """with op.batch_alter_table("query", recreate="always") as batch:
        batch.add_column(sa.Column("language", sa.String()))
    protect(op.get_bind(), ["query"])"""
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
            insert(queries).values(id=1, key="q", text="?", references=[], attributes={})
        )
        connection.execute(
            insert(responses).values(
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


def test_tables_of_before_the_first_release_are_refused(study: Study) -> None:
    with study.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    study.close()
    for open_it in (Study.open, upgrade_study):
        with pytest.raises(StudyError, match="tables of revision 0001, and this version reads"):
            open_it(study.folder)


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


@pytest.mark.parametrize(("body", "problem"), [(LOSE, "row counts"), (ORPHAN, "1 reference,")])
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


def test_a_table_that_a_migration_drops_is_noticed(filled: Study, tmp_path: Path) -> None:
    """A migration that drops a table loses its rows, be they none."""
    body = 'op.execute("DROP TABLE interim_analysis")'
    with pytest.raises(StudyError, match=r"interim_analysis: 0 before, None after"):
        upgrade_study(filled.folder, migrations=migrations_with(tmp_path, body))
    assert rows(filled.folder / "study.db", "SELECT count(*) FROM interim_analysis") == [(0,)]


def test_the_copy_of_an_earlier_upgrade_is_not_overwritten(filled: Study, tmp_path: Path) -> None:
    copy = filled.folder / f"study-before-upgrade-{SCHEMA_REVISION}.db"
    copy.write_bytes(b"kept")
    with pytest.raises(StudyError, match="move it away"):
        upgrade_study(filled.folder, migrations=migrations_with(tmp_path, REBUILD))
    assert copy.read_bytes() == b"kept"
    assert rows(filled.folder / "study.db", "SELECT version_num FROM alembic_version") == [
        (SCHEMA_REVISION,)
    ]


def test_a_study_of_a_later_version_is_refused(filled: Study) -> None:
    connection = sqlite3.connect(filled.folder / "study.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StudyError, match="later version"):
        upgrade_study(filled.folder)


@pytest.mark.parametrize("any_study", ["postgresql"], indirect=True)
def test_postgresql_wants_a_backup_confirmed(any_study: Study, tmp_path: Path) -> None:
    body = 'op.add_column("query", sa.Column("language", sa.String()))'
    migrations = migrations_with(tmp_path, body)
    with pytest.raises(StudyError, match="--backup-confirmed"):
        upgrade_study(any_study.folder, migrations=migrations)
    lost = migrations_with(tmp_path / "bad", 'op.execute("DROP TABLE interim_analysis")')
    with pytest.raises(StudyError, match="row counts"):
        upgrade_study(any_study.folder, migrations=lost, backup_confirmed=True)
    Study.open(any_study.folder).close()
    done = upgrade_study(any_study.folder, migrations=migrations, backup_confirmed=True)
    assert (done.before, done.after, done.copy) == (SCHEMA_REVISION, "9999", None)
    with any_study.read() as connection:
        assert "language" in {column["name"] for column in inspect(connection).get_columns("query")}
