"""The words of many languages of `words.toml`, and what they say of a label before a number.

A line such as "Ocena: 50" or "Βαθμολογία: 85" is a score because its label has a word for a score,
and no word for a limit, a count, a doubt, or the score of something else.
"""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

_WORDS: dict[str, dict[str, Any]] = tomllib.loads(
    (files("judge.parsing") / "words.toml").read_text("utf-8")
)
NUMBERS: dict[str, list[str]] = _WORDS["numbers"]


def any_of(section: str, name: str) -> str:
    """Return the alternatives of a list of words, as a part of a pattern."""
    return "|".join(_WORDS[section][name].split())


_LISTS = ("score", "final", "construct", "beside")
_SCORE, _FINAL, _CONSTRUCT, _BESIDE, _UNSPACED = (
    re.compile(any_of("labels", name)) for name in (*_LISTS, "unspaced")
)
_ALONE = {"final", "overall", "total", "gesamt"}
_REVISED = {"corrected", "revised", "updated", "adjusted", "new"}
_PHRASE = re.compile(r"[^\W\d_][^\n:=0-9|.!?。！？،؛,;]*")
_WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff][^\W\d_]*)*")
_REMARK = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MOST_WORDS = 6


@lru_cache(maxsize=1024)
def kind_of_label(label: str) -> str | None:
    """Return "final", "named" or "construct" for a label of a score, or None for other words.

    All of its words have to be known: a word for a score, for the last word, or of what it is.

    Examples
    --------
    >>> kind_of_label("Итоговая оценка"), kind_of_label("Ocena"), kind_of_label("Max. score")
    ('final', 'named', None)
    """
    whole = label.casefold().replace("_", " ").replace("’", "'")
    if (unspaced := _UNSPACED.fullmatch(whole.strip())) is not None:
        return "final" if any(unspaced.groups()) else "named"
    text = _REMARK.sub(" ", whole).strip()
    words = _WORD.findall(text)
    if not _PHRASE.fullmatch(text) or not 0 < len(words) <= _MOST_WORDS:
        return None
    scores = [word for word in words if _SCORE.fullmatch(word)]
    finals = [word for word in words if _FINAL.fullmatch(word)]
    constructs = [word for word in words if _CONSTRUCT.fullmatch(word)]
    known = {*scores, *finals, *constructs}
    if not all(word in known or _BESIDE.fullmatch(word) for word in words):
        return None
    if _REMARK.search(whole) and not _KNOWN_REMARK.search(whole):
        return None
    if scores or (finals and len(words) == 1 and words[0] in _ALONE):
        return "final" if finals or _REVISED.intersection(words) else "named"
    return "construct" if constructs else None


@lru_cache(maxsize=1024)
def kind_of_sentence(before: str, after: str, *, unit: bool = False) -> str | None:
    """Return "final", "named" or "given" where the words around a number make it a score, or None.

    All of its words have to be known, and one has to be a word for a score, for giving one, or the
    article that makes a grade of a number ("a 75"). With `unit`, points stand beside the number.

    Examples
    --------
    >>> kind_of_sentence("A fair score would be ", "."), kind_of_sentence("It has ", " words.")
    ('named', None)
    """
    if _FOR_A_PART.match(after):
        return None
    text = f"{before} | {after}".casefold().replace("_", " ").replace("’", "'")
    text = _USER_QUERY.sub("query", _PASSIVE.sub("is rated", text))
    words = _WORD_OR_CLITIC.findall(text)
    if not 0 < len(words) <= _MOST_IN_SENTENCE:
        return None
    unknown = [word for word in words if not _KNOWN.fullmatch(word) or word in _OF_SEVERAL]
    if any(_UNSPACED_PARTS.fullmatch(word) is None for word in unknown):
        return None
    if any(_SCORE.fullmatch(word) or _UNSPACED_SCORE.search(word) for word in words):
        return "final" if any(_FINAL.fullmatch(word) for word in words) else "named"
    if len(words) == 1 and words[0] in _STANDS_ALONE and before.rstrip().endswith((":", "=")):
        return "given"
    graded = (
        unit
        or any(map(_CONSTRUCT.fullmatch, words))
        or _GRADED.search(before.casefold())
        or any(map(_GIVES.fullmatch, words))
    )
    return "given" if graded else None


_FOR_A_PART = re.compile(
    r"\W*(?:for|in|on|by|at)\b"
    r"(?! (?:(?:(?:this|the) (?:response|answer|one)|me|it|this|total|all)\b))",
    re.IGNORECASE,
)
"""Behind the number: "75 for style", "75 in the context"."""
_PASSIVE = re.compile(r"\b(?:is|be) scored\b")
_MOST_IN_SENTENCE = 20
_USER_QUERY = re.compile(r"\buser(?:'s)? (?:query|question)\b")
_STANDS_ALONE = {"number", "value", "percentage", "result", "output"}
_OF_SEVERAL = {"average", "mean", "combined", "aggregate", "aggregated"}
_WORD_OR_CLITIC = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff'][^\W\d_]*)*")
_GIVES = re.compile(f"{any_of('labels', 'gives')}|{any_of('labels', 'gives_here')}")
_KNOWN = re.compile(
    "|".join(any_of("labels", name) for name in (*_LISTS, "gives", "gives_here", "around"))
)
_GRADED = re.compile(r"(?:^|\s)an?\s*$")
_UNSPACED_PARTS = re.compile(rf"(?:{any_of('labels', 'unspaced_parts')})+")
_UNSPACED_SCORE = re.compile(any_of("labels", "unspaced_score"))

_KNOWN_REMARK = re.compile(
    r"[(\[]\s*(?:(?:out of|von|sur|de|из|/|0\s*[-–—]|0\s*to)\s*)?(?:100|0\s*[-–—]\s*100|%|final|"
    r"corrected|revised|updated|adjusted|weighted|overall|total|average|mean|percent|points?)\s*[)\]]"
)
"""What may stand in brackets in a label: the scale, or that the score is corrected."""
