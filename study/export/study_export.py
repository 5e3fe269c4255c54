"""Export of a study: responses, scores and preferences as files, with a codebook."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.errors import StudyError
from study.export.marks_files import (
    FIELDS,
    LABEL_STUDIO,
    LINES,
    write_label_studio,
    write_lines,
)
from study.export.table_files import Kind, Rows, write_table
from study.facts.current_responses import (
    RESPONSE_COLUMNS,
    CurrentResponse,
    current_responses,
    response_rows,
)
from study.facts.marks_table import mark_sets
from study.facts.ratings import MEASURING, newest_ratings, settled_values
from study.facts.score_table import compact_score_table, score_rows
from study.pyarrow_extra import load_pyarrow
from study.schema.tables import assignments, raters, ratings
from study.settings.study_toml import StudyConfig
from study.text import MARK, counted

if TYPE_CHECKING:
    from study.study import Study


MEANING = {
    MARK: "1 in every row: the file is an export of ccrs-study. Text cells that begin with = + - "
    "@ ' or a tab or line break have an apostrophe in front, so that no spreadsheet runs them; "
    "`ccrs import` takes it away again",
    "response_id": "id of a response: one distinct content (query, text, passages); a later "
    "version of a response is ID@VERSION",
    "query_id": "id of the query that the response answers",
    "system": "system that gave the response; a response of several systems has a row for each, "
    "with the same values",
    "construct": "key of what was measured",
    "scorer": "code of a rater, name of a judge run or of a metric; CODE (adjudicated) for a "
    "rater's values as adjudicator",
    "scorer_kind": "human, adjudicated, judge or metric",
    "repeat": "0, or 1, 2, ... for a further value of the same scorer",
    "value": "points on the scale of the construct or, where it has one, of the scorer; empty "
    "when missing",
    "value_a_first": "choice where response_a was shown first, positive where response_b is "
    "better; empty where the two orders were not distinguished",
    "value_b_first": "choice where response_b was shown first, positive where response_b is "
    "better; empty where the two orders were not distinguished",
    "missing_reason": "why there is no value; empty when there is one",
    "rule": "how a judge's answer was read, bare being just the number, or the version of a "
    "metric; empty for people, missing values and where it is not known",
    "inclusion_prob": "probability with which the response was drawn for rating; 1 when all were",
    "stratum": "stratum it was drawn from; empty when there were none",
    "source": "where the value was given: own pages, another named place, or imported",
    "response_words": "number of words of the response, parted by white space",
    "position": "position of the value in the rater's sequence, from 1; empty if unknown",
    "layout": "what its rater saw on a page: single, one response, or side_by_side, all to a "
    "query; empty for what was not rated here",
    "answer": "what the rater answered to the construct's `comment_question`, in words; no value",
    "comment": "the adjudicator's words on the settled value",
    "domain": "domain of the query, from its attributes; empty where it has none",
    "passages_opened": "yes or no: whether the rater had opened a passage of the response "
    "before the value was given, on a construct that needs passages; empty if not recorded",
    "text_format": "how the rater was shown the texts: plain or monospace, as written; "
    "rendered, as Markdown; both, monospace and rendered in turn; empty if not recorded. A judge's "
    "prompt has them as written",
    "response_a": "id of the first response of a comparison",
    "response_b": "id of the second response of a comparison",
    "query": "text of the query",
    "references": "reference answers, the first being the one shown; a JSON array in CSV",
    "attributes": "attributes of the query, such as its domain; a JSON object",
    "response": "text of the response; may be empty",
    "passages": "what the response was given, in rank order: texts, or objects with text and "
    "document; a JSON array in CSV",
}
_SETTLED_VALUE = (
    "value that an adjudicator chose knowing those of the raters; it is in no table of scores"
)
_PREFERENCE_VALUE = "points on the scale of preferences; positive means that response_b is better"

COLUMNS: dict[str, tuple[str, ...]] = {
    "responses": RESPONSE_COLUMNS,
    "scores": tuple(SCORE_COLUMNS),
    "preferences": tuple(PREFERENCE_COLUMNS),
    "answers": ("response_id", "construct", "scorer", "answer"),
    "settled": ("response_id", "construct", "scorer", "value", "comment"),
}


def codebook(config: StudyConfig, rows: Mapping[str, int], form: str) -> dict[str, Any]:
    """Return the codebook as values for JSON; `rows` are counts by table."""
    mark = (MARK,) if form == "csv" else ()
    return {
        "codebook_version": 1,
        "study": config.name,
        "tables": {
            name: {
                "file": f"{name}.{form}",
                "rows": count,
                "columns": {column: _meaning(name, column) for column in (*mark, *COLUMNS[name])},
            }
            for name, count in rows.items()
        },
        "constructs": [
            {
                "key": construct.key,
                "name": construct.name,
                "question": construct.question,
                "scale": asdict(construct.scale),
                "anchors": dict(construct.anchors),
                "sees": list(construct.sees),
                "rules": list(construct.rules),
                "comment_question": construct.comment_question,
                "mark_question": construct.mark_question,
            }
            for construct in config.constructs
        ],
        "scorer_scales": {
            name: asdict(scale)
            for name in (*config.scorers, *config.combined)
            if (scale := config.own_scale(name)) is not None
        },
        "preference_scale": asdict(config.preferences.scale),
    }


def codebook_markdown(book: Mapping[str, Any]) -> str:
    """Return the codebook as a text to read."""
    lines = [f"# Codebook: {book['study']}", ""]
    for name, entry in book["tables"].items():
        lines += [f"## {entry['file']} ({counted(entry['rows'], 'row')}: {name})", ""]
        lines += ["| column | meaning |", "|---|---|"]
        lines += [f"| {_cell(c)} | {_cell(meaning)} |" for c, meaning in entry["columns"].items()]
        lines.append("")
    if "marks" in book:
        marks = book["marks"]
        lines += [f"## {marks['file']} ({counted(marks['lines'], 'line')} of JSON: marks)", ""]
        lines += ["| field | meaning |", "|---|---|"]
        lines += [f"| {_cell(field)} | {_cell(text)} |" for field, text in marks["fields"].items()]
        lines += ["", f"{LABEL_STUDIO} has the same as tasks that Label Studio imports.", ""]
    lines += ["## Constructs", "", "| key | name | scale | level | question |"]
    lines.append("|---|---|---|---|---|")
    for construct in book["constructs"]:
        cells = (
            construct["key"],
            construct["name"],
            _range(construct["scale"]),
            construct["scale"]["level"],
            construct["question"],
        )
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    lines.append("")
    for name, scale in book["scorer_scales"].items():
        lines.append(f"{_cell(name)} scores on its own scale, {_range(scale)}.")
    lines.append(f"Preferences run from {_range(book['preference_scale'])}.")
    return "\n".join(lines) + "\n"


def _meaning(name: str, column: str) -> str:
    of_table = {"preferences": _PREFERENCE_VALUE, "settled": _SETTLED_VALUE}
    return of_table.get(name, MEANING[column]) if column == "value" else MEANING[column]


def _range(scale: Mapping[str, Any]) -> str:
    step = f" in steps of {scale['step']:g}" if scale["step"] else ""
    return f"{scale['min']:g} to {scale['max']:g}{step}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_FORMS = ("csv", "parquet")
_CODEBOOK = ("codebook.md", "codebook.json")
_KINDS: dict[str, Kind] = {
    "references": "texts",
    "passages": "passages",
    "repeat": "integer",
    **dict.fromkeys(("value", "inclusion_prob", "response_words", "position"), "number"),
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
) -> ExportSummary:
    """Write a study's tables and their codebook into `folder`.

    `import_file` takes the files back, except for answers in words and settled values: a fresh
    study with the same study.toml has the same tables. What later versions and revisions replaced
    is left out, and counted.

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
        }
        for name, rows in tables.items():
            # Under another name until all is written: an export is whole, or not there.
            parts[name] = folder / f"{name}.{format}.part"
            columns = {column: _KINDS.get(column, "text") for column in COLUMNS[name]}
            counts[name] = write_table(parts[name], format, columns, rows)
        of_marks = _write_marks(connection, study, folder, left_out)
    for path in existing:
        path.unlink()
    for name, part in parts.items():
        if counts[name]:
            part.replace(part.with_suffix(""))
        else:
            part.unlink()
    for name in of_marks:
        (folder / f"{name}.part").replace(folder / name)
    counts = {name: n for name, n in counts.items() if n}
    book = codebook(study.config, counts, format)
    if of_marks:
        book["marks"] = {"file": LINES, "lines": of_marks[LINES], "fields": FIELDS}
    text = json.dumps(book, ensure_ascii=False, indent=1)
    (folder / "codebook.json").write_text(text + "\n", encoding="utf-8")
    (folder / "codebook.md").write_text(codebook_markdown(book), encoding="utf-8")
    files = {f"{name}.{format}": n for name, n in counts.items()}
    return ExportSummary(folder, files | of_marks, left_out)


def _names() -> list[str]:
    tables = [f"{name}.{form}" for name in COLUMNS for form in _FORMS]
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
