"""A backup: a copy of a study in one file, made while people may be rating."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, text

from study.errors import StudyError
from study.lifecycle.backup_file import (
    DATABASES,
    FILES,
    PROMPTS,
    SETTINGS,
    is_prompt,
    write_backup_file,
)
from study.lifecycle.database_copy import (
    check_sqlite,
    copy_sqlite,
    dump,
    need,
    sqlite_rows,
    table_names,
)
from study.lifecycle.new_file import check_new, new_file
from study.progress_bar import Advance
from study.schema import now
from study.schema.database import SCHEMA_REVISION
from study.schema.tables import study_identities
from study.settings.study_toml import StudyConfig
from study.study import Study

SUFFIX = ".ccrs-backup"


@dataclass(frozen=True)
class Backup:
    """Result of a backup."""

    path: Path
    bytes: int
    rows: dict[str, int]
    """By table."""
    files: tuple[str, ...]
    """Files that study.toml names."""

    def as_json(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "path": str(self.path),
            "bytes": self.bytes,
            "rows": self.rows,
            "files": list(self.files),
        }


def backup(
    study: Study, out: Path | str | None = None, *, progress: Advance | None = None
) -> Backup:
    """Copy a study, its settings and the files that these name into one compressed file.

    The copy has the state of one moment, with everything committed before, and is read back before
    it gets its name. `ccrs serve` and other writers continue meanwhile.

    Parameters
    ----------
    study
        On SQLite, or on PostgreSQL where pg_dump is installed.
    out
        A new file, or the folder for it; default: the folder that contains the study's.
    progress
        Called with bytes done and their total.

    Raises
    ------
    StudyError
        The file exists, would be inside the study's folder, or does not fit on the disk.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    path = _place(study, out)
    texts = text_files(study)
    with study.read() as connection:
        about: dict[str, Any] = {
            "study": identity(connection),
            "name": study.config.name,
            "schema_revision": SCHEMA_REVISION,
            "made_at": now().isoformat(timespec="seconds"),
            "made_by": f"ccrs-study {version('ccrs-study')}",
        }
        members = {SETTINGS: study.folder / "study.toml"}
        members |= {f"{FILES}{name}": source for name, source in texts.items()}
        members |= prompt_files(study)
    kind = study.engine.dialect.name
    with (
        _room(path, study) as folder,
        new_file(path, study.folder) as part,
    ):
        database = folder / DATABASES[kind]
        if kind == "sqlite":
            copy_sqlite(study.folder / study.config.database, database, advance)
            check_sqlite(database, str(study.folder))
            rows = sqlite_rows(database)
        else:
            rows = _dump(study, database)
        about |= {"database": kind, "rows": rows}
        write_backup_file(part, {**members, DATABASES[kind]: database}, about, advance)
    return Backup(path, path.stat().st_size, rows, tuple(texts))


def identity(connection: Connection) -> str:
    """Return the random name that a study shares with its backups."""
    name = connection.execute(select(study_identities.c.public_id)).scalars().first()
    if name is None:
        raise StudyError("The database names no study; restore it from a backup.")
    return str(name)


def text_files(study: Study) -> dict[str, Path]:
    """Return the files that study.toml names, by name.

    Raises
    ------
    StudyError
        One of them is missing or not a file.
    """
    files = {}
    for name in named_files(study.config):
        path = study.folder / name
        if path.is_symlink() or not path.is_file():
            raise StudyError(f"study.toml names {name}, but {path} is not a file; put it there.")
        files[name] = path
    return files


def prompt_files(study: Study) -> dict[str, Path]:
    """Return the files of the study's own prompt versions, by their path in its folder.

    A run is known by the hash of its words; the words themselves are in these files only.
    """
    paths = sorted((study.folder / PROMPTS).glob("*/*"))
    files = {path.relative_to(study.folder).as_posix(): path for path in paths}
    return {
        name: path
        for name, path in files.items()
        if is_prompt(name) and path.is_file() and not path.is_symlink()
    }


def named_files(config: StudyConfig) -> list[str]:
    """Return the names of the files that settings ask for."""
    rating = config.rating
    names = (rating.consent, rating.instructions, rating.catalogue)
    return sorted({name for name in names if name is not None})


def _place(study: Study, out: Path | str | None) -> Path:
    path = study.folder.resolve().parent if out is None else Path(out)
    if path.is_dir():
        stem = re.sub(r"[^\w.-]+", "-", study.folder.resolve().name).strip("-.") or "study"
        path = path / f"{stem}-{now():%Y%m%dT%H%M%SZ}{SUFFIX}"
    check_new(path, study.folder)
    return path


@contextmanager
def _room(path: Path, study: Study) -> Iterator[Path]:
    """Create a folder for the copy, next to the backup and closed to others."""
    if study.engine.dialect.name == "sqlite":
        size = (study.folder / study.config.database).stat().st_size
        free = shutil.disk_usage(path.parent).free
        # The copy and, at worst, as much again for the compressed file.
        if free < 2 * size:
            raise StudyError(
                f"{path.parent} has {free >> 20:,} MB free; the backup takes up to "
                f"{2 * size >> 20:,} MB. Free some space, or name another place with --out."
            )
    with tempfile.TemporaryDirectory(prefix=".ccrs-backup-", dir=path.parent) as folder:
        yield Path(folder)


def _dump(study: Study, target: Path) -> dict[str, int]:
    need("pg_dump")
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    engine = study.engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection, connection.begin():
        # pg_dump copies what this very transaction sees, so the counts are those of the copy.
        snapshot = connection.execute(text("SELECT pg_export_snapshot()")).scalar_one()
        rows = {
            name: int(connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one())  # noqa: S608
            for name in table_names(connection)
        }
        dump(study.config.database, str(snapshot), target)
    return rows
