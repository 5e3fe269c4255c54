"""A consistent copy of an SQLite database while others write to it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from study.errors import StudyError
from study.progress import Advance

# 16 MB at a time, so that progress is shown and Ctrl-C works.
_PAGES = 4096


def copy_sqlite(source: Path, target: Path, advance: Advance) -> None:
    """Copy the state of a database at one moment into one file without a separate log.

    Writers go on: the copy is of what was committed when it began.

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
        With what SQLite says of it.
    """
    try:
        with closing(sqlite3.connect(f"file:{path.as_posix()}?mode=ro", uri=True)) as connection:
            # Nothing that a file brings with it is run.
            connection.execute("PRAGMA trusted_schema=OFF")
            problems = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        raise StudyError(f"{what}: the database can't be read ({error}).") from None
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
