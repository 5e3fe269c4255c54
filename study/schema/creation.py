"""The tables of a new study, created from the models, and the triggers that protect them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    text,
)

from study.errors import StudyError, StudyExistsError
from study.schema.base import Noun
from study.schema.database import SCHEMA_REVISION, writing
from study.schema.locks import LockSpace, lock_until_commit
from study.schema.tables import study_identities

# As Alembic defines the table in which it keeps a database's revision.
VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def create_schema(engine: Engine) -> None:
    """Create all tables with their triggers, the study's random identity and the revision stamp.

    Raises
    ------
    StudyExistsError
        The database contains a study, which another process may just have created.
    """
    with writing(engine) as connection:
        lock_until_commit(connection, LockSpace.SCHEMA)
        if connection.dialect.has_table(connection, VERSION.name):
            raise StudyExistsError(
                "The database already contains a study; name another in study.toml."
            )
        Noun.metadata.create_all(connection, checkfirst=False)
        protect(connection, [t.name for t in Noun.metadata.sorted_tables if t.name not in MUTABLE])
        connection.execute(insert(study_identities))
        VERSION.create(connection, checkfirst=False)
        connection.execute(insert(VERSION).values(version_num=SCHEMA_REVISION))


MUTABLE = frozenset(
    {"rater", "assignment", "invitation", "comparison", "enrolment_link", "external_task"}
)
"""Tables whose rows may change; all others are append-only."""

_MESSAGE = "is append-only: a change is a new row"


def protect(connection: Connection, tables: Iterable[str]) -> None:
    """Refuse UPDATE and DELETE on these tables from now on.

    A migration that rebuilds one of them in SQLite loses its triggers and calls this again.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger AS $$ "
            f"BEGIN RAISE EXCEPTION '%% {_MESSAGE}', TG_TABLE_NAME; END $$ LANGUAGE plpgsql"
        )
        for table in tables:
            connection.exec_driver_sql(
                f'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON "{table}" '
                "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
            )
        return
    for statement in sqlite_triggers(tables).values():
        connection.exec_driver_sql(statement)


def sqlite_triggers(tables: Iterable[str]) -> dict[str, str]:
    """Return the statements that create the triggers of these tables in SQLite, by name."""
    return {
        f"{table}_refuses_{action.lower()}": f"CREATE TRIGGER {table}_refuses_{action.lower()} "
        f'BEFORE {action} ON "{table}" '
        f"BEGIN SELECT RAISE(ABORT, '{table} {_MESSAGE}'); END"
        for table in tables
        for action in ("UPDATE", "DELETE")
    }


_TRIGGERS = "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"


@contextmanager
def append_only_suspended(connection: Connection, tables: Iterable[str]) -> Iterator[None]:
    """Allow UPDATE and DELETE on these tables inside the block.

    The triggers are removed in the transaction of `connection`, so no other connection sees the
    tables without them, and are created again at the end of the block. If the block fails, the
    rollback of the transaction restores them.
    """
    tables = sorted(set(tables))
    if connection.dialect.name == "postgresql":
        protected = [
            row[0]
            for row in connection.execute(
                text("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'append_only'")
            )
        ]
        for name in tables:
            if name in protected:
                connection.exec_driver_sql(f'ALTER TABLE "{name}" DISABLE TRIGGER append_only')
        yield
        for name in tables:
            if name in protected:
                connection.exec_driver_sql(f'ALTER TABLE "{name}" ENABLE TRIGGER append_only')
        return
    before = list(connection.execute(text(_TRIGGERS)))
    ours = [row for row in before if row.tbl_name in tables]
    for row in ours:
        connection.exec_driver_sql(f'DROP TRIGGER "{row.name}"')
    yield
    for row in ours:
        connection.exec_driver_sql(row.sql)
    if list(connection.execute(text(_TRIGGERS))) != before:
        raise StudyError(
            "The triggers of append-only tables could not be restored; everything was rolled back."
        )
