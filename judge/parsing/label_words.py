"""The words of many languages of `words.toml`, and what they say of a label before a number.

A line such as "Ocena: 50" or "Βαθμολογία: 85" is a score because its label has a word for a score,
and no word for a limit, a count, a doubt, or the score of something else.
"""

import re
import tomllib
from collections.abc import Sequence
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
_SCORE, _FINAL, _BESIDE, _UNSPACED = (
    re.compile(any_of("labels", name)) for name in ("score", "final", "beside", "unspaced")
)
_CONSTRUCT = re.compile("|".join(any_of("labels", n) for n in ("construct", "unspaced_construct")))
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
    text = f"{before} | {after}".casefold().replace("_", " ").replace("’", "'")
    text = _CLITIC.sub(r"\1'\2", _BASED_ON.sub("", text))
    text = _NOTE.sub("score", _ELIDED.sub("", text))
    text = _USER_QUERY.sub("query", text).replace(" for its ", " for ")
    text = text.replace("question relevance", "relevance").replace("질문 관련성", "관련성")
    words = _WORD_OR_CLITIC.findall(text)
    known = all(
        (_KNOWN.fullmatch(word) and word not in _OF_SEVERAL) or _UNSPACED_PARTS.fullmatch(word)
        for word in words
    )
    if not (known and 0 < len(words) <= _MOST_IN_SENTENCE) or FOR_A_PART.match(after):
        return None
    scores = [w for w in words if _SCORE.fullmatch(w) or _UNSPACED_SCORE.search(w)]
    if any(":" in before or not _RESULT.fullmatch(word) for word in scores):
        return "final" if any(_FINAL.fullmatch(word) for word in words) else "named"
    return "given" if _is_given(before, text, words, unit=unit) else None


def _is_given(before: str, text: str, words: Sequence[str], *, unit: bool) -> bool:
    """Return whether the judge gives a number without a word for a score, or it is deserved."""
    if _ANSWER_IS.search(text) or _ASKED.intersection(words):
        return False
    gives = any(map(_GIVES.fullmatch, words)) and _FIRST.search(text)
    judged = any(map(_JUDGED.fullmatch, words))
    fits = _FITS.search(text) and not _OF_RESPONSE.search(text)
    earns = any(map(_EARNS.fullmatch, words)) or _RATED.search(text) or fits
    return bool(unit or judged or gives or earns or _GRADED.search(before.casefold()))


def names_response(words_between: str) -> bool:
    """Return whether all words between a verb and its number are known, and none is of another.

    "I give this response a solid 75" and not "I rate the restaurant 75".
    """
    text = _CLITIC.sub(r"\1'\2", words_between.casefold().replace("’", "'"))
    text = _BROKEN.sub(" ", text)
    words = _WORD_OR_CLITIC.findall(text)
    return not _ASKED.intersection(words) and all(
        _KNOWN.fullmatch(word)
        or _UNSPACED_PARTS.fullmatch(word)
        or len(word) == 1
        or word in {"its", "their", "gives"}
        for word in words
    )


_BROKEN = re.compile(
    rf"(?<!\w)(?:{any_of('sentences', 'constructs')}|{any_of('sentences', 'hedges')})(?!\w)"
)
FOR_A_PART = re.compile(
    r"\W*(?:for|in|on|by|at|with)\b"
    r"(?! (?:(?:(?:this|the) (?:response|answer|one)|me|it|this|total|all)\b|"
    r"(?:its |the )?(?:contextual|question|information|answer|coherence|relevance|density|"
    r"correctness|recall)\b))",
    re.IGNORECASE,
)
"""Behind the number: "75 for style", "75 in the context"."""
_BASED_ON = re.compile(r"^\W*(?:based on|given|considering|judging)\b[^,|]{1,80}, ")
_ANSWER_IS = re.compile(
    r"(?:answer|antwort|respuesta|réponse|resposta|risposta|antwoord|ответ|jawaban|odpowiedź)"
    r" (?:is|ist|es|est|é|è|to|jest)\b|答案是|의 답은"
)
"""What the judge answers to the question that is judged."""
_CLITIC = re.compile(r"\b(i|it|that|we|let) (ll|d|m|s|ve)\b")
_ELIDED = re.compile(r"(?<![\w'])[cdjl][' ](?=[^\W\d_])")
"""French and Italian articles and pronouns before a vowel; not "n'", which denies."""
_NOTE = re.compile(r"\b(?:la|une|ma|cette|die|eine|meine|diese) note\b")
"""A grade in French and German; "note" alone may begin a remark."""
_MOST_IN_SENTENCE = 20
_USER_QUERY = re.compile(r"\buser(?:'s)? (?:query|question)\b")
_RESULT = re.compile(
    r"(?:end|gesamt)?ergebnis|resultado|résultat|risultato|результат|rezultat|wynik"
)
"""Words for a result, which may be one of the response, unless they are labels."""
_OF_SEVERAL = {"average", "mean", "combined", "aggregate", "aggregated"}
_WORD_OR_CLITIC = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff'][^\W\d_]*)*")
_GIVES, _EARNS = (re.compile(any_of("labels", name)) for name in ("gives", "earns"))
_JUDGED = re.compile(f"{_CONSTRUCT.pattern}|{any_of('labels', 'gives_here')}")
_FIRST = re.compile(
    r"\b(?:i|i'(?:d|ll|m|ve)|my|we|we'(?:d|ll)|let'?s|jag|jeg|tôi|saya|(?:go|land|settl)ing)\b"
)
_RATED = re.compile(r"\b(?:is|be|am) (?:rated|scored|graded|given|awarded|assigned)\b")
_FITS = re.compile(
    r"\|\W+(?:is|seems|feels|would be) (?:\w+ )?(?:fair|reasonable|appropriate|fitting)\b"
)
"""Of the number itself: "I think 89 is fair."; not "The answer 89 is fair."."""
_OF_RESPONSE = re.compile(r"\b(?:answer|response|number|result|s)\W*\|")
_ASKED = {"question", "query", "context", "answered", "get"}
"""What is judged by nobody here: "The question is 20 points."."""
_KNOWN = re.compile(
    "|".join(any_of("labels", name) for name in (*_LISTS, "gives", "gives_here", "earns", "around"))
)
_GRADED = re.compile(r"(?:^|\s)an?\s*$")
_UNSPACED_PARTS = re.compile(rf"(?:{any_of('labels', 'unspaced_parts')})+")
_UNSPACED_SCORE = re.compile(any_of("labels", "unspaced_score"))

_KNOWN_REMARK = re.compile(
    r"[(\[]\s*(?:(?:out of|von|sur|de|из|/|0\s*[-–—]|0\s*to)\s*)?(?:100|0\s*[-–—]\s*100|%|final|"
    r"corrected|revised|updated|adjusted|weighted|overall|total|average|mean|percent|points?)\s*[)\]]"
)
"""What may stand in brackets in a label: the scale, or that the score is corrected."""
