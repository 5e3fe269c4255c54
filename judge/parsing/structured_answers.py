"""Answers that are lists of sentences or labels by number; they are read whole or not at all."""

import json
import re
from collections.abc import Sequence
from typing import Any
from unicodedata import decimal

from judge.parsing.markup import after_thinking, without_turn_end

FAULTS = {
    "empty": "the answer is empty",
    "truncated": "the answer was cut off",
    "unreadable": "the answer is not in the form that the prompt asks for",
    "not_text": "the answer lists something that is not a text, or an empty one",
    "misnumbered": "the lines of the answer are not numbered 1, 2, 3 and so on",
    "too_few": "the answer has nothing for some of the items",
    "too_many": "the answer has more than one for each item: it numbers items that there are not",
    "repeated": "the answer has the number of an item twice",
    "unknown_number": "the answer has a key that is not the number of an item",
    "unknown": "the answer has a label that the prompt does not name",
}
"""What can be wrong with an answer, in a word, and its explanation."""

# Each part of the text is matched by one part of an expression: long answers take linear time.
_FENCE = re.compile(r"\A```[A-Za-z]{0,20}[^\S\n]*\n(.*)```\Z", re.DOTALL)
# Bullets, and numbers as Latin and East Asian texts have them: "1. ", "(1) ", "1、", "（1）".
_ITEM = re.compile(r"\A(?:[-*•]\s+|\(?(\d{1,3})[.):]\s+|[(（]?(\d{1,3})[、．）]\s*)(\S.*)\Z")
_NUMBERED = re.compile(r"\A[(（]?(\d{1,3})[.):、．）：]\s*(\S.*)\Z")
_COUNTING = re.compile(r"[1-9][0-9]*")
# Signs around a word, some of which may be outside of a full stop: "**Yes**."
_AROUND_WORD = "\"'*`"
_WHITE_SPACE = re.compile(r"\s+")


class UnreadableError(Exception):
    """An answer does not have the form that was asked for; `fault` is a key of `FAULTS`."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = fault


def read_list(text: str | None, what: str = "items") -> list[str]:
    """Return the items of a list, each on one line; the list may be empty.

    Parameters
    ----------
    text
        A JSON array of strings, also as the only value of an object, or lines that all begin with
        a bullet or that are numbered from 1 on (also with 1 alone, as Markdown allows). Code
        fences, a closed think block before the list and a token that ends the turn are removed;
        any other text around it is not accepted.
    what
        The key of the array in an object.

    Raises
    ------
    UnreadableError
        It is not a list, or an item is not a text.
    """
    content = _content(text)
    try:
        items = _json(content)
    except ValueError:
        items = _lines(content)
    if isinstance(items, _Object) and [name for name, _ in items] == [what]:
        [(_, items)] = items
    if isinstance(items, _Object) or not isinstance(items, list):
        raise UnreadableError("unreadable")
    if not all(map(_is_text, items)):
        raise UnreadableError("not_text")
    return [on_one_line(item) for item in items]


def read_object(text: str | None) -> list[tuple[str, Any]]:
    """Return the members of a JSON object, in order; a name may be there twice.

    Raises
    ------
    UnreadableError
        The answer is not an object, apart from a code fence, a closed think block and a token that
        ends the turn.
    """
    return _members(_content(text), lines=False)


def read_by_number(text: str | None) -> dict[str, Any]:
    """Return the members of a JSON object, or numbered lines such as "1: yes", by their numbers.

    Raises
    ------
    UnreadableError
        The answer is neither.
    """
    return {ascii_digits(name): value for name, value in _members(_content(text), lines=True)}


def read_labels(text: str | None, number: int, labels: Sequence[str]) -> list[str]:
    """Return the label of each of `number` items, in order.

    Parameters
    ----------
    text
        A JSON object with the keys "1" to `number`, or lines such as "1: yes". Every number has to
        be there exactly once, with one of the labels; capitals and the script of digits do not
        matter.

    Raises
    ------
    UnreadableError
        A label is missing, superfluous, doubled or unknown, or the answer has another form.
    """
    found = [_label(value) for value in _numbered_values(_content(text), number, lines=True)]
    if not set(found) <= set(labels):
        raise UnreadableError("unknown")
    return found


def read_texts(text: str | None, number: int) -> list[str]:
    """Return the text for each of `number` items, in order.

    Parameters
    ----------
    text
        A JSON object with the keys "1" to `number`, each exactly once, and texts as values.

    Raises
    ------
    UnreadableError
        A text is missing, superfluous, doubled or empty, or the answer has another form.
    """
    found = _numbered_values(_content(text), number, lines=False)
    if not all(map(_is_text, found)):
        raise UnreadableError("not_text")
    return [on_one_line(value) for value in found]


def read_numbers(text: str | None, number: int, most: int) -> list[list[int]]:
    """Return the numbers for each of `number` items, in order.

    Parameters
    ----------
    text
        A JSON object with the keys "1" to `number`, each exactly once, and as values lists of whole
        numbers from 1 to `most`, each at most once.

    Raises
    ------
    UnreadableError
        A list is missing, superfluous or doubled, or has anything else in it.
    """
    found = _numbered_values(_content(text), number, lines=False)
    if not all(_is_choice(value, most) for value in found):
        raise UnreadableError("unknown")
    return found


def _is_choice(value: Any, most: int) -> bool:
    if not isinstance(value, list) or isinstance(value, _Object):
        return False
    # True is a number in Python.
    whole = all(type(n) is int and 1 <= n <= most for n in value)
    return whole and len(set(value)) == len(value)


def read_word(text: str | None, words: Sequence[str], key: str = "label") -> str:
    """Return which of `words` an answer consists of.

    Capitals, quotation marks, emphasis and a full stop at the end do not matter. The word may be
    the only value of an object, under `key`.

    Raises
    ------
    UnreadableError
        It is none of them, or the answer has another form.
    """
    content = _content(text)
    if content.startswith("{"):
        try:
            pairs = _json(content)
        except ValueError:
            pairs = []
        if [name for name, _ in pairs] != [key]:
            raise UnreadableError("unreadable")
        word = _label(pairs[0][1])
    else:
        word = content.strip(_AROUND_WORD).rstrip(f"{_AROUND_WORD}.").casefold()
    if word not in words:
        raise UnreadableError("unreadable" if _WHITE_SPACE.search(word) else "unknown")
    return word


def on_one_line(text: str) -> str:
    """Return a text with each run of white space as one space."""
    return _WHITE_SPACE.sub(" ", text.strip())


def ascii_digits(text: str) -> str:
    """Return a text with the digits of any script, such as full-width ones, as 0 to 9, stripped."""
    return "".join(str(decimal(sign, sign)) for sign in text.strip())


def numbered(items: Sequence[str]) -> str:
    """Return items as numbered lines, as prompts show them."""
    return "\n".join(f"{place}. {item}" for place, item in enumerate(items, 1))


def _members(content: str, *, lines: bool) -> "_Object":
    try:
        value = _json(content)
    except ValueError:
        matches = [_NUMBERED.match(line.strip()) for line in content.splitlines() if line.strip()]
        if not lines or not all(matches):
            raise UnreadableError("unreadable") from None
        return _Object((match[1], match[2]) for match in matches if match)
    if not isinstance(value, _Object):
        raise UnreadableError("unreadable")
    return value


def _numbered_values(content: str, number: int, *, lines: bool) -> list[Any]:
    """Return the values of an object with the keys "1" to `number`, in order."""
    pairs = _members(content, lines=lines)
    found = {ascii_digits(name): value for name, value in pairs}
    wanted = [str(place) for place in range(1, number + 1)]
    unknown = set(found) - set(wanted)
    if len(found) < len(pairs):
        raise UnreadableError("repeated")
    if unknown:
        beyond = all(map(_COUNTING.fullmatch, unknown))
        has_all = len(found) - len(unknown) == number
        raise UnreadableError("too_many" if beyond and has_all else "unknown_number")
    if len(found) < number:
        raise UnreadableError("too_few")
    return [found[name] for name in wanted]


def _lines(content: str) -> list[str]:
    """Return the items of lines that all begin with a bullet, or that are numbered."""
    matches = [_ITEM.match(line.strip()) for line in content.splitlines() if line.strip()]
    found = [match for match in matches if match]
    numbers = [int(match[1] or match[2]) for match in found if match[1] or match[2]]
    if len(found) < len(matches) or len(numbers) not in {0, len(found)}:
        raise UnreadableError("unreadable")
    # A gap may be an item that is not there.
    if numbers not in ([1] * len(numbers), list(range(1, len(numbers) + 1))):
        raise UnreadableError("misnumbered")
    return [match[3] for match in found]


def _is_text(value: Any) -> bool:
    """Return whether a value of JSON is a text with words that can be written."""
    if not isinstance(value, str) or not value.strip():
        return False
    # JSON may escape half of a character, which no prompt or file can have.
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _label(value: Any) -> str:
    """Return a value as a label; a whole number may be one."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return text.strip().rstrip(".").casefold()


def _content(text: str | None) -> str:
    """Return an answer without its think block, its code fence and what ends the turn."""
    rest = after_thinking(without_turn_end(text or ""))
    content = (rest or "").strip()
    fenced = _FENCE.match(content)
    if fenced:
        content = fenced[1].strip()
    if not content:
        raise UnreadableError("empty" if rest is not None else "unreadable")
    return content


class _Object(list[tuple[str, Any]]):
    """The members of a JSON object, which may have a name twice."""


def _json(content: str) -> Any:
    try:
        return json.loads(content, object_pairs_hook=_Object)
    except RecursionError:
        raise ValueError("nested too deeply") from None
