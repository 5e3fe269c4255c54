"""Copies of a study's database, and the checks of a copy that is restored."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.engine import make_url

from study.errors import StudyError
from study.progress_bar import Advance

# 16 MB at a time, so that progress is shown and Ctrl-C works.
_PAGES = 4096


def copy_sqlite(source: Path, target: Path, advance: Advance) -> None:
    """Copy the state of a database at one moment into one file without a separate log.

    Writers continue: the copy has what was committed when it began.

    Raises
    ------
    StudyError
        It can't be read, or there is no room for the copy.
    """
    try:
        _copy(source, target, advance)
    except sqlite3.Error as error:
        raise StudyError(
            f"{source} could not be copied to {target.parent}: {error}. Check the free space and "
            "the permissions, and run the command again."
        ) from error


def _copy(source: Path, target: Path, advance: Advance) -> None:
    with (
        closing(sqlite3.connect(source, timeout=60, isolation_level=None)) as live,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        # Inside a reading transaction the copy sees one state. Without it, every write of another
        # process between two steps would start the copy over.
        live.execute("BEGIN")
        live.execute("SELECT count(*) FROM sqlite_master").fetchone()
        live.backup(
            copy, pages=_PAGES, progress=lambda _, left, total: advance(total - left, total)
        )
        live.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode=DELETE")


def check_sqlite(path: Path, what: str) -> None:
    """Refuse a database that is damaged.

    Raises
    ------
    StudyError
        With the message of SQLite.
    """
    with untrusted(path, what) as connection:
        problems = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if problems != ["ok"]:
        raise StudyError(f"{what}: the database is damaged ({problems[0]}).")
    if broken is not None:
        raise StudyError(f"{what}: table {broken[0]} refers to rows that are not there.")


def sqlite_rows(path: Path) -> dict[str, int]:
    """Return the number of rows of each table."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            )
        ]
        quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
        return {
            name: int(connection.execute(f"SELECT count(*) FROM {quoted[name]}").fetchone()[0])  # noqa: S608
            for name in names
        }


def dump(address: str, snapshot: str, target: Path) -> None:
    """Write a database, as a snapshot sees it, in pg_dump's custom format.

    Raises
    ------
    StudyError
        pg_dump is not installed, or failed.
    """
    _run(
        "pg_dump",
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--snapshot={snapshot}",
        f"--file={target}",
        address=address,
    )


def load(address: str, source: Path) -> None:
    """Bring a dump into an empty database, whole or not at all.

    Raises
    ------
    StudyError
        pg_restore is not installed, or failed.
    """
    _run(
        "pg_restore",
        "--no-owner",
        "--no-privileges",
        "--exit-on-error",
        "--single-transaction",
        str(source),
        address=address,
    )


def need(program: str) -> str:
    """Return where one of PostgreSQL's programs is.

    Raises
    ------
    StudyError
        It is not installed.
    """
    program_path = shutil.which(program)
    if program_path is None:
        raise StudyError(
            f"{program} is not installed, which is needed to copy a PostgreSQL study. "
            "Install PostgreSQL's client programs, of the server's version or later."
        )
    return program_path


def table_names(connection: Connection) -> list[str]:
    """Return the names of a database's tables."""
    return sorted(inspect(connection).get_table_names())


def empty_database(engine: Engine) -> None:
    """Empty a PostgreSQL database again that was empty before a study was made in it."""
    with engine.begin() as connection:
        for name in table_names(connection):
            connection.exec_driver_sql(f'DROP TABLE IF EXISTS "{name}" CASCADE')
        connection.execute(text("DROP FUNCTION IF EXISTS refuse_change()"))


def _run(program: str, *words: str, address: str) -> None:
    url = make_url(address).set(drivername="postgresql")
    # A password, which only tests have in an address, stays out of the list of processes.
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    plain = url._replace(password=None).render_as_string(hide_password=False)
    done = subprocess.run(  # noqa: S603  (the program is PostgreSQL's, the words are ours)
        [need(program), "--no-password", f"--dbname={plain}", *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        message = " ".join(done.stderr.split())[-500:]
        raise StudyError(f"{program} failed: {message}")


@contextmanager
def untrusted(path: Path, what: str) -> Iterator[sqlite3.Connection]:
    """Open a database to read; no function that the file defines is run."""
    try:
        with closing(sqlite3.connect(f"file:{path.as_posix()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            yield connection
    except sqlite3.DatabaseError as error:
        raise StudyError(f"{what}: the database can't be read ({error}).") from None
