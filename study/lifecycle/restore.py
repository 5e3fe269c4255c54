"""Restoring a study from a backup, completely or not at all."""

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study.errors import StudyError, StudyExistsError
from study.lifecycle.backup import identity, named_files
from study.lifecycle.backup_file import (
    DATABASES,
    FILES,
    SETTINGS,
    BackupFile,
    Manifest,
    open_backup_file,
)
from study.lifecycle.database_copy import (
    check_sqlite,
    empty_database,
    load,
    need,
    sqlite_rows,
    table_names,
)
from study.lifecycle.restored_values import check_stored_types, check_values
from study.lifecycle.sqlite_schema import check_schema
from study.progress_bar import Advance
from study.schema.database import (
    SCHEMA_REVISION,
    check_upgradable,
    open_engine,
    reading,
    schema_revision,
)
from study.settings.study_toml import StudyConfig, parse_config
from study.study import Study
from study.text import counted


@dataclass(frozen=True)
class Restored:
    """Result of a restoration."""

    folder: Path
    made_at: str
    """When the backup was made."""
    rows: dict[str, int]
    """By table, as in the backup."""

    def as_json(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "folder": str(self.folder),
            "made_at": self.made_at,
            "rows": self.rows,
        }


def restore(
    path: Path | str,
    folder: Path | str,
    *,
    database: str | None = None,
    progress: Advance | None = None,
) -> Restored:
    """Create a study in `folder` from a backup.

    Everything is unpacked and checked in a separate folder, which gets its name at the end. People
    who were erased since the backup was made are in it.

    Parameters
    ----------
    path
        What `ccrs backup` made.
    folder
        New or empty.
    database
        Of a PostgreSQL study: the address of an empty database; the one that its study.toml names
        unless given.
    progress
        Called with bytes done and their total.

    Raises
    ------
    StudyError
        The file is not a backup, is damaged or has unknown members, or a row in it could not have
        been saved or imported; the folder or database is in use; the study was made by a later
        version. Nothing is left behind.
    """
    path, folder = Path(path), Path(folder)
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    _check_free(folder)
    with open_backup_file(path) as backup_file:
        manifest = backup_file.manifest
        settings, config = _settings(backup_file, database)
        _check_members(path, backup_file, config)
        _check_space(folder, manifest)
        draft = folder.resolve().parent / f".{folder.name}.restoring-{secrets.token_hex(4)}"
        draft.mkdir()
        try:
            for name in named_files(config):
                (draft / name).write_bytes(backup_file.whole(f"{FILES}{name}"))
            for name in manifest.prompts:
                (draft / name).parent.mkdir(parents=True, exist_ok=True)
                (draft / name).write_bytes(backup_file.whole(name))
            if manifest.database == "sqlite":
                place = draft / config.database
                backup_file.unpack(DATABASES["sqlite"], place, advance)
                place.chmod(0o600)
                _check_revision(path, manifest, check_schema(place, path))
                check_sqlite(place, str(path))
                check_stored_types(place, path)
                rows = sqlite_rows(place)
                (draft / "study.toml").write_bytes(settings)
                _finish(draft, folder, manifest, rows, path)
            else:
                _restore_postgresql(backup_file, draft, folder, settings, config, advance)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Restored(folder, manifest.made_at, manifest.rows)


def _check_free(folder: Path) -> None:
    if (folder / "study.toml").exists():
        raise StudyExistsError(f"{folder} already contains a study; choose another folder.")
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise StudyError(f"{folder} is not empty; choose another folder.")
    if not folder.resolve().parent.is_dir():
        raise StudyError(f"{folder.parent} is not a folder; create it first.")


def _settings(backup_file: BackupFile, database: str | None) -> tuple[bytes, StudyConfig]:
    data = backup_file.whole(SETTINGS)
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"{backup_file.path}: its study.toml is not UTF-8.") from None
    config = parse_config(content, f"{backup_file.path}: study.toml")
    kind = "postgresql" if "://" in config.database else "sqlite"
    if kind != backup_file.manifest.database:
        raise StudyError(f"{backup_file.path}: study.toml and the backup name different databases.")
    if database is not None:
        if kind == "sqlite" or "://" not in database:
            raise StudyError("--database names a PostgreSQL database, for a backup of such a one.")
        content = with_database(content, database)
        config, data = parse_config(content, "study.toml"), content.encode()
    return data, config


def with_database(content: str, address: str) -> str:
    """Return the text of study.toml with another database; comments and layout stay."""
    import tomlkit

    document = tomlkit.parse(content)
    document["database"] = address
    return tomlkit.dumps(document)


def _check_members(path: Path, backup_file: BackupFile, config: StudyConfig) -> None:
    expected = {f"{FILES}{name}" for name in named_files(config)}
    manifest = backup_file.manifest
    expected |= {SETTINGS, DATABASES[manifest.database]} | manifest.prompts
    odd = sorted(expected.symmetric_difference(manifest.members))
    if odd:
        raise StudyError(
            f"{path}: {odd[0][:200]!r} does not fit its study.toml. Nothing was restored."
        )
    reserved = {"study.toml", *(f"{config.database}{suffix}" for suffix in ("", "-wal", "-shm"))}
    if reserved.intersection(named_files(config)):
        raise StudyError(
            f"{path}: its study.toml names the database's file as that of a text. "
            "Nothing was restored."
        )


def _check_revision(path: Path, manifest: Manifest, found: str | None) -> None:
    """Refuse a backup whose manifest states another revision than its database."""
    if manifest.schema_revision > SCHEMA_REVISION:
        raise StudyError(f"{path} was made by a later version; install that one to restore it.")
    if found != manifest.schema_revision:
        raise StudyError(
            f"{path}: the database has revision {str(found)[:100]!r}, but the manifest states "
            f"{manifest.schema_revision!r}. Nothing was restored."
        )
    check_upgradable(manifest.schema_revision, path)


def _check_space(folder: Path, manifest: Manifest) -> None:
    needed = sum(member.bytes for member in manifest.members.values())
    free = shutil.disk_usage(folder.resolve().parent).free
    if needed > free:
        raise StudyError(
            f"The backup unpacks to {needed >> 20:,} MB, and {folder.resolve().parent} has "
            f"{free >> 20:,} MB free. Free some space, or choose another folder."
        )


def _finish(
    draft: Path, folder: Path, manifest: Manifest, rows: Mapping[str, int], path: Path
) -> None:
    """Check the study in `draft`, and give it its name."""
    if dict(rows) != manifest.rows:
        raise StudyError(f"{path}: the database has other rows than the manifest states.")
    if manifest.schema_revision < SCHEMA_REVISION:
        from study.schema.upgrade import upgrade_study

        # The backup itself is the copy.
        copy = upgrade_study(draft, backup_confirmed=manifest.database != "sqlite").copy
        if copy is not None:
            copy.unlink()
    with Study.open(draft) as study:
        if manifest.database == "sqlite":
            # Also what an upgrade left of an earlier version's definitions.
            check_schema(draft / study.config.database, path)
        with study.read() as connection:
            if identity(connection) != manifest.study:
                raise StudyError(f"{path}: database and manifest are of different studies.")
            check_values(study, connection, path)
    # An empty folder is replaced; one that was filled in the meantime is not.
    with suppress(FileNotFoundError):
        folder.rmdir()
    os.rename(draft, folder)  # noqa: PTH104  (Path.rename is the same)


def _restore_postgresql(
    backup_file: BackupFile,
    draft: Path,
    folder: Path,
    settings: bytes,
    config: StudyConfig,
    advance: Advance,
) -> None:
    need("pg_restore")
    engine = open_engine(config.database, draft)
    try:
        with reading(engine) as connection:
            existing = table_names(connection)
        if existing:
            raise StudyExistsError(
                f"The database that study.toml names already contains "
                f"{counted(len(existing), 'table')}; name an empty one with --database."
            )
        dump = draft / DATABASES["postgresql"]
        backup_file.unpack(dump.name, dump, advance)
        load(config.database, dump)
        dump.unlink()
        (draft / "study.toml").write_bytes(settings)
        try:
            _check_revision(backup_file.path, backup_file.manifest, schema_revision(engine))
            with reading(engine) as connection:
                rows = {
                    name: int(
                        connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()  # noqa: S608
                    )
                    for name in table_names(connection)
                }
            _finish(draft, folder, backup_file.manifest, rows, backup_file.path)
        except BaseException:
            empty_database(engine)
            raise
    finally:
        engine.dispose()
