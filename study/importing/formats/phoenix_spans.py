"""Spans of Phoenix: the dataframe of `get_spans_dataframe`, saved as CSV, JSON or Parquet.

Format: https://arize.com/docs/phoenix (exporting annotated spans), as read in November 2026. A
root span is a response; the documents of retriever spans of its trace are its passages.
"""

import re
from typing import Any

from study.errors import Fault, InputError
from study.importing.importers import FormatOptions
from study.importing.readers.cells import CellError, as_list, blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.input_file import Record
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import answer_text, question_text
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "spans of Phoenix: context.span_id, parent_id, attributes.input.value, ..."
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "response_id": ("context.span_id",),
    "parent": ("parent_id",),
    "trace": ("context.trace_id",),
    "input": ("attributes.input.value",),
    "output": ("attributes.output.value",),
    "documents": ("attributes.retrieval.documents",),
}
_EVALUATION = re.compile(r"eval\.(.+)\.score")


def matches(head: Head) -> bool:
    """Whether records are spans with inputs and outputs."""
    needed = {"context.span_id", "attributes.input.value", "attributes.output.value"}
    return needed <= set(head.columns)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read root spans, the documents of their traces, and columns eval.NAME.score."""
    reader = Reader(source, FIELDS, reserved=lambda c: _EVALUATION.fullmatch(c) is not None)
    scores = ToolScores(source, options, "phoenix")
    spans = list(source.records())
    documents = _documents(source, spans)

    def rows_of(cells: RecordCells) -> Rows:
        if not blank(cells.raw("parent")):
            cells.left_out("spans within a trace, other than its root")
            return
        query, answer = question_text(cells.raw("input")), answer_text(cells.raw("output"))
        if query is None or answer is None:
            cells.left_out(f"root spans without an {'input' if query is None else 'output'}")
            return
        response = ScoredResponse(cells.key("response_id"), query, options.system)
        yield from response.row(cells, answer, documents.get(str(cells.raw("trace")), []))
        for column in cells.columns:
            evaluation = _EVALUATION.fullmatch(column)
            if evaluation and not blank(cells.cell(column)):
                yield from scores.rows(
                    cells, response, evaluation[1], cells.cell(column), kind="judge"
                )

    yield from reader.rows(rows_of, spans)
    yield from scores.wrong_controls()


def _documents(source: RecordSource, spans: list[Record | Fault]) -> dict[str, list[Any]]:
    """Return the retrieved documents by trace."""
    column = FIELDS["documents"][0]
    documents: dict[str, list[Any]] = {}
    for span in spans:
        listed = span.cells.get(column) if isinstance(span, Record) else None
        if not isinstance(span, Record) or blank(listed):
            continue
        try:
            items = as_list(listed)
        except CellError as error:
            fault = Fault(error.problem, error.remedy, span.number, column)
            raise InputError(source.path.name, [fault]) from None
        documents.setdefault(str(span.cells.get("context.trace_id")), []).extend(items)
    return documents
