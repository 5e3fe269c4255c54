"""Responses, one a row: query, response, system, passages, references."""

from typing import Any

from study.importing.formats.context_passages import passages_of
from study.importing.formats.format_options import FormatOptions
from study.importing.readers.column_layout import Fields, folded, has
from study.importing.readers.record_cells import RecordCells
from study.importing.readers.record_reader import Reader
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ResponseRow, Rows

WANTS = "a query and a response in each row, and mostly query_id, system and passages"

FIELDS: Fields = {
    "query_id": ("query_id",),
    "query": ("query", "question"),
    "response": ("response", "answer"),
    "response_id": ("response_id",),
    "system": ("system",),
    "passages": ("passages", "contexts", "retrieved_contexts", "retrieved_context"),
    "documents": ("documents", "retrieved_context_ids"),
    "references": ("references", "reference", "ground_truth", "gt_answer"),
    "attributes": ("attributes",),
}


def matches(head: Head) -> bool:
    """Whether rows hold queries and responses, and no single score."""
    return has(FIELDS, head.columns, "query", "response") and not (
        {"construct", "value"} <= folded(head.columns) or "expected" in folded(head.columns)
    )


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of responses needs and this one has not."""
    return [FIELDS[name] for name in ("query", "response") if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS, families=True)
    reader.require("query", "response")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        attributes = {**cells.mapping("attributes"), **cells.attributes()}
        yield from response_row(cells, options, attributes=attributes)


def response_row(cells: RecordCells, options: FormatOptions, **more: Any) -> Rows:
    """Yield the response that a record holds, or what is wrong with it."""
    yield from cells.row(
        ResponseRow,
        query_id=cells.key("query_id"),
        query=cells.text("query"),
        response=cells.text("response"),
        response_id=cells.key("response_id"),
        system=options.system_of(cells),
        passages=passages_of(cells),
        references=cells.listed("references"),
        **more,
    )
