"""Deleting rows so that no bytes of them remain in the database file."""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from study.errors import StudyError
from study.study import Study

_PATIENCE = 60.0
"""Seconds to wait for others."""
# Below the second after which PostgreSQL ends somebody's transaction in a deadlock: it is this
# one that gives way, and no rater's save is lost to it.
_LOCK_TIMEOUT = "400ms"


@contextmanager
def exclusive_write(study: Study, tables: Iterable[str]) -> Iterator[Connection]:
    """Open a writing transaction that excludes other writers of these tables."""
    if study.engine.dialect.name == "sqlite":
        with study.write() as connection:
            # What is deleted is overwritten with zeros.
            connection.exec_driver_sql("PRAGMA secure_delete=ON")
            yield connection
        return
    names = ", ".join(f'"{name}"' for name in sorted(set(tables)))
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with study.write() as connection:
                _lock(connection, names)
                yield connection
        except _HeldError:
            if time.monotonic() > deadline:
                raise _busy(study) from None
            time.sleep(0.2)
        else:
            return


class _HeldError(Exception):
    """Another transaction has locked one of the tables."""


def _lock(connection: Connection, names: str) -> None:
    # Of the statement: it takes one lock after another.
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{_LOCK_TIMEOUT}'")
    try:
        # Others may read, and not lock a row either: erasing would wait for it, and they for us.
        connection.exec_driver_sql(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
    except OperationalError as error:
        raise _HeldError from error
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")


def rewrite_database(study: Study, tables: Iterable[str]) -> tuple[str, ...]:
    """Rewrite the database without deleted data; return notes on copies this can't reach.

    Raises
    ------
    StudyError
        The disk is full, or another process reads without end.
    """
    if study.engine.dialect.name == "sqlite":
        _rewrite_sqlite(study)
        return (
            "The file system and the disk may still have blocks of the old file; an encrypted disk "
            "keeps them from others.",
        )
    with study.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"SET lock_timeout = '{int(_PATIENCE)}s'")
        try:
            for name in sorted(set(tables)):
                # With new statistics: old ones contain common values.
                connection.exec_driver_sql(f'VACUUM (FULL, ANALYZE) "{name}"')
        except OperationalError as error:
            raise _unfinished(study, error) from error
        finally:
            connection.exec_driver_sql("RESET lock_timeout")
    return (
        "PostgreSQL's write-ahead log, its archive, replicas and base backups may still contain "
        "the data until they are recycled; the server's administrator knows for how long.",
    )


def _rewrite_sqlite(study: Study) -> None:
    path = study.folder / study.config.database
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("VACUUM")
            deadline = time.monotonic() + _PATIENCE
            # A reader keeps the log from being truncated; each read of the pages is short.
            while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise sqlite3.OperationalError("another process reads the study without end")
        except sqlite3.OperationalError as error:
            raise _unfinished(study, error) from error


def _unfinished(study: Study, error: Exception) -> StudyError:
    cause = " ".join(str(error).split()).rstrip(".")
    return StudyError(
        "The data is gone from the study's tables, but its database could not be rewritten "
        f"({cause}), so deleted bytes may stay in it. Free some space, end what reads the study "
        f"(a report, a backup), and run `ccrs erase {study.folder}` without a code."
    )


def _busy(study: Study) -> StudyError:
    return StudyError(
        f"Others use the tables of {study.folder} without a pause; try again. Nothing was erased."
    )
