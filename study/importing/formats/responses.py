"""Responses, one a row: query, response, system, passages, references."""

from typing import Any

from study.importing.formats.options import Options
from study.importing.reading.layout import Fields, has
from study.importing.reading.record_cells import Reader, RecordCells
from study.importing.reading.source import Head, Source
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


def recognises(head: Head) -> bool:
    """Whether rows hold queries and responses, and no single score."""
    return has(FIELDS, head.columns, "query", "response") and not (
        {"construct", "value"} <= set(head.columns)
    )


def lacks(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of responses needs and this one has not."""
    return [FIELDS[name] for name in ("query", "response") if not has(FIELDS, head.columns, name)]


def rows(source: Source, options: Options) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS, families=True)
    reader.require("query", "response")
    for cells in reader:
        if not isinstance(cells, RecordCells):
            yield cells
            continue
        passages = cells.listed("passages") or cells.numbered_passages()
        yield from cells.row(
            ResponseRow,
            query_id=cells.key("query_id"),
            query=cells.text("query"),
            response=cells.text("response"),
            response_id=cells.key("response_id"),
            system=cells.key("system") or options.system,
            passages=with_documents(passages, cells.listed("documents")),
            references=cells.listed("references"),
            attributes={**cells.mapping("attributes"), **cells.attributes()},
        )


def with_documents(passages: list[Any], documents: list[Any]) -> list[Any]:
    """Return passages as rows, each with its document where that is known.

    A passage is a text, or an object with its text under text and its identifier under document,
    doc_id or id.
    """
    found = []
    for position, passage in enumerate(passages):
        document = documents[position] if position < len(documents) else None
        text = passage
        if isinstance(passage, dict):
            text = passage.get("text")
            ids = (passage.get(name) for name in ("document", "doc_id", "id"))
            document = next((name for name in ids if name not in (None, "")), document)
        found.append({"text": text, "document": None if document is None else str(document)})
    return found
