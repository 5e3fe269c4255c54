"""Validated text, names and attributes. Imports no database, so it loads fast."""

import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

ScorerKind = Literal["human", "adjudicated", "judge", "metric"]
Sees = Literal["question", "response", "context", "reference"]
"""The fields that a construct may show to raters and judge."""

_CONTROL = re.compile(r"[\x00-\x1f]")


def storable(text: str) -> str:
    """Refuse text that SQLite or PostgreSQL can't store unchanged."""
    if "\x00" in text:
        raise ValueError("contains a NUL character, which databases refuse; remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"contains half of a surrogate pair at character {error.start + 1}; "
            "repair the text at its source"
        ) from None
    return text


def naming(text: str) -> str:
    """Check a name or key: storable, not blank, one line, no white space around it."""
    storable(text)
    if not text.strip():
        raise ValueError("is blank; give it a name")
    if len(text) > 500:
        raise ValueError(f"is {len(text)} characters long; at most 500 are allowed")
    if text != text.strip():
        raise ValueError(f"{text!r} has white space around it; remove it")
    if _CONTROL.search(text):
        raise ValueError(f"{text!r} contains a control character; remove it")
    return text


def storable_tree(tree: dict[str, Any]) -> dict[str, Any]:
    """Refuse an object that JSON in SQLite or PostgreSQL can't store unchanged."""
    _check_tree(tree, "", 0)
    return tree


def _check_tree(value: Any, place: str, depth: int) -> None:
    at = f"at {place[:60]!r}: " if place else ""
    if depth > _DEEPEST:
        raise ValueError(f"is nested more than {_DEEPEST} levels deep; flatten it")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_text(str(name), at)
            _check_tree(inner, f"{place}.{name}" if place else name, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_tree(inner, place, depth + 1)
    elif isinstance(value, str):
        _check_text(value, at)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{at}{value} is not a finite number; write null if it is missing")
    elif isinstance(value, int):
        if value.bit_length() > _LONGEST:
            raise ValueError(
                f"{at}contains a number of {value.bit_length()} bits; write it as text"
            )
    elif value is not None:
        kind = type(value).__name__
        raise ValueError(f"{at}contains a {kind}, which JSON does not have; write it as text")


def _check_text(text: str, at: str) -> None:
    try:
        storable(text)
    except ValueError as error:
        raise ValueError(f"{at}{error}") from None


# Attributes are labels of a query, such as its domain; deeper structures are not labels.
_DEEPEST = 20
# As long as the largest float.
_LONGEST = 1024

Text = Annotated[str, AfterValidator(storable)]
Key = Annotated[str, AfterValidator(naming)]
Attributes = Annotated[dict[str, Any], AfterValidator(storable_tree)]
