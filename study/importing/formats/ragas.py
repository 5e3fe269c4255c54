"""Samples of ragas: user_input, retrieved_contexts, response, reference."""

from study.importing.formats.responses import response_row
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows

DESCRIPTION = "user_input and response, usually with retrieved_contexts and reference"
FIELDS: Fields = {
    "query": ("user_input",),
    "response": ("response",),
    "passages": ("retrieved_contexts",),
    "documents": ("retrieved_context_ids",),
    "references": ("reference",),
    "query_id": ("query_id",),
    "response_id": ("response_id",),
    "system": ("system",),
}


def matches(head: Head) -> bool:
    """Whether rows are single-turn samples."""
    return has(FIELDS, head.columns, "query", "response")


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a sample needs and this file lacks."""
    return [FIELDS[name] for name in ("query", "response") if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the samples; a query is named by its text where there is no query_id."""
    reader = Reader(source, FIELDS)
    reader.require("query", "response")

    def row(cells: RecordCells) -> Rows:
        # A reference is one text here, also where it looks like a list.
        reference = cells.text("references")
        return response_row(cells, options, references=[reference] if reference else [])

    yield from reader.rows(row)
