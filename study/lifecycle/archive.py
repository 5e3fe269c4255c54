"""An archive: a study to mail or deposit, without credentials and what identifies people."""

import json
import sqlite3
import tempfile
import tomllib
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from study.errors import StudyError, without_effect
from study.export.study_export import export_study
from study.facts.ratings import REJECTED
from study.lifecycle.backup import prompt_files, text_files
from study.lifecycle.database_copy import sqlite_rows
from study.lifecycle.new_file import check_new, new_file
from study.progress_bar import Advance
from study.schema import (
    ClosingAnswer,
    EndedSession,
    Enrolment,
    EnrolmentLink,
    ExternalProject,
    ExternalRater,
    ExternalTask,
    Invitation,
    Noun,
    OwnerPassword,
    RaterAnswer,
    RejectedValue,
    now,
    table,
)
from study.schema.creation import append_only_suspended, create_schema
from study.schema.database import open_engine
from study.schema.tables import rater_answers, raters
from study.settings.rating import EXITS
from study.settings.study_toml import StudyConfig
from study.study import Study

_DATABASE = "study.db"
_CODE = "[completion code]"
_SECRET: tuple[type[Noun], ...] = (
    *(Invitation, Enrolment, EnrolmentLink, OwnerPassword, EndedSession),
    *(RejectedValue, ExternalTask, ExternalRater, ExternalProject),
)
"""Tables that are left empty."""
_TOGETHER = 2000


@dataclass(frozen=True)
class Archive:
    """Result of packing an archive."""

    path: Path
    bytes: int
    rows: dict[str, int]
    """By table of the database in it."""
    left_out: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "path": str(self.path),
            "bytes": self.bytes,
            "rows": self.rows,
            "left_out": self.left_out,
        }


def archive(
    study: Study,
    out: Path | str,
    *,
    comments: bool = False,
    progress: Advance | None = None,
) -> Archive:
    """Pack a study into a zip file for others: database, settings, tables with codebook, README.

    Left out are tokens of links, password hashes, external ids, raters' attributes, remarks at
    the end, the completion code and, unless `comments` is set, all comments and reasons in
    raters' own words. The database is SQLite, also where the study's is not.

    Raises
    ------
    StudyError
        The file exists, can't be created or would be in the study's folder.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    out = Path(out)
    check_new(out, study.folder)
    with tempfile.TemporaryDirectory(prefix=".ccrs-archive-", dir=out.parent) as made:
        folder = Path(made) / "study"
        folder.mkdir()
        left_out = _copy_database(study, folder / _DATABASE, comments, advance)
        (folder / "study.toml").write_text(_settings(study), encoding="utf-8")
        for name, source in text_files(study).items():
            (folder / name).write_bytes(_without_code(study.config, source.read_bytes()))
        for name, source in prompt_files(study).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(source.read_bytes())
        with Study.open(folder) as copy:
            files = export_study(copy, folder / "tables").files
        _whole(folder / _DATABASE)
        rows = sqlite_rows(folder / _DATABASE)
        (folder / "README.md").write_text(
            _readme(study, rows, files, left_out, comments), encoding="utf-8"
        )
        size = _pack(folder, out, study)
    return Archive(out, size, rows, left_out)


def _copy_database(study: Study, target: Path, comments: bool, advance: Advance) -> dict[str, int]:
    engine = open_engine(target.name, target.parent)
    tables = Noun.metadata.sorted_tables
    try:
        create_schema(engine)
        with study.read() as source, engine.connect() as connection:
            # Slots name others of their table; the rows are all there at the end.
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)  # noqa: S101
            driver.execute("PRAGMA foreign_keys=OFF")
            with connection.begin(), append_only_suspended(connection, [t.name for t in tables]):
                left_out: dict[str, int] = {}
                for number, t in enumerate(tables):
                    connection.execute(delete(t))
                    rows = source.execution_options(yield_per=_TOGETHER).execute(select(t))
                    for some in rows.mappings().partitions(_TOGETHER):
                        connection.execute(insert(t), [dict(row) for row in some])
                    advance(number + 1, len(tables))
                _strip(connection, comments, left_out)
    finally:
        engine.dispose()
    return left_out


def _strip(connection: Connection, comments: bool, left_out: dict[str, int]) -> None:
    for noun in _SECRET:
        noun_table = table(noun)
        _count(
            left_out, f"rows of {noun_table.name}", connection.execute(delete(noun_table)).rowcount
        )
    with_attributes = sum(
        bool(row.attributes) for row in connection.execute(select(raters.c.attributes)).all()
    )
    connection.execute(update(raters).values(attributes={}))
    _count(left_out, "raters' attributes", with_attributes)
    connection.execute(update(rater_answers).values(external_id=None, idempotency_key=None))
    texts: list[tuple[type[Noun], str]] = [(ClosingAnswer, "comment")]
    work_texts: list[tuple[type[Noun], str]] = [(RaterAnswer, "comment"), (RaterAnswer, "reason")]
    if not comments:
        texts += work_texts
    elif not any(_has(connection, noun, name) for noun, name in work_texts):
        raise StudyError(without_effect("--comments", True, "the study has no comment or reason"))
    for noun, name in texts:
        noun_table = table(noun)
        gone = connection.execute(
            update(noun_table).where(_has_words(noun_table.c[name])).values({name: None})
        ).rowcount
        _count(left_out, f"{name}s of {noun_table.name}", gone)


def _has(connection: Connection, noun: type[Noun], name: str) -> bool:
    column = table(noun).c[name]
    return connection.execute(select(column).where(_has_words(column)).limit(1)).first() is not None


def _has_words(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a person wrote it: the reason of a rejection is the program's own word."""
    return column.is_not(None) & (column != REJECTED)


def _count(left_out: dict[str, int], what: str, number: int) -> None:
    if number:
        left_out[what] = number


def _whole(path: Path) -> None:
    """Write a database into one file without deleted data."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")


def _settings(study: Study) -> str:
    """Return study.toml without credentials and what identifies people.

    Its comments are removed too, since they may name raters.
    """
    import tomlkit

    raw = tomllib.loads((study.folder / "study.toml").read_text(encoding="utf-8-sig"))
    # Languages may identify raters; an address may name people and machines.
    raw.pop("raters", None)
    raw["database"] = _DATABASE
    if "label_studio" in raw:
        raw["label_studio"].pop("url", None)
    if "rating" in raw:
        private = {f"{way}_{part}" for way in EXITS for part in ("code", "url")} | {"base_url"}
        for name in private:
            raw["rating"].pop(name, None)
    return tomlkit.dumps(raw)


def _without_code(config: StudyConfig, data: bytes) -> bytes:
    for way in EXITS:
        code = getattr(config.rating, f"{way}_code")
        if code is not None:
            data = data.replace(code.encode(), _CODE.encode())
    return data


def _pack(folder: Path, out: Path, study: Study) -> int:
    top = study.folder.resolve().name or "study"
    with new_file(out, study.folder) as part:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    packed.write(path, f"{top}/{path.relative_to(folder).as_posix()}")
        with zipfile.ZipFile(part) as packed:
            broken = packed.testzip()
        if broken is not None:
            raise StudyError(f"{broken} could not be read back from {part}; check the disk.")
    return out.stat().st_size


def _readme(
    study: Study,
    rows: dict[str, int],
    files: dict[str, int],
    left_out: dict[str, int],
    comments: bool,
) -> str:
    gone = [f"- {count:,} {what}" for what, count in left_out.items()]
    kept = [f"| `{name}` | {count:,} |" for name, count in rows.items() if count]
    return "\n".join(
        [
            f"# {study.config.name}",
            "",
            f"An archive of a study, made on {now():%Y-%m-%d} by ccrs-study.",
            "",
            "- `study.toml`: the settings (constructs, design). Unpacked, this folder is a study: "
            "`ccrs status FOLDER`, `ccrs report FOLDER`.",
            f"- `{_DATABASE}`: everything measured, as an SQLite database.",
            "- `tables/`: the same as CSV, described in `tables/codebook.md` and "
            f"`tables/codebook.json` ({json.dumps(files)}).",
            "",
            f"SHA-256 of the study.toml that the study was run under: `{study.config_hash}`.",
            "",
            "## Left out",
            "",
            "Links, passwords, ids from elsewhere, attributes of raters, remarks at the end, the "
            "completion code and addresses"
            + ("." if comments else ", and comments and reasons in raters' own words.")
            + " Raters are codes.",
            "",
            *(gone or ["There were none of these."]),
            "",
            "## Rows",
            "",
            "| table | rows |",
            "|---|---|",
            *kept,
            "",
        ]
    )
