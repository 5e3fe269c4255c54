"""The forms of a score: a number on the construct's scale with label, unit and full stop."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from judge.parsing.label_words import any_of, kind_of_label, kind_of_sentence
from judge.parsing.loose_json import Number, as_json, decoded
from judge.parsing.markup import fenced, undecorated
from judge.parsing.score_patterns import (
    CONDITION,
    NOUN,
    REASON,
    Names,
    ScorePatterns,
    score_patterns,
)
from study.base.scales import Scale

LONGEST_FORM = 200
"""Characters. A label with its number is shorter, so the pattern is not tried on long texts."""
_LONGEST_LINE = 600
"""Characters of a first line with a score and its explanation."""

_BROKEN_KEY = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")
_INTRODUCTION = re.compile(r"\A[^\n0-9{}`]{1,120}:\s*\n\s*(?=\{|```)")
"""A line such as "Here is the evaluation:" above an object or a code fence."""
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
    named: bool = False
    """Whether its label has a word for a score, beside which other labels name parts and counts."""


def find_score(answer: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of an answer that is a score, or begins with a score and explains it."""
    return _find(answer, score_patterns(ends(scale), names))


def find_on_other_scale(answer: str, names: Names) -> ScoreMatch | None:
    """Return the score of an answer where the answer names the end of any scale beside it."""
    return _find(answer, score_patterns(None, names))


NAMES_SCORE = re.compile(NOUN, re.IGNORECASE)


def ends(scale: Scale) -> tuple[float, float]:
    return scale.min, scale.max


def _find(answer: str, patterns: ScorePatterns) -> ScoreMatch | None:
    text = _INTRODUCTION.sub("", answer.strip())
    ended = "\n" in answer[len(answer.rstrip()) :] and not _LIST_BEGINS.fullmatch(text)
    match = score_of(text, patterns)
    if match:
        return replace(match, ended=ended or match.ended)
    for head, rest in _heads(text):
        if rest and (not rest.startswith("\n") or _LIST_BEGINS.fullmatch(head.strip())):
            continue
        match = score_of(head, patterns)
        if match:
            rule = "first_line" if rest else match.rule
            ended = ended or bool(rest)
            return replace(match, rule=rule, tail=f"{match.tail}\n{rest}", ended=ended)
    return _explained(text, patterns)


def _explained(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Read a first line with a score and its explanation."""
    line, _, rest = text.partition("\n")
    readable = len(line) <= _LONGEST_LINE and not line.startswith("{")
    # A mark without its partner may be in the explanation: "$49.99".
    plain = (undecorated(line) or line) if readable else ""
    for why in islice(REASON.finditer(plain), _MOST_REASONS):
        match = score_of(plain[: why.start()], patterns)
        if _OF_OTHER.match(plain, why.start()):
            return None
        if match and match.rule == "labelled" and not match.named and CONDITION.search(plain):
            return None
        # A number and a full stop may number a list, or begin a date: "28. Juni 1919".
        counts = match and why["stop"] and 0 < float(match.number) <= _DAYS
        if match and not (match.rule == "decorated" and counts):
            tail = f"{plain[why.start() :]}\n{rest}"
            return replace(match, rule="first_line", tail=tail, ended=True)
    return None


_OF_OTHER = re.compile(
    r"\W*(?:says?\b|said\b|according to|w[ro][io]tes?\b|states?\b|reads?\b|(?:which|that|this|"
    r"it) is (?:the|an?) (?!score|rating|my|grade)|"
    # "85 - The reference says so." begins a sentence.
    r"(?:(?:of|for) )?(?:(?-i:the)|(?<=[.!] )the) (?:number|age|max\w*|limit|pass mark|"
    r"correct answer|other|reference|first|second|previous|last|word|year)|"
    r"(?:previous|pass mark|reference answer|max(?:imum)?)\W*\Z)",
    re.IGNORECASE,
)
"""What follows a number that is not the judge's score of the response: "85, said the teacher."."""
_MOST_REASONS = 4
_DAYS = 31


def _heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield possible scores at the start, each with the text from the end of its line on."""
    block = fenced(text)
    if block:
        yield block[0], block[1].lstrip(" ")
    if text.startswith("{"):
        try:
            rest = as_json(text)[1]
        except (ValueError, IndexError):
            rest = text
        yield text.removesuffix(rest), rest.lstrip(" )];")
    line, broken, rest = text.partition("\n")
    yield line, broken + rest


def score_of(head: str, patterns: ScorePatterns) -> ScoreMatch | None:
    head = head.strip()
    if head.startswith("{"):
        return _object(head, patterns)
    if len(head) > LONGEST_FORM or not _DIGIT.search(head):
        return None
    plain = undecorated(head)
    match = plain and patterns.score.fullmatch(plain)
    if not match:
        return _known_by_words(plain, patterns) if plain else None
    number = match["number"] or match["framed"]
    if signed_zero(number):
        return None
    label = match["label"] or match["named"] or ""
    final = bool(FINAL.search(label))
    named = final or bool(NAMES_SCORE.search(label))
    return ScoreMatch(number, "labelled" if label else "decorated", final=final, named=named)


def _known_by_words(line: str, patterns: ScorePatterns) -> ScoreMatch | None:
    """Read a sentence with one number whose words are all known: "A fair score would be 85."."""
    if any(sign in line for sign in "?{}"):
        return None
    sentence = patterns.scale_named.sub(" ", line)
    numbers = list(islice(patterns.written.finditer(sentence), 2))
    if len(numbers) != 1 or signed_zero(numbers[0]["number"]):
        return None
    before, after = sentence[: numbers[0].start()], sentence[numbers[0].end() :]
    numbered = before.rstrip().endswith(tuple("#<>≥≤±€£¥")) or bool(_GOES_ON.match(after))
    unit = bool(re.search(r"[^\W\d]|[点分점/]", numbers[0][0]))
    kind = None
    if not numbered and not _DIGIT.search(before + after):
        kind = kind_of_sentence(before, after, unit=unit)
    small = patterns.percent and 0 < float(numbers[0]["number"]) <= _GRADES and "100" not in line
    if not kind or small:
        return None
    return ScoreMatch(
        numbers[0]["number"], "labelled", final=kind == "final", named=kind != "given"
    )


_GOES_ON = re.compile(r"\s*(?::|\+ |[.!;]\s*\w)")
_DIGIT = re.compile("[0-9]")
_GRADES = 10
FINAL = re.compile(any_of("labels", "final"), re.IGNORECASE)


def signed_zero(number: str) -> bool:
    # "-0" is not a way to write the score 0.
    return number[0] in "+-" and float(number) == 0


def _object(text: str, patterns: ScorePatterns) -> ScoreMatch | None:
    found = decoded(text)
    if found is None:
        return None
    pairs, ended = found
    pairs = _innermost(pairs, patterns)
    scores: list[ScoreMatch] = []
    others: list[tuple[str, Any]] = []
    prose: list[str] = []
    limits: list[float] = []
    names = {name for name, _ in pairs if NAMES_SCORE.search(name)}
    has_final = sum(bool(_FINAL_KEY.search(name)) for name in names) == 1
    for name, value in pairs:
        if _THOUGHT.fullmatch(name):
            continue
        # "total" beside "final_score" is a count.
        counts = has_final and name not in names
        score = None if counts else _member(name, value, patterns)
        if score:
            scores.append(score)
        elif isinstance(value, str) and not isinstance(value, Number):
            prose.append(value)
        elif _is_list_of_texts(value):
            prose += value
        elif _BESIDE_SCORE.fullmatch(name) or value is None or isinstance(value, bool):
            limit = isinstance(value, Number) and not name.lower().startswith(("confidence", "min"))
            limits += [float(value)] if limit else []
        else:
            others.append((name.replace("_", " "), value))
    # Beside a name that says that it is the score, other numbers are counts or parts of it.
    if len(scores) != 1 or (others and not scores[0].named):
        return None
    [score] = scores
    if any(_SECOND.search(name) for name, _ in others) or (
        not score.final and any(_holds_score(name, x, patterns) for name, x in others)
    ):
        return None
    # A number that is written with an escape ("\\u0038") does not count.
    if score.number not in text or any(most < float(score.number) for most in limits):
        return None
    return replace(score, reason="\n".join(prose), ended=ended)


def _innermost(pairs: Any, patterns: ScorePatterns) -> Any:
    """Return the members of the object with the score: {"question_relevance": {"score": 85}}."""
    while not any(_member(name, value, patterns) for name, value in pairs):
        beside = [member for member in pairs if isinstance(member[1], Number | list)]
        if len(beside) != 1 or not _is_object(beside[0][1]):
            break
        [(name, inner)] = beside
        if not (_AROUND.fullmatch(name) or kind_of_label(name) or patterns.label.fullmatch(name)):
            break
        pairs = inner
    alone = len(pairs) == 1 and _OF_SCORE.fullmatch(pairs[0][0])
    return [("score", pairs[0][1])] if alone else pairs


_AROUND = re.compile(
    r"(?:final_?)?(?:results?|evaluations?|outputs?|data|judge?ments?|assessments?|arguments|args|"
    r"parameters|params|input|function|tool|call|content|message|scores?|ratings?)",
    re.IGNORECASE,
)
"""Names of an object around the score; that of an example or of a reference has another score."""
_OF_SCORE = re.compile(
    r"(?:(?:final|overall)_?)?(?:score|value|val|rating|points|number|result|grade|mark)|cc|qr|ac|ir",
    re.IGNORECASE,
)


def _is_object(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, tuple) for x in value)


_FINAL_KEY = re.compile("final|overall", re.IGNORECASE)
_THOUGHT = re.compile(r"(?:thoughts?|thinking|scratch_?pad|cot|chain_of_thought)", re.IGNORECASE)
"""Keys of what a judge considers before it decides, as a think block does."""
_SECOND = re.compile(
    r"\b(?:alternative|revised|corrected|adjusted|low|lower|high|upper|min|minimum|previous|"
    r"original|initial)\b",
    re.IGNORECASE,
)
"""Words in a key of a number that may be meant in place of the score, or limits it."""


def _holds_score(name: str, value: Any, patterns: ScorePatterns) -> bool:
    """Return whether a member, or one inside of it, has the label of a score."""
    if _member(name, value, patterns):
        return True
    if isinstance(value, tuple):
        return _holds_score(value[0], value[1], patterns)
    return isinstance(value, list) and any(_holds_score("", each, patterns) for each in value)


def _is_list_of_texts(value: Any) -> bool:
    """Return whether a value is a list such as the strengths of a response."""
    texts = isinstance(value, list) and all(isinstance(x, str) for x in value)
    return texts and not any(isinstance(x, Number) for x in value)


_BESIDE_SCORE = re.compile(r"min|(?:max|scale|out[_ ]?of|confidence)[a-z_ ]*", re.IGNORECASE)
"""Keys of numbers that are not a second score: ends of the scale, and how sure the judge is."""


def _member(name: str, value: Any, patterns: ScorePatterns) -> ScoreMatch | None:
    name = _BROKEN_KEY.sub(" ", name)
    kind = kind_of_label(name)
    if not patterns.label.fullmatch(name) and kind not in {"final", "named"}:
        return None
    if _is_object(value):
        # An object with a value, and perhaps the end of its scale.
        numbers = [n for key, n in value if isinstance(n, Number) and _OF_SCORE.fullmatch(key)]
        value = numbers[0] if len(numbers) == 1 else None
    if not isinstance(value, str):
        return None
    score = score_of(value, patterns)
    final, named = kind == "final", kind in {"final", "named"}
    return score and ScoreMatch(score.number, "json", final=final, named=named)
