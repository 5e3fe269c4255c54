"""The passages that a response was given, as files have them."""

from typing import Any

from study.importing.readers.cells import blank
from study.importing.readers.record_cells import RecordCells
from study.text import abbreviate

_DOCUMENT = ("document", "doc_id", "id")


def passages_of(cells: RecordCells) -> list[dict[str, Any]]:
    """Return passages as rows, each with its document where that is known.

    A passage is a text, or an object with its text under text and its identifier under document,
    doc_id or id. They are in one list, with their documents in a second one, or in columns.
    """
    listed, numbered = cells.listed("passages"), cells.numbered_passages()
    documents = cells.listed("documents")
    passages = listed or numbered
    if listed and numbered:
        cells.fault(
            "has passages in a list and in passage_1, passage_2, ... as well.",
            "Keep one of the two.",
            cells.column("passages"),
        )
    elif documents and len(documents) != len(passages) and not cells.faulty:
        cells.fault(
            f"there are {len(documents)} documents, but {len(passages)} passages.",
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
    column = f"{cells.column('passages')}, item {place}"
    document_id = next((passage[name] for name in _DOCUMENT if not blank(passage.get(name))), None)
    named = None if document_id is None else cells.key_in(column, document_id)
    if document is not None and named not in (None, document):
        cells.fault(
            f"the passage names the document {abbreviate(named)}, and the file's documents "
            f"{abbreviate(document)}.",
            "Keep one of the two.",
            column,
        )
    for name, cell in passage.items():
        if name not in ("text", *_DOCUMENT) and not blank(cell):
            cells.left_out(f"what passages have under {abbreviate(name)}")
    return {"text": passage.get("text"), "document": named or document}
