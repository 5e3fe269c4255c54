"""Marks: the parts of a response that a person marked for a construct."""

from study.importing.formats.scores import OPTIONAL
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import MarksRow, Rows

DESCRIPTION = "response_id, construct, scorer, marks: [{start, end, text}]; JSON lines"
FIELDS: Fields = {
    "response_id": ("response_id",),
    "query_id": ("query_id",),
    "system": ("system",),
    "construct_key": ("construct", "construct_key"),
    "marks": ("marks",),
    **{name: OPTIONAL[name] for name in ("scorer", "scorer_kind", "repeat")},
}


def matches(head: Head) -> bool:
    """Whether rows have marks of a person."""
    return has(FIELDS, head.columns, "marks", "construct_key", "scorer")


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of marks needs and this one lacks."""
    needed = ("construct_key", "scorer", "marks")
    return [FIELDS[name] for name in needed if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS)
    reader.require("marks")
    if options.construct is None:
        reader.require("construct_key")
    if options.scorer is None:
        reader.require("scorer", instead="--scorer NAME")

    def row(cells: RecordCells) -> Rows:
        raw = cells.raw("marks")
        # A blank cell means unanswered; an empty list says that no part was marked.
        is_answer = isinstance(raw, list) or not blank(raw)
        return cells.row(
            MarksRow,
            response_id=cells.key("response_id"),
            query_id=cells.key("query_id"),
            system=cells.key("system"),
            construct_key=options.construct_of(cells),
            scorer=options.scorer_of(cells),
            scorer_kind=cells.kind("scorer_kind"),
            repeat=cells.whole_number("repeat"),
            marks=cells.listed("marks") if is_answer else None,
        )

    yield from reader.rows(row)
