import gc
import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from study import Study, StudyError
from study.schema import Noun
from study.schema.creation import MUTABLE
from study.schema.tables import constructs, passages, queries, raters

# How a database is opened is tested here.
pytestmark = pytest.mark.usefixtures("real_database")


def test_a_study_is_made_and_opened_again(tmp_path: Path) -> None:
    made = Study.create(tmp_path / "a study")
    opened = Study.open(tmp_path / "a study")
    assert opened.config.name == "a study"
    assert opened.config_hash == made.config_hash
    made.close()
    opened.close()


def test_no_study_is_made_over_another(study: Study) -> None:
    with pytest.raises(StudyError, match="already contains a study"):
        Study.create(study.folder)


def test_no_study_is_made_over_another_database(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"")
    with pytest.raises(StudyError, match="move it away first"):
        Study.create(tmp_path)


def test_settings_that_cannot_be_used_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(StudyError):
        Study.create(tmp_path / "s", "sede = 1")
    assert not (tmp_path / "s").exists()


def test_a_failed_start_leaves_nothing_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from study.schema import creation

    def fail(engine: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(creation, "create_schema", fail)
        with pytest.raises(OSError, match="No space"):
            Study.create(tmp_path / "s")
    assert list((tmp_path / "s").iterdir()) == []
    Study.create(tmp_path / "s").close()


def test_of_two_that_make_one_study_one_succeeds(any_study: Study, tmp_path: Path) -> None:
    """The database is there, study.toml is not yet: the other process is in between."""
    from study.schema.creation import create_schema

    settings = (any_study.folder / "study.toml").read_text()
    with pytest.raises(StudyError, match="already contains a study"):
        create_schema(any_study.engine)
    if any_study.engine.dialect.name == "postgresql":
        with pytest.raises(StudyError, match="already contains a study"):
            Study.create(tmp_path / "other", settings)
    Study.open(any_study.folder).close()


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("")
    with pytest.raises(StudyError, match="is a file"):
        Study.create(tmp_path / "s")


def test_settings_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    made = Study.create(tmp_path / "s")
    path = tmp_path / "s" / "study.toml"
    path.write_text('name = "Mark"\n', encoding="utf-8-sig")
    opened = Study.open(tmp_path / "s")
    assert opened.config.name == "Mark"
    made.close()
    opened.close()


def test_a_server_that_does_not_answer_is_said_with_the_remedy(tmp_path: Path) -> None:
    address = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
    with pytest.raises(StudyError, match="Check that the server runs"):
        Study.create(tmp_path / "s", f'database = "{address}"\n')


def test_a_database_that_lacks_a_column_is_said_with_the_remedy(any_study: Study) -> None:
    with any_study.write() as connection:
        connection.execute(text("ALTER TABLE query RENAME COLUMN attributes TO traits"))
    with (
        pytest.raises(StudyError, match=r"attributes.*is missing.*restore it from a backup"),
        any_study.read() as connection,
    ):
        connection.execute(select(queries.c.attributes))


def test_a_folder_whose_name_means_something_in_an_address_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "50% ? #1"
    Study.create(folder).close()
    assert (folder / "study.db").exists()


def test_a_folder_without_a_study_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="ccrs init"):
        Study.open(tmp_path)


def test_a_missing_or_damaged_database_is_said(study: Study) -> None:
    study.close()
    path = study.folder / "study.db"
    path.write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(StudyError, match="damaged"):
        Study.open(study.folder)
    path.unlink()
    with pytest.raises(StudyError, match="is missing"):
        Study.open(study.folder)


@pytest.mark.parametrize(
    ("revision", "remedy"), [("0000", "before the first release"), ("9999", "later")]
)
def test_a_database_of_another_version_is_not_touched(
    study: Study, revision: str, remedy: str
) -> None:
    study.close()
    with sqlite3.connect(study.folder / "study.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.close()
    with pytest.raises(StudyError, match=remedy):
        Study.open(study.folder)


def test_sqlite_is_durable_and_keeps_references(study: Study) -> None:
    with study.read() as connection:
        pragma = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_two_writers_that_read_first_both_succeed(study: Study) -> None:
    """A deferred transaction fails here; an immediate one waits."""
    failures: list[Exception] = []

    def work(name: str) -> None:
        try:
            for turn in range(20):
                with study.write() as connection:
                    connection.execute(select(func.count()).select_from(queries)).scalar_one()
                    connection.execute(
                        insert(queries).values(
                            key=f"{name}{turn}", text="?", references=[], attributes={}
                        )
                    )
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    workers = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    with study.read() as connection:
        assert connection.execute(select(func.count()).select_from(queries)).scalar_one() == 40


def test_who_reads_sees_one_state_while_another_writes(any_study: Study) -> None:
    count = select(func.count()).select_from(raters)
    with any_study.read() as reading:
        before = reading.execute(count).scalar()
        with any_study.write() as writing:
            writing.execute(insert(raters).values(code="anna"))
        assert reading.execute(count).scalar() == before
    with any_study.read() as reading:
        assert reading.execute(count).scalar() == 1


def test_a_failed_transaction_leaves_nothing(any_study: Study) -> None:

    def fail() -> None:
        with any_study.write() as connection:
            connection.execute(insert(raters).values(code="r1", attributes={}))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with any_study.read() as connection:
        assert connection.execute(select(func.count()).select_from(raters)).scalar_one() == 0


def test_the_schema_of_a_database_is_that_of_the_models(any_study: Study) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with any_study.read() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Noun.metadata) == []


def test_stored_facts_cannot_be_changed_or_deleted(any_study: Study) -> None:
    with any_study.write() as connection:
        connection.execute(insert(passages).values(text="a", content_hash=b"0" * 16))
    for statement in (update(passages).values(text="b"), delete(passages)):
        with pytest.raises(DBAPIError, match="append-only"), any_study.write() as connection:
            connection.execute(statement)
    from sqlalchemy import text

    query = (
        "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger'"
        if any_study.engine.dialect.name == "sqlite"
        else "SELECT event_object_table FROM information_schema.triggers"
    )
    with any_study.read() as connection:
        protected = {row[0] for row in connection.execute(text(query))}
    assert protected == {t.name for t in Noun.metadata.sorted_tables} - MUTABLE


def test_a_construct_changed_in_the_settings_is_a_new_version(any_study: Study) -> None:
    path = any_study.folder / "study.toml"
    before = path.read_text()
    section = (
        '[[constructs]]\nkey = "FL"\nname = "Fluency"\nquestion = "How well does it read?"\n'
        "scale = { min = 1, max = 5 }\n"
    )
    path.write_text(before + section)
    first = Study.open(any_study.folder)
    path.write_text(before + section.replace("max = 5", "max = 7"))
    second = Study.open(any_study.folder)
    unchanged = Study.open(any_study.folder)
    with unchanged.read() as connection:
        assert unchanged.construct_versions(connection) == {"FL": 2}
        stored = connection.execute(
            select(constructs.c.version, constructs.c.scale_max)
            .where(constructs.c.key == "FL")
            .order_by(constructs.c.version)
        ).all()
    assert [tuple(row) for row in stored] == [(1, 5.0), (2, 7.0)]
    for opened in (first, second, unchanged):
        opened.close()


def test_a_held_study_keeps_its_constructs_while_others_change_them(study: Study) -> None:
    pinned = study.pinned()
    path = study.folder / "study.toml"
    path.write_text('[[constructs]]\nkey = "QR"\nname = "Q"\nquestion = "?"\n')
    changed = Study.open(study.folder)
    for _ in range(2):
        with pinned.write() as connection:
            assert pinned.construct_versions(connection)["QR"] == 1
        with changed.write() as connection:
            assert changed.construct_versions(connection) == {"QR": 2}
    changed.close()


def test_a_pinned_study_that_is_dropped_closes_no_connection_in_use(study: Study) -> None:
    with study.read() as connection:
        pool = study.engine.pool
        study.pinned()
        gc.collect()
        connection.execute(select(constructs)).all()
    assert study.engine.pool is pool
