"""Annotations of Phoenix: the dataframe of `get_span_annotations_dataframe`, or the API's answer.

Those of the kind HUMAN are people's. Format: as `phoenix_spans`.
"""

from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.tool_exports import record_names
from study.importing.tool_scores import ScoredResponse, ToolScores

DESCRIPTION = "annotations of Phoenix: span_id, annotation_name, annotator_kind, result.score"
TAKES = ("controls", "ranges")
FIELDS: Fields = {
    "span": ("span_id",),
    "name": ("annotation_name", "name"),
    "kind": ("annotator_kind",),
    "result": ("result",),
    "score": ("result.score", "score"),
    "label": ("result.label", "label"),
    "user": ("user_id",),
    "identifier": ("identifier",),
}
_KINDS = {"HUMAN": "human", "LLM": "judge", "CODE": "metric"}


def matches(head: Head) -> bool:
    """Whether records are annotations of spans, also in an answer of the API."""
    names = record_names(head)
    return names >= {"span_id", "annotator_kind"} and bool(names & {"annotation_name", "name"})


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read scores; a response is named by the id of its root span."""
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "phoenix")

    def rows_of(cells: RecordCells) -> Rows:
        metric, kind = cells.key("name"), _KINDS.get(str(cells.raw("kind")))
        if metric is None:
            cells.fault("is blank.", "Give it in every row.", cells.column("name"))
            return
        if kind is None:
            problem = f"{cells.raw('kind')!r} is not a kind of annotator."
            cells.fault(problem, f"Write one of {', '.join(_KINDS)}.", cells.column("kind"))
            return
        value, label = _result(cells)
        if blank(value) and not blank(label):
            if not scores.knows(label):
                cells.left_out(f"annotations {metric!r} with a label and no score")
                return
            value = label
        person = next((str(cells.raw(n)) for n in ("user", "identifier") if cells.has(n)), None)
        yield from scores.rows(
            cells,
            ScoredResponse(cells.key("span")),
            metric,
            value,
            kind=kind,
            scorer=(person or "phoenix:human") if kind == "human" else None,
        )

    yield from scores.read(reader, rows_of)


def _result(cells: RecordCells) -> tuple[Any, Any]:
    """Return the score and the label, which the API nests."""
    result = cells.raw("result")
    members = result if isinstance(result, dict) else {}
    return (
        members.get("score", cells.raw("score")),
        members.get("label", cells.raw("label")),
    )
