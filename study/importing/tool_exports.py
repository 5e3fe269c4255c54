"""Exports of other evaluation tools: which one a file is, and the records, questions, answers and
passages in it.
"""

import hashlib
import json
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from study.errors import Fault
from study.importing.readers.cells import blank
from study.importing.readers.input_file import Record
from study.importing.readers.json_text import count_other_members, objects
from study.importing.readers.source import Head, RecordSource


def record_names(head: Head) -> set[str]:
    """Return the names of a record's cells, which are the columns unless the file is a page."""
    page = head.first.get("data") if head.form == "json document" else None
    first = page[0] if isinstance(page, list) and page else None
    return set(first) if isinstance(first, dict) else set(head.columns)


def page_records(source: RecordSource) -> Iterable[Record | Fault]:
    """Return the records of a file, or of the page that it contains."""
    document = source.document
    if isinstance(document, dict) and isinstance(document.get("data"), list):
        count_other_members(source, document, "data")
        return objects(source, document["data"])
    return source.records()


class ToolExport(NamedTuple):
    """A format of another tool."""

    name: str
    module: ModuleType
    has_ratings: bool
    """Whether the file has people's scores and automatic ones under one name.

    Other files need a study, which knows what a metric measures and has people's ratings.
    """


_FORMATS: tuple[tuple[str, frozenset[str], str | bool | None], ...] = (
    ("promptfoo", frozenset({"results", "promptIdx"}), None),
    ("deepeval", frozenset({"testCases", "test_results", "testRunData"}), False),
    ("inspect-log", frozenset({"eval"}), None),
    ("langfuse-traces", frozenset({"sessionId", "userId", "htmlPath", "bookmarked", "release",
     "observations"}), "scores"),
    ("langfuse-scores", frozenset({"traceId", "trace_id"}), "source"),
    ("langsmith", frozenset({"feedback_source", "feedback_source.type",
     "feedback_stats"}), True),
    ("phoenix-spans", frozenset({"context.span_id"}), False),
    ("phoenix-annotations", frozenset({"annotator_kind"}), "annotator_kind"),
)  # fmt: skip
"""Name, columns of which such a file has one; and whether it has people's scores: always,
never, where its records have a cell, or (None) where the module finds some."""


def tool_export(source: RecordSource) -> ToolExport | None:
    """Return the format of an export of another tool; None for other files."""
    head = source.head
    names = record_names(head)
    for name, signs, has_ratings in _FORMATS:
        # The formats are loaded where a file may be one of theirs: they take a quarter of a second.
        if names & signs:
            home = name.replace("-", "_")
            module = import_module(f"study.importing.formats.{home}")
            if module.matches(head):
                rated = module.has_ratings(source) if has_ratings is None else has_ratings
                return ToolExport(name, module, rated in names if isinstance(rated, str) else rated)
    return None


QUESTION_NAMES = ("question", "query", "user_input", "input", "prompt", "topic")
ANSWER_NAMES = ("answer", "response", "output", "completion", "result")
CONTEXT_NAMES = (
    *("context", "contexts", "retrieved_contexts", "retrieval_context", "passages", "documents"),
)
REFERENCE_NAMES = (
    *("reference", "references", "ground_truth", "expected", "expected_output"),
    *("expected_answer", "reference_answer", "target"),
)


def question_text(value: Any) -> str | None:
    """Return the question in an input: a text, messages of a chat, or an object with a question."""
    return _text(value, QUESTION_NAMES, "user")


def answer_text(value: Any) -> str | None:
    """Return the answer in an output: a text, messages of a chat, or an object with an answer."""
    return _text(value, ANSWER_NAMES, "assistant")


def named_member(value: Any, names: tuple[str, ...]) -> Any:
    """Return the first member of an object, or of a text with a JSON object, that has a name."""
    members = _parsed(value)
    if not isinstance(members, dict):
        return None
    return next((members[name] for name in names if not blank(members.get(name))), None)


def passages(value: Any) -> list[dict[str, Any]]:
    """Return retrieved passages as rows: texts, or objects with a text and perhaps an id."""
    items = _parsed(value)
    items = items if isinstance(items, list) else [] if blank(items) else [items]
    return [_passage(item) for item in items]


def made_id(prefix: str, *content: Any) -> str:
    """Return an id for what has none, made of its content."""
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, default=str)
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _text(value: Any, names: tuple[str, ...], role: str) -> str | None:
    parsed = _parsed(value)
    if isinstance(parsed, dict):
        inner = named_member(parsed, names)
        if inner is None:
            inner = parsed.get("messages", parsed.get("content", parsed.get("text")))
        return (
            json.dumps(parsed, ensure_ascii=False) if inner is None else _text(inner, names, role)
        )
    if isinstance(parsed, list):
        messages = [m for m in parsed if isinstance(m, dict) and m.get("role") == role]
        if messages:
            return _text(messages[-1].get("content"), names, role)
        parts = [part.get("text") if isinstance(part, dict) else part for part in parsed]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts else json.dumps(parsed, ensure_ascii=False)
    if isinstance(value, str):
        return value
    return None if blank(value) else json.dumps(value)


def _passage(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"text": item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}
    nested = item.get("document")
    members = nested if isinstance(nested, dict) else item
    members = {name.removeprefix("document."): cell for name, cell in members.items()}
    text = next(
        (members[name] for name in ("content", "text", "page_content") if name in members), None
    )
    names = ("id", "doc_id", "document")
    identifier = next((members[name] for name in names if not blank(members.get(name))), None)
    if not isinstance(text, str):
        text = json.dumps(item, ensure_ascii=False)
    return {"text": text, "document": None if identifier is None else str(identifier)}


def _parsed(value: Any) -> Any:
    """Return what a text with a JSON object or array contains, and anything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
