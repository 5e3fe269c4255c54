"""A study's database as text: its schema, and its rows."""

import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.golden import normal
from tests.golden.product import ccrs

_HIDDEN = re.compile(
    r"(_at|_until|seconds|latency|started|finished|_ms|milliseconds)$|^(latency|seconds)"
)


def record_schema(work: Path, out: Path) -> None:
    """Record the schema of a new study, on PostgreSQL too where a server is named."""
    out.mkdir(parents=True, exist_ok=True)
    said = ccrs("init", "fresh", cwd=work)
    (out / "init.txt").write_text(normal.text(said, work), encoding="utf-8")
    (out / "study.toml").write_text((work / "fresh" / "study.toml").read_text(), encoding="utf-8")
    with sqlite3.connect(work / "fresh" / "study.db") as connection:
        (out / "sqlite.txt").write_text(sqlite_schema(connection), encoding="utf-8")
        (out / "sqlite-rows.txt").write_text(normal.text(dump(connection), work), encoding="utf-8")
    connection.close()
    address = os.environ.get("CCRS_TEST_POSTGRESQL")
    if address:
        (out / "postgresql.txt").write_text(_postgresql_schema(work, address), encoding="utf-8")


def sqlite_schema(connection: sqlite3.Connection) -> str:
    """Return tables with columns, keys and constraints, then indices, triggers and settings."""
    lines = []
    master = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, tbl_name, name"
    for kind, name, table, sql in connection.execute(master).fetchall():
        lines.append(f"{kind} {name} on {table}")
        if kind == "table":
            columns = connection.execute(f"PRAGMA table_xinfo({name!r})").fetchall()
            lines += [
                f"    column {' '.join(map(str, c[1:]))}" for c in sorted(columns, key=_second)
            ]
            keys = connection.execute(f"PRAGMA foreign_key_list({name!r})").fetchall()
            lines += sorted(f"    foreign key {' '.join(map(str, k[2:]))}" for k in keys)
            found = []
            for index in connection.execute(f"PRAGMA index_list({name!r})").fetchall():
                of = connection.execute(f"PRAGMA index_info({index[1]!r})").fetchall()
                found.append(f"    index {index[2:]} on {', '.join(str(c[2]) for c in of)}")
            lines += sorted(found)
            lines += sorted(f"    check {found}" for found in _constraints(sql or ""))
        else:
            lines.append("    " + " ".join((sql or "").split()))
    for setting in ("user_version", "journal_mode", "application_id"):
        lines.append(f"{setting} {connection.execute(f'PRAGMA {setting}').fetchone()[0]}")
    return "\n".join(lines) + "\n"


def _second(row: Any) -> str:
    return str(row[1])


def _constraints(sql: str) -> list[str]:
    """Return the checks and uniqueness constraints of a CREATE TABLE, each with its name."""
    found = []
    for match in re.finditer(r"(CONSTRAINT\s+\S+\s+)?(CHECK|UNIQUE)\s*\(", sql):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        found.append(" ".join(sql[match.start() : end].split()))
    return found


def _postgresql_schema(work: Path, address: str) -> str:
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    name = f"ccrs_golden_{uuid4().hex}"
    server = create_engine(address, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = make_url(address).set(database=name)
    shown = url.render_as_string(hide_password=False)
    (work / "pg.toml").write_text(f'database = "{shown}"\n', encoding="utf-8")
    try:
        said = ccrs("init", "pg", "--settings", "pg.toml", cwd=work)
        if "code 0" not in said:
            raise RuntimeError(said)
        engine = create_engine(url)
        with engine.connect() as connection:
            found = [
                " | ".join(str(value) for value in row)
                for query in _CATALOGUE
                for row in connection.execute(text(query))
            ]
        engine.dispose()
    finally:
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()
    return "\n".join(found).replace(name, "DATABASE") + "\n"


_CATALOGUE = (
    "SELECT 'column', table_name, column_name, data_type, character_maximum_length, is_nullable,"
    " column_default, identity_generation FROM information_schema.columns"
    " WHERE table_schema = 'public' ORDER BY table_name, column_name",
    "SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)"
    " FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 2, 3",
    "SELECT 'index', tablename, indexname, indexdef FROM pg_indexes"
    " WHERE schemaname = 'public' ORDER BY 2, 3",
    "SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger"
    " WHERE NOT tgisinternal ORDER BY 2, 3",
    "SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc"
    " WHERE pronamespace = 'public'::regnamespace ORDER BY 2",
)


def dump(connection: sqlite3.Connection) -> str:
    """Return every row as JSON, one a line; times, durations and random ids are replaced."""
    lines = []
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    ).fetchall()
    for (name,) in tables:
        names = [str(c[1]) for c in connection.execute(f"PRAGMA table_info({name!r})")]
        order = "id" if "id" in names else ", ".join(names)
        rows = connection.execute(f"SELECT * FROM {name!r} ORDER BY {order}")
        columns = [c[0] for c in rows.description]
        found = [_row(dict(zip(columns, row, strict=True))) for row in rows]
        lines.append(f"== {name}: {len(found)}")
        lines += found
    return "\n".join(lines) + "\n"


def _row(row: dict[str, Any]) -> str:
    shown = {}
    for key, value in row.items():
        if value is not None and _HIDDEN.search(key):
            shown[key] = key.upper()
        elif isinstance(value, bytes):
            shown[key] = value.hex() if len(value) <= 64 else f"{len(value)} bytes"
        elif isinstance(value, str) and value[:1] in "[{":
            try:
                shown[key] = json.loads(value)
            except ValueError:
                shown[key] = value
        else:
            shown[key] = value
    return json.dumps(shown, ensure_ascii=False, sort_keys=True)
