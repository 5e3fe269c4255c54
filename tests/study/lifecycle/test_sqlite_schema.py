"""Studies are restored with the definitions of a study, also where a migration rebuilt tables."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from study import Study, StudyError, upgrade_study
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from study.schema import Noun
from study.schema.creation import MUTABLE
from study.schema.database import SCHEMA_REVISION
from tests.study.lifecycle.test_untrusted_backups import Members, members, packed
from tests.study.schema.test_upgrade import NEXT, migrations_with, rows

EARLIER = "0000"


@pytest.fixture(autouse=True)
def _an_earlier_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("study.schema.database.OLDEST_REVISION", EARLIER)


@pytest.fixture
def good(study: Study, tmp_path: Path) -> Members:
    done = backup(study, tmp_path)
    study.close()
    return members(done.path.read_bytes())


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """From an earlier revision to this version's, by a rebuild of every table."""
    names = sorted(Noun.metadata.tables)
    body = (
        f"for name in {names}:\n"
        '        with op.batch_alter_table(name, recreate="always"):\n'
        "            pass\n"
        f"    protect(op.get_bind(), {sorted(set(names) - MUTABLE)})"
    )
    folder = migrations_with(tmp_path, "pass")
    for version in (folder / "versions").glob("[0-9]*.py"):
        version.unlink()
    (folder / "versions" / "first.py").write_text(f'revision = "{EARLIER}"\ndown_revision = None\n')
    text = NEXT.format(head=EARLIER, body=body).replace('"9999"', f'"{SCHEMA_REVISION}"')
    (folder / "versions" / "next.py").write_text(text)
    return folder


def changed(contents: Members, tmp_path: Path, *statements: str, revision: str = "") -> Path:
    """Return a backup whose database was changed, and has an earlier revision if named."""
    database = tmp_path / "changed.db"
    database.write_bytes(contents["database.sqlite"])
    manifest = json.loads(contents["manifest.json"])
    with closing(sqlite3.connect(database)) as connection:
        for statement in statements:
            connection.executescript(statement)
        if revision:
            manifest["schema_revision"] = revision
            connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            connection.commit()
    path = tmp_path / "changed.ccrs-backup"
    data = {
        "database.sqlite": database.read_bytes(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    path.write_bytes(packed(contents | data))
    return path


def edited(before: str, after: str, table: str = "rater_answer") -> str:
    return (
        "PRAGMA writable_schema=ON; UPDATE sqlite_master SET "
        f"sql=replace(sql, '{before}', '{after}') WHERE name='{table}'"
    )


def test_an_upgraded_study_is_backed_up_and_restored(
    study: Study, migrations: Path, tmp_path: Path
) -> None:
    database = study.folder / "study.db"
    with study.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = ?", (EARLIER,))
    study.close()
    before = rows(database, "SELECT sql FROM sqlite_master WHERE name = 'response'")
    assert upgrade_study(study.folder, migrations=migrations).after == SCHEMA_REVISION
    assert rows(database, "SELECT sql FROM sqlite_master WHERE name = 'response'") != before
    with Study.open(study.folder) as upgraded:
        made = backup(upgraded, tmp_path)
    restore(made.path, tmp_path / "back")
    Study.open(tmp_path / "back").close()


ALTERED = {
    "column": "ALTER TABLE rater_answer ADD COLUMN more TEXT DEFAULT 'x'",
    "generated": (
        "ALTER TABLE rater_answer ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(comment))"
    ),
    "check": edited("CHECK (", "CHECK (value < 3 AND "),
    "default": edited("value FLOAT", "value FLOAT DEFAULT 50"),
    "conflict": edited("idempotency_key)", "idempotency_key) ON CONFLICT REPLACE"),
    "reference": edited(
        "REFERENCES assignment (id)", "REFERENCES assignment (id) ON DELETE CASCADE"
    ),
    "quoted": edited("value IS NOT NULL", 'value IS NOT "NULL"'),
    "comment": edited("value FLOAT", "value FLOAT /* */"),
}


@pytest.mark.parametrize("statement", ALTERED.values(), ids=ALTERED)
def test_a_table_with_another_definition(good: Members, tmp_path: Path, statement: str) -> None:
    with pytest.raises(StudyError, match="another definition of the table 'rater_answer'"):
        restore(changed(good, tmp_path, statement), tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (
            "DROP TRIGGER rater_answer_refuses_update",
            "lacks the trigger 'rater_answer_refuses_update'",
        ),
        ("DROP TRIGGER interim_analysis_refuses_delete", "lacks the trigger"),
        ("DROP INDEX ix_rater_public_id", "lacks the index 'ix_rater_public_id'"),
        (
            "DROP INDEX ix_rater_public_id; CREATE INDEX ix_rater_public_id ON rater (public_id)",
            "another definition of the index",
        ),
        ("DROP TABLE pause", "lacks the table 'pause'"),
        ("DELETE FROM alembic_version", "states no revision"),
        ("DROP TABLE alembic_version", "no such table: alembic_version"),
    ],
)
def test_a_database_with_less_than_a_study_has(
    good: Members, tmp_path: Path, statement: str, why: str
) -> None:
    with pytest.raises(StudyError, match=why):
        restore(changed(good, tmp_path, statement), tmp_path / "back")


def test_a_backup_of_an_earlier_version_is_checked_after_its_upgrade(
    good: Members, migrations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = partial(upgrade_study, migrations=migrations)
    monkeypatch.setattr("study.schema.upgrade.upgrade_study", upgrade)
    with pytest.raises(StudyError, match="another definition of the table 'rater_answer'"):
        restore(changed(good, tmp_path, ALTERED["default"], revision=EARLIER), tmp_path / "back")
    restore(changed(good, tmp_path, revision=EARLIER), tmp_path / "back")
    Study.open(tmp_path / "back").close()


def test_a_revision_that_no_version_has(good: Members, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="can't be upgraded: Can't locate revision"):
        restore(changed(good, tmp_path, revision=EARLIER), tmp_path / "back")
