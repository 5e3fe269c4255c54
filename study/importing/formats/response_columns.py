"""Which columns of a table have the responses, the expected answers and the passages.

Names tell it, and the first rows where a name has two meanings: an `answer` is the response alone,
and the expected answer beside a prediction.
"""

from collections.abc import Iterator
from statistics import median
from typing import Any

from study.importing.readers.cells import CellError, as_list, blank, looks_like_number
from study.importing.readers.column_layout import Fields, apart, folded, has
from study.importing.readers.source import Head, RecordSource
from study.importing.readers.value_words import best_of
from study.importing.score_columns.names import kind_of, names_no_score
from study.importing.score_columns.words import VALUES, WHOLE_NAMES
from study.text import quoted_names

SCORERS = WHOLE_NAMES["scorer"]

_EXACT = {"response", "response_text"}
_ANSWERS = {"answer", "answer_text"}
_PREDICTED = ("prediction", "predicted_answer", "generated_answer", "llm_answer")
"""Names that call the answer of a system so: a bare `answer` beside one of them was expected."""
_MAY_BE_JUDGMENTS = (
    *("prediction", "predicted_answer", "llm_answer", "llm_output", "llm_response"),
    *("model_answer", "model_output", "model_response", "student_answer", "generated_text"),
)
"""Names of responses that a column of scores may have too."""
_EXPECTED = (
    *("expected_output", "gold_answer", "gold_answers", "golden_answer", "golden_answers"),
    *("answers", "best_answer", "correct_answer", "correct_answers", "expected_answer"),
    *("ideal_answer", "expected_response", "target", "gold"),
)

FIELDS: Fields = {
    "query_id": ("query_id", "question_id"),
    "query": (
        *("query", "question", "user_query", "user_question", "query_text", "question_text"),
        *("prompt", "input"),
    ),
    "response": (
        *("response", "response_text", "answer", "answer_text", "generated_answer"),
        *("generated_response", "actual_output", "completion", "output", *_MAY_BE_JUDGMENTS),
        "result",
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
        *("reference_answer", "reference_answers", *_EXPECTED),
    ),
    "attributes": ("attributes",),
}

_WORDS_OF_A_PASSAGE = 8
"""At the median; the title of a document is shorter."""


def fields_of(head: Head) -> Fields:
    """The fields of a table, as its columns together, and its first rows, tell what some are.

    `answer` is the expected answer beside a column with what the system answered (prediction), or
    where it is a list of answers beside what a model wrote (output). Columns of numbers or verdicts
    with names such as prediction or gold are scores. `documents` has the passages where it has
    texts. Without passages a `result` is not a response, since it may be a verdict; beside others,
    `context` has no passages, since it may be what a conversation is about.
    """
    present = folded(head.columns)
    scores = set(_columns_of_scores(head))
    fields = {field: tuple(n for n in names if n not in scores) for field, names in FIELDS.items()}
    without_context = tuple(name for name in FIELDS["passages"] if name != "context")
    if present & {*without_context}:
        fields["passages"] = without_context
    elif not present & {*FIELDS["passages"]} and _has_texts(head, "documents"):
        fields |= {"passages": ("documents",), "documents": ()}
    elif not present & {*FIELDS["passages"], *FIELDS["documents"]}:
        fields["response"] = tuple(name for name in fields["response"] if name != "result")
    expected = _expected_answer(head, fields)
    if expected is not None:
        fields["response"] = tuple(n for n in fields["response"] if n not in _ANSWERS)
        fields["references"] = (expected,)
    return fields


def may_be_responses(head: Head) -> list[str]:
    """Return the columns that may each have the response; none where it is known."""
    fields = fields_of(head)
    named = {name: column for column in head.columns if (name := apart(column)) != "result"}
    found = [named[name] for name in FIELDS["response"] if name in named]
    readable = [column for column in found if apart(column) in fields["response"]]
    return readable if len(readable) > 1 and not _EXACT & named.keys() else []


def check_columns(source: RecordSource) -> None:
    """Refuse a table with several columns of responses, of which one may be an expected answer.

    Where it is known to be one, a warning of the import says so.

    Raises
    ------
    InputError
        Two columns are called as a response is, and none is called response.
    """
    head = source.head
    if columns := may_be_responses(head):
        problem = f"the columns {quoted_names(map(repr, columns))} may each have the response."
        remedy = (
            "Rename the one with the system's response to response, and one with the expected "
            "answer to reference."
        )
        raise source.refused(problem, remedy, 1)
    fields = fields_of(head)
    if fields["references"] and fields["references"][0] in _ANSWERS:
        named = {apart(column): column for column in head.columns}
        given = next(named[name] for name in fields["response"] if name in named)
        source.report.warnings.append(
            f"the column {named[fields['references'][0]]!r} has the expected answers (references), "
            f"since {given!r} has those of the system."
        )


def has_responses(head: Head) -> bool:
    """Whether rows are queries with responses, be there judgments or not."""
    return has(fields_of(head), head.columns, "query", "response") and not (
        {"construct", "value"} <= folded(head.columns)
        or {"expected", "ungrounded_answer"} & folded(head.columns)
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


def _columns_of_scores(head: Head) -> Iterator[str]:
    """Yield the names of responses and references whose columns have scores."""
    present = folded(head.columns)
    named = [name for name in FIELDS["response"] if name in present and name != "result"]
    # Answers to closed questions are as short as the expected ones.
    closed = any(name in present for name in FIELDS["references"] if name not in _GRADES)
    short = any(_is_judged(head, name) for name in _ANSWERS)
    for name in named:
        scorer = kind_of(name) is not None and not short and name not in _PREDICTED
        scored = scorer if len(named) > 1 else not closed
        if name in _MAY_BE_JUDGMENTS and scored and _is_judged(head, name):
            yield name
    for name in _GRADES:
        if _is_judged(head, name) and (kind_of(name) is not None or not named):
            yield name
    for name in _MAY_BE_VERDICTS:
        cells = _cells(head, name)
        if cells and all(str(cell).casefold() in _VERDICTS for cell in cells):
            yield name


_VERDICTS = {"0", "1", "0.0", "1.0", "true", "false"}
_GRADES = ("target", "gold")
"""Names of expected answers that a column of people's scores may have too."""
_MAY_BE_VERDICTS = ("correct_answer", "correct_answers", "best_answer", *_GRADES)
"""Names of expected answers that a column of verdicts may have too."""


def _expected_answer(head: Head, fields: Fields) -> str | None:
    """The name of the column `answer` where it has the answer that was expected."""
    present = folded(head.columns)
    named = [name for name in fields["response"] if name in present and name != "result"]
    answers = [name for name in named if name in _ANSWERS]
    given = [name for name in named if name not in _ANSWERS]
    if len(answers) != 1 or len(given) != 1 or given[0] in _EXACT:
        return None
    if present & {*fields["references"]}:
        return None
    as_short = not _is_judged(head, given[0]) or _is_judged(head, answers[0])
    if (given[0] in _PREDICTED and as_short) or _is_list(head, answers[0]):
        return answers[0]
    return None


def _cells(head: Head, name: str) -> list[Any]:
    """The cells of the first rows in a column that are not blank."""
    columns = [column for column in head.columns if name in (apart(column), column.casefold())]
    rows = head.rows or (head.first,)
    return [row[c] for c in columns[:1] for row in rows if not blank(row.get(c))]


def _is_judged(head: Head, name: str) -> bool:
    """Whether a column has numbers and words that people or judges give alone, such as correct."""
    cells = [each for cell in _cells(head, name) for each in _listed(cell)]
    return bool(cells) and all(
        looks_like_number(cell) or best_of([cell]) is not None
        if isinstance(cell, str)
        else isinstance(cell, bool | int | float)
        for cell in cells
    )


def _is_list(head: Head, name: str) -> bool:
    return any(
        isinstance(cell, list | dict) or _listed(cell) != [cell] for cell in _cells(head, name)
    )


def _listed(cell: Any) -> list[Any]:
    """The items of a cell with a list, as JSON too; else the cell alone."""
    try:
        return as_list(cell)
    except CellError:
        return [cell]


def _has_texts(head: Head, name: str) -> bool:
    """Whether a column of documents has texts, and no identifiers or titles."""
    items = [item for cell in _cells(head, name) for item in _listed(cell)]
    if not items or not all(isinstance(item, str) for item in items):
        return False
    # Some languages are written without spaces.
    lengths = [len(item.split()) if item.isascii() else len(item) / 3 for item in items]
    return median(lengths) >= _WORDS_OF_A_PASSAGE and min(lengths) > 1
