"""Responses, one a row: query, response, system, passages, references."""

from collections.abc import Iterable
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields, apart, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import ResponseRow, Rows
from study.importing.score_columns.names import kind_of, names_no_score
from study.importing.score_columns.words import VALUES, WHOLE_NAMES
from study.text import abbreviate, counted

_DOCUMENT = ("document", "doc_id", "id", "id_")
_TEXT = ("text", "page_content", "content", "passage", "chunk")
# LlamaIndex has the text of a passage in an object beside its score.
_INNER = "node"
SCORERS = WHOLE_NAMES["scorer"]


def passages_of(cells: RecordCells) -> list[dict[str, Any]]:
    """Return the passages of a record as rows, each with its document where that is known.

    A passage is a text, or an object with the text under `text` (or `page_content`, `content`,
    `passage`, `chunk`) and the identifier under `document`, `doc_id` or `id`. Passages are in one
    list, with their documents in a second one, or in numbered columns.
    """
    listed, numbered = cells.listed("passages"), cells.numbered_passages()
    documents = cells.listed("documents")
    if not (listed or numbered) and any(isinstance(document, dict) for document in documents):
        listed, documents = documents, []
    passages = listed or numbered
    if listed and numbered:
        cells.fault(
            "has passages in a list and in passage_1, passage_2, ... as well.",
            "Keep one of the two.",
            cells.column("passages"),
        )
    elif documents and len(documents) != len(passages) and not cells.faulty:
        cells.fault(
            f"{counted(len(documents), 'document')}, but {counted(len(passages), 'passage')}.",
            "Give one for each passage, null where it is not known.",
            cells.column("documents"),
        )
    return [
        _passage(cells, place, passage, documents[place - 1] if place <= len(documents) else None)
        for place, passage in enumerate(passages, start=1)
    ]


def _passage(cells: RecordCells, place: int, passage: Any, listed: Any) -> dict[str, Any]:
    column = f"{cells.column('documents')}, item {place}"
    document = None if blank(listed) else cells.key_in(column, listed)
    if not isinstance(passage, dict):
        return {"text": passage, "document": document}
    column = f"{cells.column('passages') or cells.column('documents')}, item {place}"
    if isinstance(passage.get(_INNER), dict):
        passage = {**{k: v for k, v in passage.items() if k != _INNER}, **passage[_INNER]}
    written = next((name for name in _TEXT if not blank(passage.get(name))), "text")
    document_id = next((passage[name] for name in _DOCUMENT if not blank(passage.get(name))), None)
    declared = None if document_id is None else cells.key_in(column, document_id)
    if document is not None and declared not in (None, document):
        cells.fault(
            f"the passage names the document {abbreviate(declared)}, and the file's documents "
            f"{abbreviate(document)}.",
            "Keep one of the two.",
            column,
        )
    for name, cell in passage.items():
        if name not in (written, *_DOCUMENT) and not blank(cell):
            cells.left_out(f"the field {abbreviate(name)} of passages")
    return {"text": passage.get(written), "document": declared or document}


DESCRIPTION = "a query and a response in each row, usually with query_id, system and passages"

FIELDS: Fields = {
    "query_id": ("query_id", "question_id"),
    "query": (
        *("query", "question", "user_query", "user_question", "query_text", "question_text"),
        *("prompt", "input"),
    ),
    "response": (
        *("response", "answer", "response_text", "answer_text", "generated_answer"),
        *("generated_response", "actual_output", "completion", "result"),
    ),
    "response_id": ("response_id",),
    "system": ("system", "model", "system_name", "model_name"),
    "passages": (
        *("passages", "contexts", "retrieved_contexts", "retrieved_context", "context"),
        *("retrieval_context", "source_documents", "retrieved_documents", "source_nodes"),
        *("retrieved_passages", "chunks", "retrieved_chunks", "docs"),
    ),
    "documents": ("documents", "retrieved_context_ids"),
    "references": (
        *("references", "reference", "ground_truth", "gt_answer", "ground_truths"),
        *("reference_answer", "reference_answers", "expected_output", "gold_answer"),
    ),
    "attributes": ("attributes",),
}


def matches(head: Head) -> bool:
    """Whether rows are queries with responses, and neither scores nor expected values."""
    return has_responses(head) and not named_after_scorers(head.columns)


def has_responses(head: Head) -> bool:
    """Whether rows are queries with responses, be there judgments or not."""
    return has(FIELDS, head.columns, "query", "response") and not (
        {"construct", "value"} <= folded(head.columns)
        or {"expected", "ungrounded_answer"} & folded(head.columns)
    )


def named_after_scorers(columns: Iterable[str]) -> list[str]:
    """Return the columns whose names say that they have the scores of a judge or rater.

    So do a column of scorers and one of values together.
    """
    present = list(columns)
    known = {name for names in FIELDS.values() for name in names}
    found = [
        column
        for column in present
        if kind_of(column) is not None
        and names_no_score(column) is None
        and not {column.casefold(), apart(column)} & known
    ]
    scorer, value = ([c for c in present if c.casefold() in names] for names in (SCORERS, VALUES))
    return found or ([*scorer, *value] if scorer and value else [])


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of responses needs and this one lacks."""
    return [FIELDS[name] for name in ("query", "response") if not has(FIELDS, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    reader = Reader(source, FIELDS, families=True)
    reader.require("query", "response")
    yield from reader.rows(lambda cells: response_row(cells, options))


def response_row(cells: RecordCells, options: FormatOptions, **other_fields: Any) -> Rows:
    """Yield the response of a record, or its faults; `other_fields` replace those of the record."""
    fields = {
        "query_id": cells.key("query_id"),
        "query": cells.text("query"),
        "response": cells.text("response"),
        "response_id": cells.key("response_id"),
        "system": options.system_of(cells),
        "passages": passages_of(cells),
        "references": cells.listed("references"),
        "attributes": {**cells.mapping("attributes"), **cells.attributes()},
    }
    yield from cells.row(ResponseRow, **{**fields, **other_fields})
