"""Scores of Langfuse: the export of the scores table, or scores from the API.

Those whose source is ANNOTATION are people's. Format: as `langfuse_traces`.
"""

import re
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import record_names
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "scores of Langfuse: traceId, source, name, dataType, value"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    name: tuple(dict.fromkeys((name, re.sub("([A-Z])", r"_\1", name).casefold())))
    for name in (
        "traceId", "observationId", "source", "name", "dataType", "value", "stringValue",
        "authorUserName", "authorUserId",
    )
}  # fmt: skip
"""Fields by their names, which Langfuse writes as traceId or trace_id."""
_KINDS = {"ANNOTATION": "human", "EVAL": "judge", "API": "metric"}


def matches(head: Head) -> bool:
    """Whether records are scores, also in a page of the API."""
    names = record_names(head)
    found = all(names & {*FIELDS[name]} for name in ("traceId", "source", "name", "value"))
    if not found or names & {*FIELDS["dataType"]}:
        return found
    return str(head.first.get("source")).strip().upper() in _KINDS


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read scores; a response is named by the id of its trace."""
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "langfuse")

    def rows_of(cells: RecordCells) -> Rows:
        trace = cells.key("traceId")
        if trace is None:
            cells.left_out("scores of sessions and dataset runs")
            return
        yield from trace_score(
            cells, scores, ScoredResponse(trace), {name: cells.raw(name) for name in FIELDS}
        )

    yield from scores.read(reader, rows_of)


def trace_score(
    cells: RecordCells, scores: ToolScores, response: ScoredResponse, score: dict[str, Any]
) -> Rows:
    """Yield a score of a trace; one that is not a number or verdict is left out and counted."""
    metric = score.get("name")
    data_type = str(score.get("dataType") or "NUMERIC").upper()
    value, text = score.get("value"), score.get("stringValue")
    kind = _KINDS.get(str(score.get("source")).strip().upper())
    if not blank(score.get("observationId")):
        cells.left_out("scores of observations within a trace")
    elif not isinstance(metric, str) or not metric:
        cells.fault("the score has no name.", "Export it again.", "name")
    elif kind is None:
        problem = f"{score.get('source')!r} is not a source of scores."
        cells.fault(problem, f"Write one of {', '.join(_KINDS)}.", "source")
    elif data_type not in {"NUMERIC", "BOOLEAN"} and not scores.knows(text):
        cells.left_out(f"scores {metric!r} of the type {data_type}, which are not numbers")
    else:
        if data_type != "NUMERIC":
            value = text if scores.knows(text) else _boolean(value)
        author = score.get("authorUserName") or score.get("authorUserId") or "langfuse:annotation"
        yield from scores.rows(
            cells,
            response,
            metric,
            value,
            kind=kind,
            scorer=str(author) if kind == "human" else None,
        )


def _boolean(value: Any) -> Any:
    """Return the word for the 0 or 1 of a boolean score; anything else as it is."""
    return {"0": "false", "1": "true", "0.0": "false", "1.0": "true"}.get(str(value), value)
