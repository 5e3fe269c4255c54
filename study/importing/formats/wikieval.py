"""WikiEval: questions with three answers and two contexts of stated quality.

Source: Es et al., "RAGAs: Automated Evaluation of Retrieval Augmented Generation", EACL 2024
(demonstrations), arXiv 2309.15217, section 4. The data set is `explodinggradients/WikiEval` on
Hugging Face; its file has no verdicts of people, but its columns imply which text is better.
"""

from hashlib import sha256

from study.importing.formats.responses import passages_of
from study.importing.importers import FormatOptions
from study.importing.readers.column_layout import Fields, folded
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import PreferenceRow, ResponseRow, Rows

DESCRIPTION = "question, answer, ungrounded_answer, poor_answer, context_v1 and context_v2"
SCORER = "expected"
"""Scorer of the preferences that the columns imply."""

_ANSWERS = ("answer", "ungrounded_answer", "poor_answer")
_CONTEXTS = ("context_v1", "context_v2")
BETTER = {
    "faithfulness": ("answer", "ungrounded_answer"),
    "answer_relevance": ("answer", "poor_answer"),
    "context_relevance": _CONTEXTS,
}
"""By construct: the column of the better text, and that of the other."""

FIELDS: Fields = {
    "query": ("question",),
    **{name: (name,) for name in _ANSWERS},
    "passages": ("context_v1",),
    "context_v2": ("context_v2",),
    "source": ("source",),
}
_NO_CONSTRUCT = "expected preferences on a construct that the study does not have"
_IMPLIED = "preferences that the columns imply (scorer expected); no person gave them"


def matches(head: Head) -> bool:
    """Whether the file has the columns of WikiEval."""
    return {*_ANSWERS, *_CONTEXTS} <= folded(head.columns)


def missing_columns(head: Head) -> list[tuple[str, ...]]:
    """Return the columns of WikiEval that the file lacks, where it has most of them."""
    names = ("question", *_ANSWERS, *_CONTEXTS)
    return [(name,) for name in names if name not in folded(head.columns)]


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read the rows: five responses to each question, one of each column, and preferences."""
    reader = Reader(source, FIELDS)
    reader.require("query", *_ANSWERS, "passages", "context_v2")

    def rows_of(cells: RecordCells) -> Rows:
        question = cells.text("query")
        key = sha256((question or "").encode("utf-8", "surrogatepass")).hexdigest()[:12]
        passages = passages_of(cells)
        title = cells.words("source")
        texts = {name: cells.text(name) for name in _ANSWERS}
        texts["context_v1"] = _joined([str(passage["text"]) for passage in passages])
        texts["context_v2"] = _joined([str(item) for item in cells.listed("context_v2")])
        for column, text in texts.items():
            yield from cells.row(
                ResponseRow,
                query_id=key,
                query=question,
                response=text,
                response_id=f"{key}/{column}",
                system=column,
                # A context is itself the text that is judged.
                passages=passages if column in _ANSWERS else [],
                attributes={"source": title} if title else {},
            )
        for construct, (better, other) in BETTER.items():
            if construct not in options.constructs:
                source.report.left_out[f"{_NO_CONSTRUCT}: {construct}"] += 1
                continue
            source.report.rules[_IMPLIED] += 1
            yield from cells.row(
                PreferenceRow,
                query_id=key,
                response_a=f"{key}/{better}",
                response_b=f"{key}/{other}",
                construct_key=construct,
                scorer=SCORER,
                scorer_kind="human",
                value=-1.0,
            )

    yield from reader.rows(rows_of)


def _joined(texts: list[str]) -> str:
    return "\n\n".join(texts)
