"""Traces of Langfuse: the export of the traces table, or traces with their scores from the API.

Format: https://langfuse.com/docs/api-and-data-platform/features/export-from-ui and the API's
`TraceWithFullDetails`, as read in November 2026.
"""

from study.importing.formats.langfuse_scores import trace_score
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import (
    CONTEXT_NAMES,
    answer_text,
    named_member,
    question_text,
    record_names,
)
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "traces of Langfuse: id, timestamp, input, output, and scores where they have them"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "response_id": ("id",),
    "input": ("input",),
    "output": ("output",),
    "metadata": ("metadata",),
    "scores": ("scores",),
}
_TRACE = {"id", "timestamp", "input", "output"}
_OF_LANGFUSE = {"sessionId", "userId", "htmlPath", "bookmarked", "release", "observations"}


def matches(head: Head) -> bool:
    """Whether records are traces, also in a page of the API."""
    names = record_names(head)
    return names >= _TRACE and bool(names & _OF_LANGFUSE)


is_certain = matches


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses, and the scores that come with them."""
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "langfuse")

    def rows_of(cells: RecordCells) -> Rows:
        name, given = cells.key("response_id"), cells.raw("input")
        query, answer = question_text(given), answer_text(cells.raw("output"))
        if query is None or answer is None:
            cells.left_out(f"traces without an {'input' if query is None else 'output'}")
            return
        places = (given, cells.raw("output"), cells.raw("metadata"))
        contexts = (named_member(place, CONTEXT_NAMES) for place in places)
        context = next((found for found in contexts if found is not None), None)
        response = ScoredResponse(name, query, options.system)
        yield from response.row(cells, answer, context)
        for score in cells.listed("scores"):
            if isinstance(score, dict):
                yield from trace_score(cells, scores, response, score)

    yield from scores.read(reader, rows_of)
