"""Questions and answers in the inputs and outputs that other tools record."""

import hashlib
import json
from typing import Any

from study.importing.readers.cells import blank

QUESTION_NAMES = ("question", "query", "user_input", "input", "prompt", "topic")
ANSWER_NAMES = ("answer", "response", "output", "completion", "result")
CONTEXT_NAMES = (
    "context",
    "contexts",
    "retrieved_contexts",
    "retrieval_context",
    "passages",
    "documents",
)
REFERENCE_NAMES = (
    "reference",
    "references",
    "ground_truth",
    "expected",
    "expected_output",
    "expected_answer",
    "reference_answer",
    "target",
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
