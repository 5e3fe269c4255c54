"""The forms of a score: a number on the construct's scale with label, unit and full stop."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from judge.parsing.markup import fenced, undecorated, unmarked
from judge.parsing.score_patterns import (
    AMBIGUOUS,
    END,
    NOUN,
    NUMBER_WORDS,
    Names,
    ScorePatterns,
    score_patterns,
)
from study.base.scales import Scale

_LONGEST_FORM = 200
"""Characters. A label with its number is shorter, so the pattern is not tried on long texts."""
_LONGEST_LINE = 600
"""Characters of a first line with a score and its explanation."""

_BROKEN_KEY = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")
_TAGGED = re.compile(rf"<({NOUN}|{AMBIGUOUS})>([^<>]*)</\1>(\.?)", re.IGNORECASE | re.ASCII)
_BLANK_LINE = re.compile(r"\n *\n")
_INTRODUCTION = re.compile(r"\A[^\n0-9{}`]{1,120}:\s*\n\s*(?=\{|```)")
"""A line such as "Here is the evaluation:" above an object or a code fence."""
_WRAPPED = re.compile(r"<([a-z_]{1,30})>\s*(<.*>)\s*</\1>", re.IGNORECASE | re.DOTALL)
"""An element around others: <evaluation><score>85</score></evaluation>."""
_BRACKETED = re.compile(r"\[\s*([A-Za-z][^\[\]]*)\]|\(\s*([A-Za-z][^()]*)\)")
"""A score with its label in brackets: [Score: 85]."""
_OUT_OF = re.compile(rf" *(?:/|out of) *{END}\b", re.IGNORECASE | re.ASCII)
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
    reason: str = ""
    """Text that only another labelled score contests: what precedes a labelled score, or is a
    separate field of its object."""
    final: bool = False
    """Whether its label says that it is the last word: "Overall: 74", "final score: 74"."""


def find_score(answer: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of an answer that is a score, or begins with a score and explains it."""
    return _find(answer, score_patterns(_ends(scale), names))


def find_on_other_scale(answer: str, names: Names) -> ScoreMatch | None:
    """Return the score of an answer where the answer names the end of any scale beside it."""
    return _find(answer, score_patterns(None, names))


def score_in_last_sentence(line: str, scale: Scale | None, names: Names) -> ScoreMatch | None:
    """Return the labelled score that a line ends with: "It is right. Final score: 90"."""
    patterns = score_patterns(scale and _ends(scale), names)
    for start in _SENTENCE.finditer(line):
        match = _score(line[start.end() :], patterns)
        if match and match.rule == "labelled":
            return replace(match, tail="", reason=line[: start.end()])
    sentence = _LAST_SENTENCE.split(unmarked(line))[-1]
    at_end = patterns.at_end.fullmatch(sentence)
    if at_end and not _signed_zero(at_end["whole"]):
        return ScoreMatch(at_end["whole"], "labelled", reason=line[: -len(sentence)])
    return None


_LAST_SENTENCE = re.compile(r"(?<=[.!?]) +(?=[^ ])")


_NAMES_SCORE = re.compile(NOUN, re.IGNORECASE)


def labelled_line(text: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of the only line that is a labelled score: "Score: 73" before a note."""
    patterns = score_patterns(_ends(scale), names)
    lines = text.split("\n")
    found = [
        (number, match)
        for number, line in enumerate(lines)
        if "".join(c for c in line if c.isdigit())
        and (match := _score(line, patterns))
        and match.rule == "labelled"
    ]
    final = [(number, match) for number, match in found if match.final] or found
    parts = [lines[number] for number, match in found if not match.final]
    if len({match.number for _, match in final}) != 1 or (
        final != found and any(map(_NAMES_SCORE.search, parts))
    ):
        return None
    number, match = final[-1]
    bare = {score_of_line(line, scale, names) for line in lines} - {None, float(match.number)}
    if bare:
        return None
    above, below = "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return replace(match, ended=bool(below), tail=below, reason=above)


def labelled_scores(
    text: str, scale: Scale, names: Names, *, final: bool = False
) -> Iterator[float]:
    """Yield the values in a text with the label of a score: "Score: 40", "a score of 40".

    With `final` only those whose label says that they are the last word.
    """
    plain = unmarked(text)
    for match in score_patterns(_ends(scale), names).anywhere.finditer(plain):
        if "\n" in match[0] and _LISTED.match(plain, match.end()):
            # A heading above a list: "Evaluation:", and "1. ..." on the next line.
            continue
        if final and not _FINAL.search(match[0]):
            continue
        yield float(match["number"] or match["of"] or match["alone"])


_LISTED = re.compile(r"[.)] ")


def score_of_line(line: str, scale: Scale, names: Names) -> float | None:
    """Return the value of a line that is a score without a label, or begins with one and a dash."""
    if len(line) > _LONGEST_FORM or not _MAY_BE_SCORE.match(line):
        return None
    dashed = _DASHED.match(line)
    if dashed:
        return float(dashed[1])
    score = _score(line, score_patterns(_ends(scale), names))
    # Those with a label are found by it, in any line; those in tags are not.
    counts = score and (score.rule == "decorated" or "<" in line)
    return float(score.number) if score and counts else None


def other_scale_of_line(line: str, scale: Scale, names: Names) -> bool:
    """Return whether a line is a score on another scale: "4/5"."""
    if len(line) > _LONGEST_FORM or not _MAY_BE_SCORE.match(line):
        return False
    if _score(line, score_patterns(_ends(scale), names)):
        return False
    return _score(line, score_patterns(None, names)) is not None


_MAY_BE_SCORE = re.compile(
    r"[^A-Za-z0-9]*(?:[A-Za-z][A-Za-z ]{0,40}[:=>][^A-Za-z0-9]*)?(?!(?:1?[0-9]|20)[.)] )[0-9]"
)
_DASHED = re.compile(
    r"[^A-Za-z0-9]*([0-9]{1,3})(?:\s+[-–—]+\s+[A-Za-z]|[.]\s+[A-Z]|,?\s+(?:because|since|as)\b)",
    re.ASCII,
)


def names_other_scale(answer: str, value: float, scale: Scale) -> bool:
    """Return whether an answer says that its value is on a scale other than the construct's.

    Only a scale that has the value counts: "on a scale of 1 to 10" next to 85 is about something
    else.
    """
    for match in _SCALE_NAMED.finditer(unmarked(answer)):
        written = match["written"]
        if written and float(written) != value:
            continue
        low = float(match["low"] or 0)
        end = next(filter(None, (match[name] for name in _ENDS))).lower()
        high = float(NUMBER_WORDS.get(end, 0) or end)
        if high != scale.max and low <= value <= high:
            return True
    return False


_SENTENCE = re.compile(
    r"[.!?][*_]{0,2} +|"
    r",? (?:which |so it )?(?:leav(?:es|ing)|giv(?:es|ing)|result(?:s|ing) in|yield(?:s|ing)|"
    r"mak(?:es|ing)|for) (?:it |us |me )?(?=an? )"
)
_ENDS = ("high", "most", "points", "anchor", "whole")
_SCALE_NAMED = re.compile(
    # A range that is called a scale; the highest value of a field; "9 out of ten", "9/10".
    r"\bscale\W{0,4}(?:(?:goes |runs |of |from |is |between )*)"
    r"(?P<low>[0-9]+) ?(?:-|–|—|to|and) ?(?P<high>[0-9]+)\b|"
    r"\b(?:max(?:imum)?|out[_ ]of)(?:[_ ](?:score|value|points))?"
    r"(?:\W{0,3}[:=]\W{0,3}|(?<=max)\.? )(?P<most>[0-9]+)\b|"
    r"\b(?P<points>[0-9]+)[- ]point scale\b|"
    r"\b[01] ?= ?[a-z][^0-9\n]{0,60}\b(?P<anchor>[0-9]+) ?= ?[a-z]|"
    r"(?:\b(?P<written>[0-9]+(?:\.[0-9]+)?)\W{0,3})?(?<![a-z] )"
    r"(?:/|\bout of|\b(?:von|sur|sobre|su)\b|\bof(?= [0-9]+ (?:points|stars)\b)) ?"
    rf"(?P<whole>{END})\b(?! ?(?!(?:points|stars)\b)[a-z])",
    re.IGNORECASE | re.ASCII,
)


def _ends(scale: Scale) -> tuple[float, float]:
    return scale.min, scale.max


def _find(answer: str, patterns: ScorePatterns) -> ScoreMatch | None:
    text = _INTRODUCTION.sub("", answer.strip())
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped:
        text = wrapped[2]
    ended = "\n" in answer[len(answer.rstrip()) :] and not _LIST_BEGINS.fullmatch(text)
    match = _score(text, patterns)
    if match:
        return replace(match, ended=ended)
    for head, rest in _heads(text):
        follows = _BLANK_LINE.match(rest) or _OUT_OF.match(rest)
        if rest and (not follows or _LIST_BEGINS.fullmatch(head.strip())):
            continue
        match = _score(head, patterns)
        if match:
            rule = "first_line" if rest else match.rule
            ended = ended or bool(rest)
            return ScoreMatch(match.number, rule, f"{match.tail}\n{rest}", ended, match.reason)
    return _explained(text, patterns)


def _explained(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Read a first line with a score, whose explanation is on the same line or the next ones."""
    line, broken, rest = text.partition("\n")
    if broken and not _LIST_BEGINS.fullmatch(line.strip()):
        # The number of a label may be on the line below it.
        second, _, more = rest.partition("\n")
        for head, after in ((line, rest), (f"{line}\n{second}", more)):
            match = _score(head, patterns)
            if match:
                return ScoreMatch(match.number, "first_line", f"{match.tail}\n{after}", True)
    plain = undecorated(line) if len(line) <= _LONGEST_LINE else None
    whole = plain and patterns.whole.fullmatch(plain)
    if whole and not _signed_zero(whole["whole"]):
        return ScoreMatch(whole["whole"], "first_line", f"{whole['why']}\n{rest}", True)
    found = plain and patterns.explained.fullmatch(plain)
    if not found or _signed_zero(found["number"]):
        return None
    if found["next"] and not found["label"]:
        numbers_a_list = float(found["number"]) <= _LIST_NUMBERS
        if numbers_a_list or not found["opening"]:
            return None
    return ScoreMatch(found["number"], "first_line", f"{found['why']}\n{rest}", True)


_LIST_NUMBERS = 20
"""A number up to this one with a full stop may number a list: "3. The year is wrong."."""


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


def _score(head: str, patterns: ScorePatterns) -> ScoreMatch | None:
    head = head.strip()
    if head.startswith("{"):
        return _object(head, patterns)
    if len(head) > _LONGEST_FORM:
        return None
    tagged = _TAGGED.fullmatch(head)
    if tagged:
        head = f"{tagged[1]}: {tagged[2]}"
    bracketed = _BRACKETED.fullmatch(head)
    if bracketed:
        head = bracketed[bracketed.lastindex or 0]
    plain = undecorated(head)
    match = plain and patterns.score.fullmatch(plain)
    if not match:
        return None
    number = match["number"] or match["fitting"] or match["framed"]
    if _signed_zero(number):
        return None
    label = "".join(match[name] or "" for name in ("label", "fit", "named"))
    final = bool(_FINAL.search(label))
    return ScoreMatch(number, "labelled" if label else "decorated", final=final)


_FINAL = re.compile(
    r"\b(?:final|overall|total|gesamt|endnote|globale?)|最终|总|最終", re.IGNORECASE
)


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


def _object(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    try:
        pairs = _DECODER.decode(text)
    except (ValueError, RecursionError):
        try:
            pairs = _DECODER.decode(_as_json(text))
        except (ValueError, RecursionError):
            return _lenient_object(text, patterns) or _begun_object(text, patterns)
    scores: list[ScoreMatch] = []
    others = 0
    prose: list[str] = []
    if len(pairs) == 1 and patterns.label.fullmatch(_BROKEN_KEY.sub(" ", pairs[0][0])):
        # An object in an object: {"question_relevance": {"score": 85}}.
        [(_, inner)] = pairs
        if isinstance(inner, list) and inner and all(isinstance(pair, tuple) for pair in inner):
            pairs = inner
    for name, value in pairs:
        score = _member(name, value, patterns)
        if score:
            scores.append(score)
        elif isinstance(value, str) and not isinstance(value, _Number):
            prose.append(value)
        elif _is_list_of_texts(value):
            prose += value
        elif isinstance(value, _Number) and not _BESIDE_SCORE.fullmatch(name):
            others += 1
        elif not (value is None or isinstance(value, bool) or _BESIDE_SCORE.fullmatch(name)):
            return None
    if others and not (len(scores) == 1 and scores[0].final):
        # Numbers beside a score are its parts only where it is called overall or final.
        return None
    # A number that is written with an escape ("\\u0038") does not count.
    if len(scores) != 1 or scores[0].number not in text:
        return None
    return replace(scores[0], reason="\n".join(prose))


def _as_json(text: str) -> str:
    """Return an object that is written as in Python, {'score': 85}, as JSON.

    Raises
    ------
    ValueError
        It is none.
    """
    if "\\" in text or _NO_NUMBER.search(text):
        raise ValueError(text)
    try:
        return json.dumps(ast.literal_eval(text))
    except (SyntaxError, TypeError, MemoryError) as error:
        raise ValueError(text) from error


def _begun_object(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Read an object that begins with its score and is cut off later."""
    begun = _BEGUN.match(text)
    if not begun or "}" in text or not patterns.label.fullmatch(_BROKEN_KEY.sub(" ", begun["key"])):
        return None
    number = begun["number"]
    if not patterns.number.fullmatch(number) or _signed_zero(number):
        return None
    return ScoreMatch(number, "json", ended=True, reason=text[begun.end() :])


_NO_NUMBER = re.compile(r":\s*(?:-?0[0-9_]|-0(?![.0-9]))")
"""What Python reads as a number and JSON does not."""
_BEGUN = re.compile(r'\{\s*"(?P<key>[^"\n]{1,60})"\s*:\s*(?P<number>-?[0-9.]{1,12})\s*,\s*"')


def _is_list_of_texts(value: Any) -> bool:
    """Return whether a value is a list such as the strengths of a response."""
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(isinstance(x, str) and not isinstance(x, _Number) for x in value)


_BESIDE_SCORE = re.compile(r"(?:max|scale|out[_ ]?of|confidence)[a-z_ ]*", re.IGNORECASE)
"""Keys of numbers that are not a second score: the end of the scale, and how sure the judge is."""


def _member(name: str, value: Any, patterns: ScorePatterns) -> ScoreMatch | None:
    if not isinstance(value, str) or not patterns.label.fullmatch(_BROKEN_KEY.sub(" ", name)):
        return None
    final = bool(_FINAL.search(name.replace("_", " ")))
    if isinstance(value, _Number):
        written = patterns.number.fullmatch(value)
        usable = written and not _signed_zero(value)
        return ScoreMatch(value[:], "json", final=final) if usable else None
    score = None if value.lstrip().startswith("{") else _score(value, patterns)
    return score and ScoreMatch(score.number, "json", final=final)


def _lenient_object(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Read {'score': 85} and {score: 85}, which are not valid JSON."""
    if not text.endswith("}") or len(text) > _LONGEST_FORM:
        return None
    score = _score(text[1:-1].rstrip().removesuffix(","), patterns)
    return ScoreMatch(score.number, "json") if score and score.rule == "labelled" else None
