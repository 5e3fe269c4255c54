"""The forms of a score: a number on the construct's scale with label, unit and full stop."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from judge.parsing.markup import fenced, undecorated
from study.scales import RatingScale

_LONGEST_FORM = 200
"""Characters. A label with its number is shorter, so the pattern is not tried on long texts."""

_CONSTRUCTS = (
    r"(?:contextual\s+coherence|question\s+relevance|information\s+density|"
    r"answer\s+correctness|information\s+recall)"
)
_NOUN = r"(?:score|scoring|rating|grade|mark|evaluation|assessment|judge?ment)"
# "The answer is 85" may answer the judged query: these words need a colon, or "final".
_AMBIGUOUS = r"(?:answer|output|result)"
_BROKEN_KEY = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")
_TAGGED = re.compile(rf"<({_NOUN}|{_AMBIGUOUS})>([^<>]*)</\1>(\.?)", re.IGNORECASE | re.ASCII)
_BLANK_LINE = re.compile(r"\n *\n")
_LIST_BEGINS = re.compile(r"[^0-9]*\b1\W*\.\W*|#+ +1\W*")
"""The number of a first list item, or of a first heading, if more text follows."""


@dataclass(frozen=True, slots=True)
class ScoreMatch:
    """The score of an answer that is understood as a whole."""

    number: str
    rule: str
    tail: str = ""
    """Text next to the score, which must contain no other."""
    ended: bool = False
    """Whether a line break follows the score."""


@dataclass(frozen=True, slots=True)
class _Patterns:
    score: re.Pattern[str]
    label: re.Pattern[str]
    number: re.Pattern[str]


def find_score(answer: str, scale: RatingScale) -> ScoreMatch | None:
    """Return the score of an answer that is a score, or begins with a score and a blank line."""
    patterns = _patterns(scale.min, scale.max)
    text = answer.strip()
    ended = "\n" in answer[len(answer.rstrip()) :] and not _LIST_BEGINS.fullmatch(text)
    match = _score(text, patterns)
    if match:
        return replace(match, ended=ended)
    for head, rest in _heads(text):
        if rest and (not _BLANK_LINE.match(rest) or _LIST_BEGINS.fullmatch(head.strip())):
            continue
        match = _score(head, patterns)
        if match:
            rule = "first_line" if rest else match.rule
            return ScoreMatch(match.number, rule, f"{match.tail}\n{rest}", ended or bool(rest))
    return None


def _heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield possible scores at the start, each with the text from the end of its line on."""
    block = fenced(text)
    if block:
        yield block[0], block[1].lstrip(" ")
    if text.startswith("{"):
        try:
            _, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            end = 0
        yield text[:end], text[end:].lstrip(" ")
    blank = _BLANK_LINE.search(text)
    if blank:
        yield text[: blank.start()], text[blank.start() :]


def _score(head: str, patterns: _Patterns) -> ScoreMatch | None:
    head = head.strip()
    if head.startswith("{"):
        return _object(head, patterns)
    if len(head) > _LONGEST_FORM:
        return None
    tagged = _TAGGED.fullmatch(head)
    if tagged:
        head = f"{tagged[1]}: {tagged[2]}"
    plain = undecorated(head)
    match = plain and patterns.score.fullmatch(plain)
    if not match or _signed_zero(match["number"]):
        return None
    return ScoreMatch(match["number"], "labelled" if match["label"] else "decorated")


def _signed_zero(number: str) -> bool:
    # "-0" is not a way to write the score 0.
    return number[0] in "+-" and float(number) == 0


class _Number(str):
    """A number of a JSON text, as it is written there."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: pairs,
    parse_int=_Number,
    parse_float=_Number,
    parse_constant=_Number,
    strict=False,
)


def _object(text: str, patterns: _Patterns) -> ScoreMatch | None:
    try:
        pairs = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _lenient_object(text, patterns)
    scores: list[ScoreMatch] = []
    prose: list[str] = []
    for name, value in pairs:
        score = _member(name, value, patterns)
        if score:
            scores.append(score)
        elif isinstance(value, str) and not isinstance(value, _Number):
            prose.append(value)
        elif not (value is None or isinstance(value, bool)):
            return None
    # A number that is written with an escape ("\\u0038") does not count.
    if len(scores) != 1 or scores[0].number not in text:
        return None
    return replace(scores[0], tail="\n".join(prose))


def _member(name: str, value: Any, patterns: _Patterns) -> ScoreMatch | None:
    if not isinstance(value, str) or not patterns.label.fullmatch(_BROKEN_KEY.sub(" ", name)):
        return None
    if isinstance(value, _Number):
        written = patterns.number.fullmatch(value)
        return ScoreMatch(value[:], "json") if written and not _signed_zero(value) else None
    score = None if value.lstrip().startswith("{") else _score(value, patterns)
    return score and ScoreMatch(score.number, "json")


def _lenient_object(text: str, patterns: _Patterns) -> ScoreMatch | None:
    """Read {'score': 85} and {score: 85}, which are not valid JSON."""
    if not text.endswith("}") or len(text) > _LONGEST_FORM:
        return None
    score = _score(text[1:-1], patterns)
    return ScoreMatch(score.number, "json") if score and score.rule == "labelled" else None


@lru_cache(maxsize=64)
def _patterns(low: float, high: float) -> _Patterns:
    """Compile the forms of a score. They may mention the ends of this scale only."""
    least, most = (re.escape(f"{end:g}") + r"(?:\.0+)?" for end in (low, high))
    span = rf"(?:from\s+|between\s+)?{least}\s*(?:-|–|—|to|and)\s*{most}"
    over = rf"(?:/\ *{most}|(?:out\ +)?of\ +(?:a\ +)?(?:possible\ +|maximum\ +)?{most})"
    on_scale = rf"on\ +a\ +scale\ +(?:of\ +)?{span}"
    bounds = rf"(?:{span}|(?:/\ *|out\ +of\ +){most}|{on_scale})"
    percent = r"(?:\\?%|per\ ?cent)" if (low, high) == (0, 100) else r"(?!)"
    points = r"(?:points?|pts?)"
    sign = "[-+]?" if low < 0 else "-?"
    number = rf"{sign}(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"

    kind = r"(?:(?:final|overall|total|assigned|numerical|numeric)\s+){0,2}"
    named = (
        rf"(?:{_CONSTRUCTS}(?:\s+{_NOUN})?|(?:(?:cc|qr|id|ac|ir)\s+)?{_NOUN}|"
        rf"{_NOUN}\s+(?:for|of)\s+{_CONSTRUCTS}|final\s+{_AMBIGUOUS})"
    )
    about = r"(?:\s+(?:for|of)\s+(?:the|this)\s+(?:generated\s+)?(?:response|answer))?"
    in_brackets = rf"(?:\s*[(\[]\s*(?:{bounds}|{percent}|{_CONSTRUCTS})\s*[)\]]|\s+{bounds})?"
    article = r"(?:(?:the|my)\s+)?"
    clear = rf"{article}{kind}{named}{about}{in_brackets}"
    ambiguous = rf"{_AMBIGUOUS}{in_brackets}"
    colon = r"(?:\s*(?:[:=→]|->)|\ *\n)\s*"
    label = rf"(?:{clear}(?:{colon}|\s+is\b\s*:?\s*)|{ambiguous}{colon})"

    unit = rf"{points}(?:\ *(?:{over}|\(\ *{over}\ *\)))?"
    suffix = (
        rf"(?:\ *(?:{percent}|{unit}|(?:{over}|\(\ *{over}\ *\))(?:\ *{points})?|"
        rf"{on_scale}|\(\ *{on_scale}\ *\)))?"
    )
    flags = re.ASCII | re.IGNORECASE
    return _Patterns(
        score=re.compile(
            rf"\s*(?P<label>{label}(?:{label})?)?(?:[:=]\s*)?(?P<number>{number}){suffix}"
            r"\ *\.?\s*",
            flags,
        ),
        label=re.compile(rf"\s*(?:{clear}|{ambiguous})\s*", flags),
        number=re.compile(number, flags),
    )
