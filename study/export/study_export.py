"""Export of a study: responses, scores and preferences as files, with a codebook."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from study.errors import StudyError
from study.export.codebook import COLUMNS, codebook, codebook_markdown
from study.export.marks_files import (
    FIELDS,
    LABEL_STUDIO,
    LINES,
    write_label_studio,
    write_lines,
)
from study.export.table_files import Kind, Rows, write_table
from study.facts.current_responses import (
    CurrentResponse,
    current_responses,
    response_rows,
)
from study.facts.marks_table import mark_sets
from study.facts.rating_rows import RATING_COLUMNS, rating_rows
from study.facts.ratings import MEASURING, newest_ratings, settled_values
from study.facts.score_table import compact_score_table, score_rows
from study.pyarrow_extra import load_pyarrow
from study.schema.tables import assignments, raters, ratings
from study.settings.study_toml import StudyConfig
from study.text import counted

if TYPE_CHECKING:
    from study.study import Study


_PEOPLE = "people"
_FORMS = ("csv", "parquet")
_CODEBOOK = ("codebook.md", "codebook.json")
_KINDS: dict[str, Kind] = {
    "references": "texts",
    "passages": "passages",
    "repeat": "integer",
    **dict.fromkeys(("value", "inclusion_prob", "response_words", "position"), "number"),
    **dict.fromkeys(("seconds", "hours"), "number"),
    **dict.fromkeys(("revision", "responses", "responses_done", "responses_rejected"), "integer"),
    **dict.fromkeys(("first_saved_at", "last_saved_at", "joined_at", "last_active_at"), "time"),
}
"""Kinds of the columns that are not text."""


@dataclass(frozen=True)
class ExportSummary:
    """What was written: rows by file, and what was left out."""

    folder: Path
    files: dict[str, int]
    left_out: dict[str, int]

    def lines(self) -> list[str]:
        """Return the summary as lines of text."""
        written = [
            f"Wrote {self.folder / name} ({counted(rows, 'row')})."
            for name, rows in self.files.items()
        ]
        written.append(f"Wrote {self.folder / 'codebook.md'} and codebook.json.")
        return written + [f"Left out: {what} ({n:,})." for what, n in self.left_out.items()]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values for JSON."""
        return {**asdict(self), "folder": str(self.folder)}


def export_study(
    study: "Study",
    folder: Path | str,
    format: str = "csv",  # noqa: A002  (the word that callers expect)
    *,
    overwrite: bool = False,
    people: tuple[Sequence[str], Rows] | None = None,
) -> ExportSummary:
    """Write a study's tables and their codebook into `folder`.

    `import_file` takes back responses, scores and preferences: a fresh study with the same
    study.toml has the same tables. What later versions and revisions replaced
    is left out, and counted.

    `people` has the columns and rows of the table of people, whose file its owner alone can read:
    it has what identifies them to a recruiter.

    Raises
    ------
    StudyError
        Files of an export exist and `overwrite` is not set, or the format is unknown, or it is
        Parquet and pyarrow is not installed.
    """
    if format not in _FORMS:
        raise StudyError(f"{format!r} is not an export format; use csv or parquet.")
    if format == "parquet":
        load_pyarrow()
    folder = Path(folder)
    existing = [folder / name for name in _names() if (folder / name).exists()]
    if existing and not overwrite:
        raise StudyError(
            f"{existing[0]} already exists. Choose another folder, or replace it with --overwrite."
        )
    folder.mkdir(parents=True, exist_ok=True)
    preferences = study.preference_table()
    with study.read() as connection:
        versions = study.construct_versions(connection)
        scores = compact_score_table(connection, versions, config=study.config)
    left_out = {
        f"values {why}": n
        for table in (scores, preferences)
        for why, n in table.attrs["left_out"].items()
    }
    parts: dict[str, Path] = {}
    counts: dict[str, int] = {}
    with study.read() as connection:
        responses, replaced = current_responses(connection)
        if replaced:
            left_out["responses that a later one replaced"] = replaced
        tables: dict[str, Rows] = {
            "responses": _with_passages(response_rows(connection, responses), format),
            "scores": score_rows(scores),
            "preferences": preferences.itertuples(index=False, name=None),
            "answers": _answers(connection, study.config, responses),
            "settled": _settled(connection, responses),
            "ratings": (
                row[: len(RATING_COLUMNS)] for row in rating_rows(connection, study.config)
            ),
        }
        names = dict(COLUMNS)
        if people is not None:
            names[_PEOPLE], tables[_PEOPLE] = tuple(people[0]), people[1]
        for name, rows in tables.items():
            # Under another name until all is written: an export is whole, or not there.
            parts[name] = _part(folder, name, format)
            columns = {column: _KINDS.get(column, "text") for column in names[name]}
            counts[name] = write_table(parts[name], format, columns, rows)
        written_marks = _write_marks(connection, study, folder, left_out)
    for path in existing:
        path.unlink()
    for name, part in parts.items():
        if counts[name]:
            part.replace(part.with_suffix(""))
        else:
            part.unlink()
    for name in written_marks:
        (folder / f"{name}.part").replace(folder / name)
    counts = {name: n for name, n in counts.items() if n}
    book = codebook(study.config, counts, format, names)
    if written_marks:
        book["marks"] = {"file": LINES, "lines": written_marks[LINES], "fields": FIELDS}
    text = json.dumps(book, ensure_ascii=False, indent=1)
    (folder / "codebook.json").write_text(text + "\n", encoding="utf-8")
    (folder / "codebook.md").write_text(codebook_markdown(book), encoding="utf-8")
    files = {f"{name}.{format}": n for name, n in counts.items()}
    return ExportSummary(folder, files | written_marks, left_out)


def _part(folder: Path, name: str, form: str) -> Path:
    """Return the file in which a table is written; that of people is for its owner alone."""
    part = folder / f"{name}.{form}.part"
    if name == _PEOPLE:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
    return part


def _names() -> list[str]:
    tables = [f"{name}.{form}" for name in (*COLUMNS, _PEOPLE) for form in _FORMS]
    return [*tables, LINES, LABEL_STUDIO, *_CODEBOOK]


def _write_marks(
    connection: Connection, study: "Study", folder: Path, left_out: dict[str, int]
) -> dict[str, int]:
    """Write people's marks on sentences under the names of parts; return counts by file."""
    sets, without = mark_sets(connection, study.construct_versions(connection))
    left_out |= {f"marks {reason}": n for reason, n in without.items()}
    if not sets:
        return {}
    return {
        LINES: write_lines(folder / f"{LINES}.part", sets),
        LABEL_STUDIO: write_label_studio(folder / f"{LABEL_STUDIO}.part", sets),
    }


def _answers(
    connection: Connection, config: StudyConfig, responses: Iterable[CurrentResponse]
) -> Iterator[tuple[Any, ...]]:
    asked = [c.key for c in config.constructs if c.comment_question is not None]
    ids = {response.id: response.response_id for response in responses}
    newest = newest_ratings(ratings.c.construct_key.in_(asked))
    rows = connection.execute(
        select(assignments.c.response_id, newest.c.construct_key, raters.c.code, newest.c.comment)
        .join_from(newest, assignments, assignments.c.id == newest.c.assignment_id)
        .join(raters, raters.c.id == assignments.c.rater_id)
        .where(
            newest.c.answered,
            newest.c.comment.is_not(None),
            assignments.c.purpose.in_(MEASURING),
        )
        .order_by(newest.c.id)
    )
    for response, *cells in rows:
        if response in ids:
            yield ids[response], *cells


def _settled(
    connection: Connection, responses: Iterable[CurrentResponse]
) -> Iterator[tuple[Any, ...]]:
    ids = {response.id: response.response_id for response in responses}
    for row in connection.execute(settled_values()):
        if row.response_id in ids:
            yield ids[row.response_id], row.construct_key, row.code, row.value, row.comment


def _with_passages(rows: Rows, form: str) -> Iterator[tuple[Any, ...]]:
    """Make each passage a mapping or, in CSV, plain text where it has no document."""
    for *cells, passages in rows:
        yield (
            *cells,
            [
                text if form == "csv" and document is None else {"text": text, "document": document}
                for text, document in passages
            ],
        )
