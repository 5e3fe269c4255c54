"""Feedback of LangSmith: records of feedback, or runs with the statistics of their feedback.

Format: https://docs.langchain.com/langsmith/feedback-data-format and the types `Feedback` and
`FeedbackStats` of the SDK (0.14 to 0.16), as read in November 2026. Where feedback has a source,
`app` is that of people in LangSmith's pages, and `model` that of a language model. Feedback from
the interface, `api`, may be of anybody; its name tells, or --kind.
"""

import json
from collections.abc import Iterator
from typing import Any

from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows
from study.importing.score_columns.names import kind_of, without_people, words
from study.importing.tool_exports import question_text, record_names
from study.importing.tool_scores import ScoredResponse, ToolScores
from study.text import shell_word

DESCRIPTION = "feedback of LangSmith: run_id, key, score, feedback_source; or runs: feedback_stats"
FIELDS: Fields = {
    name: (name,)
    for name in ("id", "run_id", "key", "score", "value", "feedback_source", "inputs",
                 "feedback_stats")
} | {"source_type": ("feedback_source.type",), "user": ("feedback_source.user_name",
     "feedback_source.user_id")}  # fmt: skip
_KINDS = {"app": "human", "model": "judge"}
_RECORD = {"run_id", "key", "score"}


def matches(head: Head) -> bool:
    """Whether records are feedback with its source, or runs with their statistics as objects."""
    names = record_names(head)
    has_source = bool(names & {"feedback_source", "feedback_source.type"})
    return (names >= _RECORD and has_source) or (
        "feedback_stats" in names and head.form.startswith("json")
    )


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read scores; a response is named by the id of its run."""
    reader = Reader(source, FIELDS)
    scores = ToolScores(source, options, "langsmith")
    by_statistics = "feedback_stats" in record_names(source.head)

    def rows_of(cells: RecordCells) -> Rows:
        if by_statistics:
            yield from _run_scores(cells, scores)
        else:
            yield from _feedback_scores(cells, scores)

    yield from scores.read(reader, rows_of)


def _feedback_scores(cells: RecordCells, scores: ToolScores) -> Rows:
    """The score of a record of feedback."""
    run, key = cells.key("run_id"), cells.key("key")
    if run is None or key is None:
        cells.left_out("feedback on no run, or without a key")
        return
    value = cells.raw("score")
    if blank(value):
        value = cells.raw("value")
    source = cells.mapping("feedback_source")
    kind = _KINDS.get(str(source.get("type") or cells.raw("source_type")))
    user = source.get("user_name") or source.get("user_id") or cells.raw("user")
    yield from _scored(cells, scores, ScoredResponse(run), key, value, kind, user, ())


def _run_scores(cells: RecordCells, scores: ToolScores) -> Rows:
    """The mean score of each key of a run."""
    statistics, run = cells.mapping("feedback_stats"), cells.key("id")
    if not statistics:
        cells.left_out("runs without feedback")
        return
    response = ScoredResponse(run, question_text(cells.raw("inputs")))
    for key, entry in statistics.items():
        members = entry if isinstance(entry, dict) else {"avg": entry}
        kinds = {_KINDS.get(kind) for kind in _source_types(members.get("sources"))}
        kind = kinds.pop() if len(kinds) == 1 else None
        yield from _scored(
            cells, scores, response, key, members.get("avg"), kind, None, tuple(statistics)
        )


def _source_types(sources: Any) -> Iterator[str]:
    """The types of sources, which are objects or their JSON."""
    for source in sources if isinstance(sources, list) else ():
        members = source
        if isinstance(source, str):
            try:
                members = json.loads(source)
            except ValueError:
                members = {"type": source}
        if isinstance(members, dict) and "type" in members:
            yield str(members["type"])


def _scored(
    cells: RecordCells,
    scores: ToolScores,
    response: ScoredResponse,
    key: str,
    value: Any,
    kind: str | None,
    user: Any,
    beside: tuple[str, ...],
) -> Rows:
    """Yield a score; `beside` are the keys of the same run, of which one may be people's."""
    people = {without_people(name) for name in beside if (kind_of(name) or ("",))[0] == "human"}
    told = kind_of(key)
    if kind is None and told is None and "_".join(words(key)) in people:
        kind = "judge"
    kind = kind or (None if told is None else told[0])
    name = f"langsmith:{key}"
    if kind == "human" and not blank(user):
        name = str(user)
    kind = scores.options.kinds.get(name, kind)
    if kind is None:
        cells.fault_once(
            f"nothing tells whether the feedback {key!r} is that of people or of a judge.",
            f"Add --kind {shell_word(f'{name}=KIND')}, with human, judge or metric in place of "
            "KIND.",
            "key",
        )
        return
    yield from scores.rows(cells, response, key, value, kind=kind, scorer=name)
