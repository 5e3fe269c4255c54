"""Which columns of a table are those of judges and of raters, and on what evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from study.errors import Fault, InputError
from study.importing.readers.column_layout import compares_responses
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import rows_within, within_document
from study.importing.readers.source import Head, RecordSource, flat, table_source
from study.importing.readers.workbook import sheets
from study.importing.score_columns.contents import ROWS, contents_of
from study.importing.score_columns.identifying import Rows
from study.importing.score_columns.named_columns import Recognized
from study.importing.score_columns.names import folded
from study.importing.score_columns.preference_columns import (
    preference_columns,
    preferences_among,
    unclear_choices,
)
from study.importing.score_columns.scorer_rows import named_scorers, names_scorers
from study.importing.score_columns.side_by_side import side_by_side
from study.text import quoted_names

# An export of another tool as a table has one of these.
_OF_EXPORTS = {"traceid", "trace_id", "span_id", "annotator_kind"}


def recognized_table(path: Path | str) -> Recognized:
    """Return the form of a file, and its columns as far as they are evident.

    Raises
    ------
    InputError
        The file can't be read, or has a list for each column in place of rows.
    """
    source = table_source(path)
    if source.head.form == "json document" and not isinstance(source.document, list):
        _refuse_columns_of_json(source.path, source.document)
        _refuse_rows_within(source)
        return Recognized("document")
    columns = source.head.columns
    may_be_export = source.head.form.startswith("json") or (
        _OF_EXPORTS & {folded(column) for column in columns}
    )
    if may_be_export and _is_export(source):
        return Recognized("tool export")
    if preference_columns(source) is not None:
        return Recognized("preferences")
    return _recognized_rows_of(source, columns)


def _recognized_rows_of(source: RecordSource, columns: Sequence[str]) -> Recognized:
    """Return what is evident of a table of scores."""
    found, choices = _scorers(columns, source.peeked)
    if not found.evident and _has_another_format(source):
        return Recognized("responses")
    if choices is not None:
        raise InputError(source.path.name, [choices])
    if source.form == "workbook" and found.unclear:
        return replace(found, unclear=f"{found.unclear}{_sheets(source)}")
    return found


def _scorers(columns: Sequence[str], rows: Rows) -> tuple[Recognized, Fault | None]:
    """What is evident of the scorers, and a fault where there are choices of nobody instead."""
    contents = contents_of(rows(), columns)
    if names_scorers(columns, contents):
        return named_scorers(columns, contents, rows()), None
    found = side_by_side(columns, contents, rows)
    return found, unclear_choices(columns, rows()) if found.columns is None else None


def _sheets(source: RecordSource) -> str:
    """Which sheet of a workbook is read, and which are not; nothing where there is one alone."""
    name, others = sheets(source)
    if not others:
        return ""
    verb = "is" if len(others) == 1 else "are"
    return (
        f". The sheet {name!r} is read, and {quoted_names(map(repr, others))} {verb} not: save the "
        "sheets with scores as CSV UTF-8"
    )


def recognized_rows(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> Recognized:
    """Return what is evident of a table in memory; `rows` are by column, from the first one."""
    records = [Record(number, cells) for number, cells in enumerate(rows, start=1)]
    if compares_responses(columns) or preferences_among(columns, lambda: records) is not None:
        return Recognized("preferences")
    found, choices = _scorers(columns, lambda: records)
    if choices is not None:
        return Recognized("unclear", unclear=str(choices), can_be_completed=False)
    return found


def _is_export(source: RecordSource) -> bool:
    from study.importing.tool_exports import tool_export

    return tool_export(RecordSource(source.path)) is not None


def _has_another_format(source: RecordSource) -> bool:
    """Whether an importer reads the file, such as one with responses."""
    from study.errors import StudyError
    from study.importing.importers import importer_for
    from study.settings.constructs import CCRS

    try:
        importer_for(RecordSource(source.path), tuple(construct.key for construct in CCRS), None)
    except StudyError:
        return False
    return True


def _refuse_columns_of_json(path: Path, document: Any) -> None:
    """Refuse an object with a list or an object for each column, as pandas writes it."""

    def cells(value: Any) -> list[Any]:
        return list(value.values()) if isinstance(value, dict) else value

    lists = isinstance(document, dict) and all(
        isinstance(v, list | dict) for v in document.values()
    )
    if not lists or len(document) < 2:
        return
    columns = [cells(value) for value in document.values()]
    flat = not any(isinstance(cell, list | dict) for column in columns for cell in column)
    if flat and len(set(map(len, columns))) == 1:
        fault = Fault(
            "the file has a list for each column.",
            "Write an object for each row, in pandas: frame.to_json(path, orient='records', "
            "lines=True).",
        )
        raise InputError(path.name, [fault])


def _refuse_rows_within(source: RecordSource) -> None:
    """Refuse an object whose only list of objects has the rows, unless it is a known export."""
    name = rows_within(source.document)
    if name is None or _is_export(source):
        return
    rows = [flat(row) for row in source.document[name][:ROWS]]
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    if recognized_rows(columns, rows).form != "none":
        raise InputError(source.path.name, [within_document(source.path, name)])


def is_summary(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a sheet has neither scores whose scorers are evident nor responses.

    `rows` are its first rows that are not blank; the first one has the names of columns.
    """
    from study.importing.formats.response_columns import has_responses

    width = max(map(len, rows))
    filled = [[*row, *[None] * (width - len(row))] for row in rows]
    columns = [
        f"column {place}" if cell is None else str(cell).strip()
        for place, cell in enumerate(filled[0], start=1)
    ]
    if len(set(columns)) < len(columns):
        return True
    if has_responses(Head("workbook", tuple(columns), {})):
        return False
    table = [dict(zip(columns, row, strict=True)) for row in filled[1:]]
    return recognized_rows(columns, table).form in ("none", "unclear")
