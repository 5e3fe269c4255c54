"""The tables of new SQLite studies, copied from the first that a process creates.

To create them takes ten times as long as to copy them, and most tests start with a new study.
"""

import sqlite3
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Engine, insert

from study.schema import creation
from study.schema.database import open_engine, writing
from study.schema.tables import study_identities

_create_schema = creation.create_schema


def create_schema(engine: Engine) -> None:
    """Create what `study.schema.creation.create_schema` creates."""
    path = Path(engine.url.database or "")
    if engine.dialect.name != "sqlite" or (path.exists() and path.stat().st_size):
        _create_schema(engine)
        return
    path.write_bytes(_empty_study())
    with writing(engine) as connection:
        connection.execute(insert(study_identities))


@lru_cache(maxsize=1)
def _empty_study() -> bytes:
    """Return a database with all tables and its revision, without an identity."""
    with TemporaryDirectory() as folder:
        engine = open_engine("study.db", Path(folder))
        _create_schema(engine)
        engine.dispose()
        with (
            closing(sqlite3.connect(Path(folder) / "study.db")) as created,
            closing(sqlite3.connect(":memory:")) as empty,
        ):
            for (statement,) in created.execute(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
            ):
                empty.execute(statement)
            (revision,) = created.execute("SELECT version_num FROM alembic_version").fetchone()
            empty.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
            empty.commit()
            return empty.serialize()
