"""Empty studies on a PostgreSQL server, whose databases are emptied and used again.

To create the tables takes ten times as long as to empty them.
"""

from pathlib import Path
from uuid import uuid4

from sqlalchemy import URL, Connection, create_engine, insert, make_url, text

from study import Study
from study.schema.base import Noun
from study.schema.tables import study_identities

_STRUCTURE = """
    SELECT array_agg(line ORDER BY line) FROM (
        SELECT concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull) AS line
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace
        UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger
        WHERE NOT tgisinternal
        UNION ALL SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE conrelid <> 0 AND connamespace = 'public'::regnamespace
        UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT version_num FROM alembic_version
    ) AS lines
"""
"""Columns, indexes, triggers, constraints, functions and the revision of a database."""


class PostgreSQLStudies:
    """Studies for one test after the other, each of them new and empty.

    A database whose tables a test has changed is not used again.
    """

    def __init__(self, address: str) -> None:
        self._server = make_url(address)
        self._empty: list[str] = []
        self._in_use: dict[Path, str] = {}
        self._structure: object = None

    def open(self, folder: Path) -> Study:
        """Return an empty study in `folder`."""
        if self._empty:
            folder.mkdir()
            name = self._in_use[folder] = self._empty.pop()
            (folder / "study.toml").write_text(self._settings(name), encoding="utf-8")
            return Study.open(folder)
        name = self._in_use[folder] = f"ccrs_test_{uuid4().hex}"
        self._on_server(f"CREATE DATABASE {name}")
        study = Study.create(folder, self._settings(name))
        if self._structure is None:
            with study.engine.connect() as connection:
                self._structure = connection.execute(text(_STRUCTURE)).scalar_one()
        return study

    def take_back(self, study: Study) -> None:
        """Close a study, and empty its database for the next."""
        study.close()
        # Not the name in its settings, which a test may have changed.
        name = self._in_use.pop(study.folder)
        if self._emptied(name):
            self._empty.append(name)
        else:
            self._on_server(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        """Remove the databases."""
        for name in self._empty:
            self._on_server(f"DROP DATABASE {name} WITH (FORCE)")
        self._empty.clear()

    def _settings(self, name: str) -> str:
        return f'database = "{self._address(name).render_as_string(hide_password=False)}"\n'

    def _address(self, name: str) -> URL:
        return self._server.set(database=name)

    def _on_server(self, statement: str) -> None:
        engine = create_engine(self._server, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()

    def _emptied(self, name: str) -> bool:
        engine = create_engine(self._address(name))
        try:
            with engine.begin() as connection:
                _end_others(connection)
                if connection.execute(text(_STRUCTURE)).scalar() != self._structure:
                    return False
                tables = ", ".join(f'"{table}"' for table in Noun.metadata.tables)
                connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
                connection.execute(insert(study_identities))
            return True
        finally:
            engine.dispose()


def _end_others(connection: Connection) -> None:
    """End what a test has left: an open transaction would hold its tables."""
    connection.execute(
        text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    )
