"""Samples of ragas (user_input, retrieved_contexts, response, reference), with scores if any."""

from study.importing.formats.responses import response_row
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import made_id
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "user_input and response, usually with retrieved_contexts and reference"
TAKES = ("controls", "ranges")
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
    """Read the samples; a query is named by its text where there is no query_id.

    Columns of metrics that are mapped to a construct, or named after one, become scores.
    """
    scores = ToolScores(source, options, "ragas", from_0_to_1=True)
    known = {column for names in FIELDS.values() for column in names}
    metrics = [c for c in source.head.columns if c not in known and scores.construct_of(c)]
    reader = Reader(source, FIELDS, reserved=metrics.__contains__)
    reader.require("query", "response")

    def row(cells: RecordCells) -> Rows:
        # A reference is one text here, also where it looks like a list.
        reference, name = cells.text("references"), cells.key("response_id")
        content = [cells.raw(field) for field in ("system", "query", "response", "passages")]
        if name is None and metrics:
            name = made_id("ragas", options.system, *content)
        yield from response_row(
            cells, options, references=[reference] if reference else [], response_id=name
        )
        for metric in metrics:
            if metric in cells.columns:
                response = ScoredResponse(name, cells.text("query"), options.system_of(cells))
                value = cells.cell(metric)
                yield from scores.rows(cells, response, metric, value, kind="judge")

    yield from reader.rows(row)
    yield from scores.wrong_controls()
