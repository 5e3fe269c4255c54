"""Opening a study's database, and its transactions."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from study.errors import StorageError, StudyError

if TYPE_CHECKING:
    from pandas import DataFrame

SCHEMA_REVISION = "0003"
"""Revision of the schema that the models describe. A test compares it with the migrations."""

OLDEST_REVISION = "0003"
"""Revision of the first migration. Those before it were never part of a release."""

# A writer waits this long for another's transaction.
_BUSY_SECONDS = 60
# Rows that are in memory as rows while the others are columns already.
_ROWS_AT_ONCE = 10_000


def open_engine(address: str, folder: Path) -> Engine:
    """Return an engine for `address`: a file name in `folder`, or a PostgreSQL URL."""
    if "://" in address:
        engine = create_engine(address)
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", _check_rested(engine))
        return engine
    # Built from its parts: the name of a folder may contain characters that have a meaning in URLs.
    url = URL.create("sqlite", database=str(folder / address))
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


# A connection that was used so short a time ago is taken to be there still: after a restart of the
# server within this time, one request meets its closed connection, fails, and is sent again.
_RESTED_SECONDS = 1.0


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["used"] = monotonic()


def _check_rested(engine: Engine) -> Callable[[Any, ConnectionPoolEntry, Any], None]:
    """Notice a server that was restarted before a statement meets its closed connection.

    As `pool_pre_ping` does, which asks the server before every transaction, also under load.
    """

    def checked(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
        rested = monotonic() - record.info.get("used", monotonic())
        if rested < _RESTED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            # The pool opens another.
            raise DisconnectionError from error

    return checked


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver must not open transactions itself: _begin_sqlite decides their kind.
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails when another writer came between;
    # an immediate one waits its turn instead.
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def asking(engine: Engine) -> Iterator[Connection]:
    """Open a connection for one reading statement, which needs no transaction around it."""
    if engine.dialect.name == "sqlite":
        with reading(engine) as connection:
            yield connection
        return
    with (
        _explained(),
        engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
    ):
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that sees one consistent state."""
    # SQLite's transactions do by themselves; elsewhere each statement may see a later state.
    options = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with (
        _explained(),
        engine.connect().execution_options(**options) as connection,
        connection.begin(),
    ):
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Open a writing transaction: committed as a whole at the end, or not at all."""
    with (
        _explained(),
        engine.connect().execution_options(writing=True) as connection,
        connection.begin(),
    ):
        yield connection


_KEPT = "The last write was undone; what was stored before is kept."
_UNWRITABLE = {
    "disk is full": f"Free some space and run the command again. {_KEPT}",
    "No space left": f"Free some space and run the command again. {_KEPT}",
    "disk I/O": f"Check the disk and its quota, and run the command again. {_KEPT}",
    "readonly": "Make the study's folder and database writable.",
}
_LACKS_A_PART = (
    "A table or column that ccrs created is missing, so another program has changed the database; "
    "restore it from a backup."
)
# Regular expressions: the server's words have names in between.
_REMEDIES = {
    "locked": "Another process is writing; try again when it has finished.",
    "unable to open": "Check that the study's folder exists and can be written.",
    "not a database": "The file is damaged or not a study; restore it from a backup.",
    "malformed": "The file is damaged; restore it from a backup.",
    "no such (table|column)": _LACKS_A_PART,
    "(column|relation) .* does not exist": _LACKS_A_PART,
    "connection failed": "Check that the server runs and that study.toml names it rightly.",
    "does not exist": "Check that the database exists and that study.toml names it rightly.",
    "permission denied": "Give the database's user the right to read and write it.",
}


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        cause = " ".join(str(error.orig).split()).rstrip(".")
        for sign, remedy in (*_UNWRITABLE.items(), *_REMEDIES.items()):
            if re.search(sign, cause):
                kind = StorageError if sign in _UNWRITABLE else StudyError
                raise kind(f"The study's database reports: {cause}. {remedy}") from error
        raise


def schema_revision(engine: Engine) -> str | None:
    """Return the schema revision of the database; None if it contains no study."""
    with reading(engine) as connection:
        if not engine.dialect.has_table(connection, "alembic_version"):
            return None
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return None if revision is None else str(revision)


def check_upgradable(revision: str, where: object) -> None:
    """Check that a migration exists for the tables of a database.

    Raises
    ------
    StudyError
        They are older than the first migration.
    """
    if revision < OLDEST_REVISION:
        raise StudyError(
            f"{where} was made by a version before the first release: it has tables of revision "
            f"{revision}, and this version reads {OLDEST_REVISION} and later ones. Export it with "
            "the version that made it, and import the files into a new study."
        )


def read_frame(connection: Connection, statement: Any) -> "DataFrame":
    """Return the rows that a statement selects as a data frame, with a column for each name.

    Columns of texts are of objects with every version of pandas, and equal texts are one object.
    """
    import pandas as pd

    def column(values: list[Any]) -> "pd.Series[Any]":
        first = next((value for value in values if value is not None), None)
        return pd.Series(values, dtype="object" if isinstance(first, str) else None)

    result = connection.execute(statement)
    names = list(result.keys())
    columns: dict[str, list[Any]] = {name: [] for name in names}
    # A driver makes a new text for each row.
    texts: dict[str, str] = {}
    for rows in result.partitions(_ROWS_AT_ONCE):
        for collected, values in zip(columns.values(), zip(*rows, strict=True), strict=True):
            collected.extend(
                texts.setdefault(value, value) if type(value) is str else value for value in values
            )
    return pd.DataFrame({name: column(columns.pop(name)) for name in names}, columns=names)


def read_columns(
    connection: Connection,
    statement: Any,
    types: Mapping[str, str],
    prepare: "Callable[[DataFrame], DataFrame] | None" = None,
) -> dict[str, Any]:
    """Return the rows that a statement selects as an array for each name in `types`.

    A table of millions of rows takes some bytes for each value: `types` are those of numpy, or
    "category" for texts, which are codes (pandas.Categorical). A null is NaN in a column of
    floats. `prepare`, if given, changes each portion of rows before it is stored.
    """
    import numpy as np
    import pandas as pd

    # Otherwise the driver of PostgreSQL holds all rows at once.
    options = {"stream_results": True, "max_row_buffer": _ROWS_AT_ONCE}
    result = connection.execute(statement, execution_options=options)
    names = list(result.keys())
    codes: dict[str, dict[str, int]] = {n: {} for n, kind in types.items() if kind == "category"}
    parts: dict[str, list[Any]] = {name: [] for name in types}
    for rows in result.partitions(_ROWS_AT_ONCE):
        columns: Any = dict(zip(names, zip(*rows, strict=True), strict=True))
        if prepare is not None:
            columns = prepare(pd.DataFrame(columns, dtype="object"))
        for name, kind in types.items():
            if kind != "category":
                parts[name].append(np.array(columns[name], dtype=kind))
                continue
            known = codes[name]
            row_codes = [
                known.setdefault(value, len(known)) if isinstance(value, str) else -1
                for value in columns[name]
            ]
            parts[name].append(np.array(row_codes, dtype=np.min_scalar_type(-len(known) - 1)))
    read: dict[str, Any] = {}
    for name, kind in types.items():
        arrays = parts.pop(name) or [np.empty(0, "int8" if kind == "category" else kind)]
        read[name] = np.concatenate(arrays)
        if kind == "category":
            texts = pd.Index(list(codes.pop(name)), dtype="object")
            read[name] = pd.Categorical.from_codes(read[name], texts)
    return read
