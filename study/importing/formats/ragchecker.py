"""Results of RAGChecker: queries, responses and contexts of one system, with metrics if any."""

from typing import Any

from study.errors import Fault, InputError
from study.importing.formats.responses import passages_of
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields
from study.importing.readers.json_text import leave_out_beside, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ResponseRow, Rows, ScoreRow

WANTS = 'a JSON document {"results": [{query_id, query, response, gt_answer, retrieved_context}]}'
SCORER = "ragchecker"

FIELDS: Fields = {
    "query_id": ("query_id",),
    "query": ("query",),
    "response": ("response",),
    "passages": ("retrieved_context",),
    "references": ("gt_answer",),
    "metrics": ("metrics",),
}
_UNSAID = "RAGChecker's metrics that are no construct of the study"
_NAMELESS = "RAGChecker's metrics, since --system is not given"


def matches(head: Head) -> bool:
    """Whether the file is a document with results."""
    return head.form == "json document" and isinstance(head.first.get("results"), list)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the results; metrics that are constructs of the study become scores."""
    results = source.document.get("results") if isinstance(source.document, dict) else None
    if not isinstance(results, list):
        fault = Fault('the document holds no list "results".', f"Give {WANTS}.")
        raise InputError(source.path.name, [fault])
    reader = Reader(source, FIELDS)
    scorer = options.scorer or SCORER
    kind = options.kinds.get(scorer, "metric")
    leave_out_beside(source, source.document, "results")
    for cells in reader.read(objects(source, results)):
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        query_id = cells.key("query_id")
        yield from cells.row(
            ResponseRow,
            query_id=query_id,
            query=cells.text("query"),
            response=cells.text("response"),
            system=options.system,
            passages=passages_of(cells),
            references=cells.listed("references"),
        )
        metrics = cells.mapping("metrics")
        if metrics and (options.system is None or query_id is None):
            source.tally.left_out[_NAMELESS] += len(metrics)
            continue
        named = {"query_id": query_id, "system": options.system, "scorer_kind": kind}
        for name, value in metrics.items():
            if name not in options.constructs:
                source.tally.left_out[f"{_UNSAID}: {name}"] += 1
                continue
            yield from _score(cells, name, value, {**named, "scorer": scorer})


def _score(cells: RecordCells, name: str, value: Any, named: dict[str, str | None]) -> Rows:
    number = cells.number_in(name, value)
    return cells.row(ScoreRow, at=name, construct_key=name, value=number, **named)
