"""Responses, one a row: query, response, system, passages, references."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import CellError, as_list, blank, looks_like_number
from study.importing.readers.column_layout import Fields, apart, folded, has
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.value_words import best_of
from study.importing.rows import LocatedRow, ResponseRow, Rows
from study.importing.score_columns.names import kind_of, names_no_score
from study.importing.score_columns.words import VALUES, WHOLE_NAMES
from study.text import abbreviate, counted, quoted_names

_DOCUMENT = ("document", "doc_id", "id", "id_")
_TEXT = ("text", "page_content", "content", "passage", "chunk")
# LlamaIndex has the text of a passage in an object beside its score.
_INNER = "node"
# Names that call the answer of a system so: a bare `answer` beside one of them was expected.
_PREDICTED = ("prediction", "predicted_answer", "generated_answer", "model_answer", "llm_answer")
# Names of all that a model wrote, of which a bare `answer` may be a part.
_WRITTEN = (
    *("generated_text", "generated_response", "model_output", "model_response", "llm_output"),
    *("llm_response", "actual_output", "completion", "output"),
)
# Where SQuAD and TriviaQA have the texts of their answers.
_OF_ANSWERS = ("text", "value")
# Of these names, columns of numbers or verdicts have neither responses nor expected answers.
_TEXTS = (
    *(*_PREDICTED, *_WRITTEN, "gold_answers", "golden_answer", "golden_answers", "answers"),
    *("best_answer", "correct_answer", "correct_answers", "expected_answer"),
    *("expected_response", "ideal_answer", "target"),
)
_ANSWERS = ("answer", "answer_text")
_CONTEXT_BESIDE = "cells of the column 'context' beside documents"
# A text that is shorter, and no sentence, may be the title of a document.
_PASSAGE = re.compile(r".{100}|.*[.!?。！？][\"'”»)]?\s*$", re.DOTALL)
_EXACT = {"response", "response_text"}
SCORERS = WHOLE_NAMES["scorer"]


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

FIELDS: Fields = {
    "query_id": ("query_id", "question_id"),
    "query": (
        *("query", "question", "user_query", "user_question", "query_text", "question_text"),
        *("prompt", "input"),
    ),
    "response": (
        *("response", "answer", "response_text", "answer_text", *_PREDICTED, *_WRITTEN, "result"),
    ),
    "response_id": ("response_id",),
    "system": ("system", "model", "system_name", "model_name"),
    "passages": (
        *("passages", "contexts", "retrieved_contexts", "retrieved_context"),
        *("retrieval_context", "source_documents", "retrieved_documents", "source_nodes"),
        *("retrieved_passages", "chunks", "retrieved_chunks", "docs", "context"),
    ),
    "documents": ("documents", "retrieved_context_ids"),
    "references": (
        *("references", "reference", "ground_truth", "gt_answer", "ground_truths"),
        *("reference_answer", "reference_answers", "expected_output", "gold_answer"),
        *("gold_answers", "golden_answer", "golden_answers", "answers", "best_answer"),
        *("correct_answer", "correct_answers", "expected_answer", "expected_response"),
        *("ideal_answer", "target"),
    ),
    "attributes": ("attributes",),
}


def matches(head: Head) -> bool:
    """Whether rows are queries with responses, and neither scores nor expected values."""
    return has_responses(head) and not named_after_scorers(head)


def has_responses(head: Head) -> bool:
    """Whether rows are queries with responses, be there judgments or not."""
    return has(fields_of(head), head.columns, "query", "response") and not (
        {"construct", "value"} <= folded(head.columns)
        or {"expected", "ungrounded_answer"} & folded(head.columns)
    )


def fields_of(head: Head) -> Fields:
    """The fields of a table, as its columns together, and its first row, tell what some are.

    `answer` is the expected answer beside a column with what the system answered (prediction), or
    where it is a list of answers beside what a model wrote (output). A column that begins with a
    number or a verdict has no texts. `documents` has the passages where it has sentences. Without
    passages a `result` is no response, since it may be a verdict; beside others, `context` has no
    passages, since it may be what a conversation is about.
    """
    present = folded(head.columns)
    cells = {apart(column): cell for column, cell in head.first.items()}
    judged = _judged(cells)
    fields = {field: tuple(n for n in names if n not in judged) for field, names in FIELDS.items()}
    without_context = tuple(name for name in FIELDS["passages"] if name != "context")
    if present & {*without_context}:
        fields["passages"] = without_context
    elif not present & {*FIELDS["passages"]} and _are_passages(cells.get("documents")):
        fields |= {"passages": ("documents",), "documents": ()}
    elif not present & {*FIELDS["passages"], *FIELDS["documents"]}:
        fields["response"] = tuple(name for name in fields["response"] if name != "result")
    return {**fields, **_beside_an_answer(fields, cells, present)}


def _judged(cells: Mapping[str, Any]) -> set[str]:
    """The columns of texts that have a judgment, unless the answer is as short."""
    if any(_is_judgment(cells.get(name)) for name in _ANSWERS):
        return set()
    return {name for name in _TEXTS if _is_judgment(cells.get(name))}


def _is_judgment(cell: Any) -> bool:
    """Whether a cell is a number or a word that people or judges give, such as correct."""
    if isinstance(cell, str):
        return looks_like_number(cell) or best_of([cell]) is not None
    return isinstance(cell, bool | int | float) and not blank(cell)


def _are_passages(cell: Any) -> bool:
    """Whether a cell of documents has texts, and no identifiers or titles."""
    try:
        listed = as_list(cell)
    except CellError:
        return False
    return any(isinstance(text, str) and _PASSAGE.match(text) for text in listed)


def _beside_an_answer(fields: Fields, cells: Mapping[str, Any], present: set[str]) -> Fields:
    """The fields response and references where an `answer` is the one that was expected."""
    named = [name for name in fields["response"] if name in present and name != "result"]
    answers = [name for name in named if name in _ANSWERS]
    given = [name for name in named if name not in answers]
    if len(answers) != 1 or len(given) != 1 or given[0] in _EXACT:
        return {}
    listed = isinstance(cells.get(answers[0]), list | dict)
    if (given[0] not in _PREDICTED and not listed) or present & {*fields["references"]}:
        return {}
    return {"response": (given[0],), "references": (*fields["references"], answers[0])}


def check_columns(source: RecordSource) -> None:
    """Refuse a table with an answer and an output, of which one may be the expected answer.

    Where it is known to be, a line says so. Refused is also a column that begins with a verdict or
    a number and goes on with texts.

    Raises
    ------
    InputError
        Two columns are called as a response is, and none is called response.
    """
    fields = fields_of(source.head)
    names = {*fields["response"]} - {"result"}
    found = {apart(column): column for column in source.head.columns}
    if found.keys() & {*_ANSWERS} & names:
        unread = [column for name, column in found.items() if name in _TEXTS and name not in names]
        rows = [row.cells for row in islice(source.peeked(), 100)]
        texts = {c for c in unread for row in rows if not _is_judgment(row.get(c) or 0)}
        names |= {apart(column) for column in texts}
    if not found.keys() & _EXACT and len(found.keys() & names) > 1:
        columns = [found[name] for name in FIELDS["response"] if name in found.keys() & names]
        problem = f"the columns {quoted_names(map(repr, columns))} may each have the response."
        remedy = (
            "Rename the one with the system's response to response, and one with the expected "
            "answer to reference."
        )
        raise source.refused(problem, remedy, 1)
    if expected := [
        column for name, column in found.items() if name in _ANSWERS and name not in names
    ]:
        source.report.warnings.append(
            f"the column {expected[0]!r} has the expected answers (references), since "
            f"{found[fields['response'][0]]!r} has those of the system."
        )


def named_after_scorers(head: Head) -> list[str]:
    """Return the columns whose names say that they have the scores of a judge or rater.

    So do a column of scorers and one of values together.
    """
    present = list(head.columns)
    known = {name for names in fields_of(head).values() for name in names}
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
    raw = cells.raw("references")
    texts = [raw[name] for name in _OF_ANSWERS if name in raw] if isinstance(raw, dict) else []
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
