"""Check that an SQLite file that is restored has the tables, indexes and triggers of a study."""

import re
from pathlib import Path

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from study.errors import StudyError
from study.lifecycle.database_copy import untrusted
from study.schema import Noun
from study.schema.creation import MUTABLE, VERSION, sqlite_triggers
from study.schema.database import SCHEMA_REVISION

# SQLite creates them itself where they are needed.
_OF_SQLITE = {
    ("table", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)",
    ("table", "sqlite_stat1"): "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
}
# Strings, quoted names, words and signs. No statement of a study contains a comment.
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S""", re.ASCII)
# SQLite quotes the name of a rebuilt table. Keywords, which are upper case here, stay quoted.
_QUOTED = re.compile(r'\A"([a-z_][a-z0-9_]*)"\Z', re.ASCII)


def check_schema(path: Path, source: Path) -> str:
    """Return the schema revision that an SQLite file states, and refuse what no study contains.

    Views, virtual tables and other triggers are refused at every revision: they would be run. At
    the revision of this version, every table, index and trigger has the definition that it has in
    a new study, in any order of columns and constraints, which a migration that rebuilds a table
    changes. A database of an earlier revision is checked again after its upgrade.

    Raises
    ------
    StudyError
        With the first difference.
    """
    with untrusted(path, str(source)) as connection:
        rows = connection.execute(
            "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master"
        ).fetchall()
        for kind, name, of, sql, page in rows:
            expected = {
                # Virtual tables have no root page.
                "table": page,
                "index": True,
                "trigger": sql == sqlite_triggers([of]).get(name),
            }
            if not expected.get(kind):
                raise _foreign(source, kind, name)
        stamps = connection.execute("SELECT version_num FROM alembic_version").fetchmany(2)
    if len(stamps) != 1:
        raise StudyError(f"{source}: the database states no revision. Nothing was restored.")
    revision = str(stamps[0][0])
    if revision == SCHEMA_REVISION:
        _check_definitions([(kind, name, sql) for kind, name, _, sql, _ in rows], source)
    return revision


def _check_definitions(rows: list[tuple[str, str, str | None]], source: Path) -> None:
    expected = _definitions()
    for kind, name, sql in rows:
        if kind == "index" and sql is None:  # It belongs to a constraint of its table.
            continue
        definition = expected.get((kind, name)) or _OF_SQLITE.get((kind, name))
        if definition is None:
            raise _foreign(source, kind, name)
        if _parts(definition) != _parts(str(sql)):
            raise StudyError(
                f"{source}: the database has another definition of the {kind} {name!r} than a "
                "study. Nothing was restored."
            )
    missing = sorted(expected.keys() - {(kind, name) for kind, name, _ in rows})
    if missing:
        raise StudyError(
            f"{source}: the database lacks the {missing[0][0]} {missing[0][1]!r} of a study. "
            "Nothing was restored."
        )


def _definitions() -> dict[tuple[str, str], str]:
    tables = [*Noun.metadata.tables.values(), VERSION]
    dialect = sqlite.dialect()
    triggers = sqlite_triggers(Noun.metadata.tables.keys() - MUTABLE)
    return (
        {("table", str(t.name)): str(CreateTable(t).compile(dialect=dialect)) for t in tables}
        | {
            ("index", str(index.name)): str(CreateIndex(index).compile(dialect=dialect))
            for table in tables
            for index in table.indexes
        }
        | {("trigger", name): sql for name, sql in triggers.items()}
    )


def _parts(sql: str) -> list[list[str]]:
    """Return the words of each column and constraint of a statement, and those around them, sorted.

    White space and the quotes of names are left out.
    """
    parts: list[list[str]] = [[], []]
    depth = 0
    for word in _TOKEN.findall(sql):
        depth -= word == ")"
        if word == "," and depth == 1:
            parts.append([])
        else:
            parts[-1 if depth else 0].append(_QUOTED.sub(r"\1", word))
        depth += word == "("
    return sorted(parts)


def _foreign(source: Path, kind: str, name: str) -> StudyError:
    return StudyError(
        f"{source}: the database contains the {kind} {str(name)[:100]!r}, "
        "which no study has. Nothing was restored."
    )
