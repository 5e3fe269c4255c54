"""Results of RAGChecker: queries, responses and contexts of one system, with metrics if any."""

from study.importing.formats.responses import passages_of
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ResponseRow, Rows, ScoreRow

DESCRIPTION = (
    'a JSON document {"results": [{query_id, query, response, gt_answer, retrieved_context}]}'
)
SCORER = "ragchecker"

FIELDS: Fields = {
    "query_id": ("query_id",),
    "query": ("query",),
    "response": ("response",),
    "passages": ("retrieved_context",),
    "references": ("gt_answer",),
    "metrics": ("metrics",),
}
_NO_CONSTRUCT = "RAGChecker's metrics that are not constructs of the study"
_NO_SYSTEM = "RAGChecker's metrics, since --system is not given"


def matches(head: Head) -> bool:
    """Whether the file is a document with results."""
    return head.form == "json document" and isinstance(head.first.get("results"), list)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the results; metrics that are constructs of the study become scores."""
    results = source.document.get("results") if isinstance(source.document, dict) else None
    if not isinstance(results, list):
        raise source.refused('the document has no list "results".', f"Give {DESCRIPTION}.")
    reader = Reader(source, FIELDS)
    scorer = options.scorer or SCORER
    kind = options.kinds.get(scorer, "metric")
    count_other_members(source, source.document, "results")

    def rows_of(cells: RecordCells) -> Rows:
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
            source.report.left_out[_NO_SYSTEM] += len(metrics)
            return
        for name, value in metrics.items():
            if name not in options.constructs:
                source.report.left_out[f"{_NO_CONSTRUCT}: {name}"] += 1
                continue
            yield from cells.row(
                ScoreRow,
                at=name,
                query_id=query_id,
                system=options.system,
                construct_key=name,
                scorer=scorer,
                scorer_kind=kind,
                value=cells.number_in(name, value),
            )

    yield from reader.rows(rows_of, objects(source, results))
