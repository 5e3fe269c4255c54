"""One database that the studies of a session's tests are copied from.

A database is created as a user's is once in each process of the tests; every further
`Study.create` copies it and gives the copy an identity of its own. Tests of creating and upgrading
ask for the fixture `real_database`.
"""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from sqlalchemy import Engine, create_engine, delete, insert, text
from sqlalchemy.engine import make_url

from study.lifecycle.append_only import append_only_lifted
from study.schema import StudyIdentity, creation, database, table

_create: Callable[[Engine], None] = creation.create_schema
_prepare = database._prepare_sqlite


class TemplateStudy:
    """Creates the database of a study by copying one, where that is allowed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgresql: dict[str, str] = {}
        self._copies: set[str] = set()
        self._aside = False

    @contextmanager
    def used(self) -> Iterator[None]:
        """Have `Study.create` copy the template."""
        with (
            patch.object(creation, "create_schema", self._fill),
            patch.object(database, "_prepare_sqlite", self._prepare_sqlite),
        ):
            yield
        for address, name in self._postgresql.items():
            _at(address, f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def put_aside(self) -> Iterator[None]:
        """Have `Study.create` create databases as it does for users."""
        self._aside = True
        yield
        self._aside = False

    @contextmanager
    def postgresql(self, address: str) -> Iterator[str]:
        """Create a database on the server at `address`, return its address, and drop it."""
        name = f"ccrs_test_{uuid4().hex}"
        if self._aside:
            _at(address, f"CREATE DATABASE {name}")
        else:
            if address not in self._postgresql:
                self._postgresql[address] = self._template_on(address)
            _at(address, f"CREATE DATABASE {name} TEMPLATE {self._postgresql[address]}")
            self._copies.add(name)
        yield make_url(address).set(database=name).render_as_string(hide_password=False)
        _at(address, f"DROP DATABASE {name} WITH (FORCE)")

    def _template_on(self, address: str) -> str:
        name = f"ccrs_template_{uuid4().hex}"
        _at(address, f"CREATE DATABASE {name}")
        engine = create_engine(make_url(address).set(database=name))
        _create(engine)
        _forget_identity(engine)
        return name

    def _fill(self, engine: Engine) -> None:
        name = engine.url.database or ""
        if engine.dialect.name == "sqlite" and not self._aside and not Path(name).exists():
            template = self._folder / "study.db"
            if not template.exists():
                own = database.open_engine(template.name, template.parent)
                _create(own)
                _forget_identity(own)
            shutil.copyfile(template, name)
        elif name in self._copies:
            self._copies.remove(name)
        else:
            _create(engine)
            return
        with database.writing(engine) as connection:
            connection.execute(insert(table(StudyIdentity)).values(public_id=secrets.token_hex(16)))

    def _prepare_sqlite(self, connection: Any, record: Any) -> None:
        _prepare(connection, record)
        if not self._aside:
            # A process that dies loses nothing by this; only a machine that does would.
            connection.execute("PRAGMA synchronous=OFF")


def _forget_identity(engine: Engine) -> None:
    identity = table(StudyIdentity)
    with database.writing(engine) as connection, append_only_lifted(connection, [identity.name]):
        connection.execute(delete(identity))
    engine.dispose()


def _at(address: str, statement: str) -> None:
    server = create_engine(address, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(statement))
    server.dispose()
