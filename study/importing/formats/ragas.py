"""Samples of ragas: user_input, retrieved_contexts, response, reference."""

from study.importing.formats.responses import passages_of
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ResponseRow, Rows

WANTS = "user_input and response, and mostly retrieved_contexts and reference"
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
    """Return the columns that a sample needs and this one has not."""
    return [FIELDS[name] for name in ("query", "response") if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the samples; a query is named by its text where there is no query_id."""
    reader = Reader(source, FIELDS)
    reader.require("query", "response")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        reference = cells.text("references")
        yield from cells.row(
            ResponseRow,
            query_id=cells.key("query_id"),
            query=cells.text("query"),
            response=cells.text("response"),
            response_id=cells.key("response_id"),
            system=options.system_of(cells),
            passages=passages_of(cells),
            references=[reference] if reference else [],
        )
