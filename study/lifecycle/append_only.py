"""Append-only tables, for a moment open to change: for erasing, and for copies of a study."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from study.errors import StudyError

_TRIGGERS = "SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"


@contextmanager
def append_only_suspended(connection: Connection, tables: Iterable[str]) -> Iterator[None]:
    """Allow UPDATE and DELETE on these tables inside the block.

    The triggers are lifted in the transaction of `connection`, so nobody else ever sees the tables
    without them, and put back at the end of the block; where it fails, undoing the transaction puts
    them back.
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
        raise StudyError("Append-only tables could not be closed again; everything is undone.")
