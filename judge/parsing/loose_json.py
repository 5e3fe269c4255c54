"""Makes JSON of an object that a model wrote nearly so.

It may have single quotes, names without quotes, comments, a comma before a bracket or none
between two members, or an end that is missing. Its numbers keep the way in which they are written.
"""

import json
import re
from contextlib import suppress
from typing import Any

from judge.parsing.markup import QUOTES

_ENDS = (
    r"\s*(?:[:}\]]|\Z|(?<=\n)\s*\"[\w ]{1,40}\"\s*:|,\s*(?:[\"'{\[}\]/\#]|\Z|[\w ]{1,40}:|"
    r"(?:-?[0-9][0-9.]*|true|false|null)\s*[,}\]]))"
)
"""What follows the end of a text; a quotation mark before anything else is inside of it."""
_TOKEN = re.compile(
    r"\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/|(?P<mark>[{}\[\],:])|"
    rf"(?P<string>\"(?:[^\"\\]|\\.|\"(?!{_ENDS}))*\"?|'(?:[^'\\]|\\.|'(?!{_ENDS}))*'?)|"
    r"(?P<word>[^\s{}\[\],:\"'](?:(?!\s(?://|\#))[^{}\[\],:\"'\n])*)",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?", re.ASCII)
_DIGITS = "0123456789.-/"
_MOST_OPEN = 50
"""Objects inside of one; with more it is not an answer."""
_BARE_QUOTE = re.compile(r'(?<!\\)"')
_CONSTANTS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_CLOSES = {"{": "}", "[": "]"}


class Number(str):
    """A number of a JSON text, as it is written there."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: pairs,
    parse_int=Number,
    parse_float=Number,
    parse_constant=Number,
    strict=False,
)


def decoded(text: str) -> tuple[Any, bool] | None:
    """Return the members of an object, and whether its end is missing behind a whole value."""
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(text), False
    try:
        loose, rest, closed = as_json(text.translate(QUOTES))
        pairs = _DECODER.decode(loose)
    except (ValueError, RecursionError, IndexError):
        return None
    return None if rest.strip() else (pairs, not closed and text[-1] not in _DIGITS)


def as_json(text: str) -> tuple[str, str, bool]:
    """Return the object at the start of a text as JSON, what follows it, and whether it ends.

    Raises
    ------
    ValueError
        A bracket closes another one, or too many are open.
    """
    if text.count("{") > _MOST_OPEN:
        raise ValueError(text)
    written: list[str] = []
    open_brackets: list[str] = []
    for token in _TOKEN.finditer(text):
        mark, string, word = token.group("mark", "string", "word")
        if mark in _CLOSES:
            open_brackets.append(mark)
            written.append(mark)
        elif mark in {"}", "]"}:
            if not open_brackets or _CLOSES[open_brackets.pop()] != mark:
                raise ValueError(text)
            _without_remainder(written)
            written.append(mark)
            if not open_brackets:
                return "".join(written), text[token.end() :], True
        elif mark:
            written.append(mark)
        elif string:
            if written and written[-1] not in {"{", "[", ",", ":"}:
                written.append(",")
            written.append(_quoted(string))
        elif word:
            written.append(_plain(word.strip()))
    _without_remainder(written)
    return (
        "".join((*written, *(_CLOSES[bracket] for bracket in reversed(open_brackets)))),
        "",
        False,
    )


def _quoted(string: str) -> str:
    inner = string[1:].removesuffix(string[0]) if len(string) > 1 else ""
    return '"' + _BARE_QUOTE.sub(r'\\"', inner.replace("\\'", "'")) + '"'


def _plain(word: str) -> str:
    if _NUMBER.fullmatch(word):
        return word
    return _CONSTANTS.get(word.lower()) or json.dumps(word, ensure_ascii=False)


def _without_remainder(written: list[str]) -> None:
    """Remove a comma and a name without value at the end."""
    depth: list[str] = []
    for bracket in (word for word in written if word in {"{", "}", "[", "]"}):
        depth.append(bracket) if bracket in _CLOSES else depth.pop()
    while written:
        if written[-1] in {",", ":"}:
            if written.pop() == ":":
                written.pop()
        elif (
            depth[-1:] == ["{"]
            and len(written) > 2
            and written[-1][0] == '"'
            and written[-2] in {",", "{"}
        ):
            written.pop()
        else:
            return
