"""What an untrusted database may contain besides tables: statements that would run later."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from study.errors import StudyError
from study.schema import Noun
from study.schema.triggers import MUTABLE

_TRIGGER = re.compile(
    r'CREATE TRIGGER (\w+)_refuses_(update|delete) BEFORE (UPDATE|DELETE) ON "(\w+)" '
    r"BEGIN SELECT RAISE\(ABORT, '(\w+) is append-only: a change is a new row'\); END"
)


def check_schema(path: Path, source: Path) -> None:
    """Refuse an SQLite file with views, or with tables or triggers that are not a study's.

    So is one in which an append-only table has lost its triggers.

    Raises
    ------
    StudyError
        With the first of them.
    """
    known = {*Noun.metadata.tables, "alembic_version"}
    try:
        with closing(sqlite3.connect(f"file:{path.as_posix()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema=OFF")
            rows = connection.execute(
                "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master"
            ).fetchall()
    except sqlite3.DatabaseError as error:
        raise StudyError(f"{source}: the database can't be read ({error}).") from None
    for kind, name, of, sql, page in rows:
        if kind == "trigger":
            fits = _is_ours(sql or "", of)
        elif kind == "table":
            # Virtual tables have no page of their own.
            fits = page and (name in known or name in {"sqlite_sequence", "sqlite_stat1"})
        else:
            fits = kind == "index" and of in known
        if not fits:
            raise StudyError(
                f"{source}: the database holds the {kind} {str(name)[:100]!r}, which no study has. "
                "Nothing was restored."
            )
    tables = {name for kind, name, *_ in rows if kind == "table" and name in Noun.metadata.tables}
    there = {name for kind, name, *_ in rows if kind == "trigger"}
    for name in sorted(tables - MUTABLE):
        if not there.issuperset({f"{name}_refuses_update", f"{name}_refuses_delete"}):
            raise StudyError(
                f"{source}: rows of the table {name!r} could be changed in its database, which no "
                "study allows. Nothing was restored."
            )


def _is_ours(sql: str, of: str) -> bool:
    match = _TRIGGER.fullmatch(sql)
    return match is not None and (
        {match[1], match[4], match[5], of} == {of} and match[2].upper() == match[3]
    )
