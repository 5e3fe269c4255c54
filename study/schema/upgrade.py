"""`ccrs upgrade`: migrations of a database that has data."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from study.errors import StudyError, without_effect
from study.schema.database import (
    SCHEMA_REVISION,
    check_upgradable,
    open_engine,
    schema_revision,
    writing,
)
from study.settings.study_toml import read_config
from study.text import counted

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True)
class Upgrade:
    """Result of an upgrade."""

    before: str
    after: str
    copy: Path | None
    """Copy of the database before the upgrade; None without an upgrade, or on PostgreSQL."""


def upgrade_study(
    folder: Path | str, *, backup_confirmed: bool = False, migrations: Path = MIGRATIONS
) -> Upgrade:
    """Bring a study's database to this version's schema, whole or not at all.

    A copy is kept next to the database. Inside one exclusive transaction the migrations run,
    foreign keys are checked and the rows of every table counted again; any difference rolls
    everything back. On PostgreSQL the owner confirms a backup with `backup_confirmed`.

    Raises
    ------
    StudyError
        No backup was confirmed, or none is needed; rows went missing, or a reference broke;
        nothing changed.
    """
    folder = Path(folder)
    config, _ = read_config(folder / "study.toml")
    engine = open_engine(config.database, folder)
    try:
        return _upgrade(engine, folder, config.database, backup_confirmed, migrations)
    finally:
        engine.dispose()


def _upgrade(
    engine: Engine, folder: Path, database: str, backup_confirmed: bool, migrations: Path
) -> Upgrade:
    before = schema_revision(engine)
    if before is None:
        raise StudyError(f"{folder}: the database contains no study; restore it from a backup.")
    target = _newest(migrations)
    if backup_confirmed and engine.dialect.name == "sqlite":
        why = "the database is SQLite, and is copied before an upgrade"
        raise StudyError(without_effect("--backup-confirmed", True, why))
    check_upgradable(before, folder)
    if before == target:
        return Upgrade(before, before, None)
    if before > target:
        raise StudyError(f"{folder} was made by a later version; install that version to open it.")
    copy = None
    if engine.dialect.name == "sqlite":
        copy = _upgrade_sqlite(engine, folder / database, before, migrations)
    elif not backup_confirmed:
        raise StudyError(
            "Make a backup of the PostgreSQL database first (pg_dump), then run "
            f"`ccrs upgrade {folder} --backup-confirmed`."
        )
    else:
        with writing(engine) as connection:
            _migrate_checked(connection, migrations)
    return Upgrade(before, target, copy)


def _upgrade_sqlite(engine: Engine, path: Path, before: str, migrations: Path) -> Path:
    copy = path.with_name(f"{path.stem}-before-upgrade-{before}{path.suffix}")
    if copy.exists():
        raise StudyError(f"{copy} already exists; move it away, then upgrade again.")
    with engine.connect().execution_options(writing=True) as connection:
        # Only outside a transaction does SQLite obey this; with foreign keys on, the rebuild
        # of a table would cascade into its children.
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)  # noqa: S101
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                # The transaction excludes other writers, so the copy is of this state.
                with (
                    closing(sqlite3.connect(path)) as source,
                    closing(sqlite3.connect(copy)) as target,
                ):
                    source.backup(target)
                _migrate_checked(connection, migrations)
        except BaseException:
            # The database is unchanged, so no copy is needed.
            copy.unlink(missing_ok=True)
            raise
        finally:
            driver.execute("PRAGMA foreign_keys=ON")
    return copy


def _migrate_checked(connection: Connection, migrations: Path) -> None:
    before = _row_counts(connection)
    _run(connection, migrations)
    after = _row_counts(connection)
    lost = {t: (n, after.get(t)) for t, n in before.items() if after.get(t) != n}
    lost.pop("alembic_version", None)
    if lost:
        detail = ", ".join(f"{table}: {n} before, {m} after" for table, (n, m) in lost.items())
        raise StudyError(f"The upgrade would have changed row counts ({detail}); undone.")
    if connection.dialect.name == "sqlite":
        broken = connection.execute(text("PRAGMA foreign_key_check")).all()
        if broken:
            raise StudyError(
                f"The upgrade would have broken {counted(len(broken), 'reference')}, the first in "
                f"table {broken[0][0]}; undone."
            )


def _row_counts(connection: Connection) -> dict[str, int]:
    return {
        table: int(connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one())  # noqa: S608
        for table in inspect(connection).get_table_names()
    }


def _run(connection: Connection, migrations: Path) -> None:
    from alembic import command
    from alembic.util import CommandError

    config = _alembic_config(migrations)
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StudyError(f"The database can't be upgraded: {error}.") from error


def _newest(migrations: Path) -> str:
    if migrations == MIGRATIONS:
        return SCHEMA_REVISION
    from alembic.script import ScriptDirectory

    head = ScriptDirectory.from_config(_alembic_config(migrations)).get_current_head()
    return str(head)


def _alembic_config(migrations: Path) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
