"""Responses, one a row: query, response, system, passages, references."""

from contextlib import suppress
from typing import Any

from study.importing.formats.response_columns import (
    FIELDS,
    check_columns,
    fields_of,
    has_responses,
    named_after_scorers,
)
from study.importing.importers import FormatOptions
from study.importing.readers.cells import CellError, blank, looks_like_number, mapping
from study.importing.readers.column_layout import apart, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import LocatedRow, ResponseRow, Rows
from study.text import abbreviate, counted

_DOCUMENT = ("document", "doc_id", "id", "id_")
_TEXT = ("text", "page_content", "content", "passage", "chunk")
# LlamaIndex has the text of a passage in an object beside its score.
_INNER = "node"
# Where SQuAD and TriviaQA have the texts of their answers.
_OF_ANSWERS = ("text", "value")
_CONTEXT_BESIDE = "cells of the column 'context' beside documents"


def passages_of(cells: RecordCells) -> list[dict[str, Any]]:
    """Return the passages of a record as rows, each with its document where that is known.

    A passage is a text, or an object with the text under `text` (or `page_content`, `content`,
    `passage`, `chunk`) and the identifier under `document`, `doc_id` or `id`. Passages are in one
    list, with their documents in a second one, or in numbered columns.
    """
    listed, numbered = _listed(cells), cells.numbered_passages()
    documents = cells.listed("documents")
    if any(isinstance(document, dict) for document in documents):
        if listed and _is_context(cells):
            # What a conversation is about, beside the documents that were found.
            cells.left_out(_CONTEXT_BESIDE)
            listed = []
        if not (listed or numbered):
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


def _listed(cells: RecordCells) -> list[Any]:
    """The list of passages; a number in the place of it, such as a length, is left out."""
    raw, column = cells.raw("passages"), cells.column("passages")
    in_number = isinstance(raw, int | float) and not blank(raw)
    listed = [raw] if in_number else cells.listed("passages")
    if listed and all(
        isinstance(p, str | int | float) and looks_like_number(str(p)) for p in listed
    ):
        if column == "passages" and not in_number:
            return listed
        cells.left_out(f"numbers in the column {column!r}, which are no passages")
        return []
    return listed


def _is_context(cells: RecordCells) -> bool:
    return apart(cells.column("passages") or "") == "context"


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


def matches(head: Head) -> bool:
    """Whether rows are queries with responses, and neither scores nor expected values."""
    return has_responses(head) and not named_after_scorers(head)


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns that a file of responses needs and this one lacks."""
    fields = fields_of(head)
    return [FIELDS[name] for name in ("query", "response") if not has(fields, head.columns, name)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows."""
    check_columns(source)
    reader = Reader(source, fields_of(source.head), families=True)
    reader.require("query", "response")
    examples: dict[str, set[str]] = {}
    texts: set[str] = set()

    def rows_of(cells: RecordCells) -> Rows:
        column = cells.column("passages")
        for located in response_row(cells, options):
            if isinstance(located, LocatedRow) and isinstance(located.row, ResponseRow) and column:
                for passage in located.row.passages:
                    if _may_be_id(passage.text):
                        examples.setdefault(column, {passage.text})
                    else:
                        texts.add(column)
            yield located

    yield from reader.rows(rows_of)
    source.report.warnings += [
        f"no passage in the column {column!r} has a space, such as {abbreviate(example.pop())}: "
        "these may be the ids of passages. Write their texts in place of them."
        for column, example in examples.items()
        if column not in texts
    ]


def _may_be_id(passage: str) -> bool:
    # Some languages are written without spaces.
    return passage.isascii() and len(passage.split()) == 1


def _references(cells: RecordCells) -> list[Any]:
    """The expected answers: a text, a list, or an object with them as SQuAD or TriviaQA has it."""
    raw, texts = cells.raw("references"), []
    with suppress(CellError):
        found = mapping(raw) if isinstance(raw, dict) or str(raw).startswith("{") else {}
        texts = [found[name] for name in _OF_ANSWERS if name in found]
    if not texts:
        return cells.listed("references")
    return texts[0] if isinstance(texts[0], list) else texts[:1]


def response_row(cells: RecordCells, options: FormatOptions, **other_fields: Any) -> Rows:
    """Yield the response of a record, or its faults; `other_fields` replace those of the record."""
    fields = {
        "query_id": cells.key("query_id"),
        "query": cells.text("query"),
        "response": cells.text("response"),
        "response_id": cells.key("response_id"),
        "system": options.system_of(cells),
        "passages": passages_of(cells),
        "references": _references(cells),
        "attributes": {**cells.mapping("attributes"), **cells.attributes()},
    }
    yield from cells.row(ResponseRow, **{**fields, **other_fields})
