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


_SCORE, _FINAL, _CONSTRUCT, _OTHER, _QUALIFIER = (
    re.compile(any_of("labels", name))
    for name in ("score", "final", "construct", "other", "qualifier")
)
_ENGLISH = re.compile(
    r"\b(?:scores?|ratings?|grad(?:e|ing)|marks?|evaluation|assessment|verdict)\b"
)
_REVISED = re.compile(
    r"correct(?:ed|ion)|revis|updat|adjust|\bnew\b|korrigi|corrig|исправ|修正|更正"
)
_PHRASE = re.compile(r"[^\W\d_][^\n:=0-9|.!?。！？،؛,;]*")
_WORD = re.compile(r"[^\W\d_]+")
_REMARK = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MOST_WORDS = 5


@lru_cache(maxsize=1024)
def kind_of_label(label: str) -> str | None:
    """Return "final", "named" or "construct" for a label of a score, or None for other words.

    Examples
    --------
    >>> kind_of_label("Итоговая оценка"), kind_of_label("Ocena"), kind_of_label("Max. score")
    ('final', 'named', None)
    """
    whole = label.casefold().replace("_", " ")
    text = _REMARK.sub(" ", whole).strip()
    words = _WORD.findall(text)
    if not _PHRASE.fullmatch(text) or len(words) > _MOST_WORDS or _OTHER.search(whole):
        return None
    named = any(map(_SCORE.search, (*words, text)))
    final = bool(_FINAL.search(whole))
    if (_ENGLISH.search(text) or text.isascii() > named) and not (
        all(map(_QUALIFIER.fullmatch, words)) or _CONSTRUCT.search(text)
    ):
        return "final" if len(words) == 1 and (final or _REVISED.search(whole)) else None
    if named or (final and (len(words) == 1 or text.isascii())):
        return "final" if final or _REVISED.search(whole) else "named"
    return "construct" if _CONSTRUCT.search(text) else None
