"""Answers that are lists of sentences or labels by number; they are read whole or not at all."""

import json
import re
from collections.abc import Sequence
from typing import Any

from judge.parsing.markup import after_thinking

_FENCE = re.compile(r"\A```[A-Za-z]{0,20}\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_ITEM = re.compile(r"\A(?:[-*•]|\(?\d{1,3}[.):])\s+(\S.*)\Z")
_NUMBERED = re.compile(r"\A\(?(\d{1,3})[.):]\s*(\S.*)\Z")
_WHITE_SPACE = re.compile(r"\s+")


def read_list(text: str | None) -> list[str] | None:
    """Return the items of a list, each on one line; None where the answer is not a list.

    Parameters
    ----------
    text
        A JSON array of strings, or lines that all begin with a bullet or a number. Code fences and
        a closed think block before the list are removed; any other text around it is not accepted.
    """
    content = _content(text)
    if content is None:
        return None
    try:
        items = _json(content)
    except ValueError:
        matches = [_ITEM.match(line.strip()) for line in content.splitlines() if line.strip()]
        found = [match[1] for match in matches if match]
        items = found if found and len(found) == len(matches) else None
    if not isinstance(items, list):
        return None
    if not all(isinstance(item, str) and item.strip() for item in items):
        return None
    return [on_one_line(item) for item in items]


def read_labels(text: str | None, number: int, labels: Sequence[str]) -> list[str] | None:
    """Return the label of each of `number` items, in order; None where one can't be read.

    Parameters
    ----------
    text
        A JSON object with the keys "1" to `number`, or lines such as "1: yes". Every number has to
        be there exactly once, with one of the labels; capitals do not matter.
    """
    content = _content(text)
    if content is None:
        return None
    try:
        pairs = _json(content, object_pairs_hook=list)
    except ValueError:
        matches = [_NUMBERED.match(line.strip()) for line in content.splitlines() if line.strip()]
        pairs = [(match[1], match[2]) if match else (None, None) for match in matches]
    if not isinstance(pairs, list) or len(pairs) != number:
        return None
    found: dict[str, str] = {}
    for pair in pairs:
        if not (isinstance(pair, tuple) and all(isinstance(part, str) for part in pair)):
            return None
        key, label = pair
        found[key.strip()] = label.strip().rstrip(".").casefold()
    keys = [str(place) for place in range(1, number + 1)]
    if set(found) != set(keys) or not set(found.values()) <= set(labels):
        return None
    return [found[key] for key in keys]


def read_texts(text: str | None, number: int) -> list[str] | None:
    """Return the text for each of `number` items, in order; None where one is missing.

    Parameters
    ----------
    text
        A JSON object with the keys "1" to `number`, each exactly once, and texts as values.
    """
    try:
        pairs = _json(_content(text) or "", object_pairs_hook=list)
    except ValueError:
        return None
    keys = [str(place) for place in range(1, number + 1)]
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        return None
    if sorted(key for key, _ in pairs) != sorted(keys):
        return None
    found = dict(pairs)
    if not all(isinstance(value, str) and value.strip() for value in found.values()):
        return None
    return [on_one_line(found[key]) for key in keys]


def read_word(text: str | None, words: Sequence[str]) -> str | None:
    """Return which of `words` an answer consists of; None where it is none of them.

    Capitals, quotation marks and a full stop at the end do not matter.
    """
    word = (_content(text) or "").strip("\"'*").rstrip(".").casefold()
    return word if word in words else None


def on_one_line(text: str) -> str:
    """Return a text with each run of white space as one space."""
    return _WHITE_SPACE.sub(" ", text.strip())


def numbered(items: Sequence[str]) -> str:
    """Return items as numbered lines, as prompts show them."""
    return "\n".join(f"{place}. {item}" for place, item in enumerate(items, 1))


def _content(text: str | None) -> str | None:
    """Return an answer without its think block and its code fence; None where it is empty."""
    rest = after_thinking(text or "")
    content = (rest or "").strip()
    fenced = _FENCE.match(content)
    return (fenced[1].strip() if fenced else content) or None


def _json(content: str, **hook: Any) -> Any:
    try:
        return json.loads(content, **hook)
    except RecursionError:
        raise ValueError("nested too deeply") from None
