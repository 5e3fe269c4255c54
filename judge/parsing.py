"""The number in a judge's answer, or the reason why there is none.

A wrong value is far worse than a missing one: what is not certainly the score is missing. The
forms that are taken, and many that are not, stand in `judge/answer_forms.jsonl`.
"""

import json
import re
from typing import Any, NamedTuple

from study.scales import Scale

PARSER_VERSION = "1"
"""Raised with every change of what is taken; stored with each judgment."""


class Parsed(NamedTuple):
    """An answer as it was read: a value with the rule that found it, or a reason."""

    value: float | None
    reason: str | None
    rule: str | None


# ASCII digits without leading zeros: "085" and full-width digits are no scores.
_NUMBER = r"-?(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,12})?"
_BARE = re.compile(_NUMBER)

# Labels are read in English only.
_CONSTRUCTS = (
    r"contextual coherence|question relevance|information density|answer correctness|"
    r"information recall|coherence|relevance|density|correctness|recall"
)
_HEAD = rf"(?:score|rating|grade|mark|points?|answer|output|result|evaluation|{_CONSTRUCTS})"
_BEFORE = rf"(?:(?:the|my|final|overall|total|assigned|numeric|numerical|{_CONSTRUCTS})\s+)"
_LABEL = (
    rf"{_BEFORE}{{0,4}}{_HEAD}(?:\s+(?:score|rating))?"
    r"(?:\s*[(\[](?:from\s+)?[0-9]{1,3}\s*(?:-|–|to)\s*[0-9]{1,3}[)\]])?"
    r"\s*(?:(?::|=|->|→)\s*|\s(?:is|would be)\s*:?\s+|\s+[-–—]\s+)"
)
_LABELLED = re.compile(_LABEL, re.IGNORECASE)

_OPENED = re.compile(r"<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z]{0,10}[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+")
# Emphasis beside a blank, a sign or an end; "8*5" stays what it is.
_EMPHASIS = re.compile(r"(?<![0-9A-Za-z*])\*{1,3}|\*{1,3}(?![0-9A-Za-z*])")
_PAIRS = (
    ("__", "__"), ("_", "_"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"),
    ("«", "»"), ("\\boxed{", "}"), ("\\(", "\\)"), ("$$", "$$"), ("$", "$"), ("[[", "]]"),
    ("[", "]"), ("(", ")"),
)  # fmt: skip

_REFUSAL = re.compile(
    r"\b(?:i(?:['’]m| am) (?:sorry|unable|not able|afraid)"
    r"|i (?:can(?:no|['’])t|can ?not|won['’]t|will not|must decline)"
    r"|i do(?:n['’]t| not) (?:feel|think i can)"
    r"|as an ai\b"
    r"|unable to (?:score|evaluate|assess|rate|provide|determine)"
    r"|can(?:no|['’])t (?:be )?(?:score|evaluate|assess|rate|provide|determine|assist|help)"
    r"|not (?:able|possible) to (?:score|evaluate|assess|rate))",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    rf"(?<![0-9./]){_NUMBER}\s*%?\s*(?:-|–|—|to|or|and|,\s|;|\.\.)\s*{_NUMBER}"
    r"(?![0-9/])(?!\s*[A-Za-z])",
    re.IGNORECASE,
)
# Nothing longer is a score with its label.
_LONGEST = 160
_LOOKED_AT = 2000
_BLANK = " \t\r\n\v\f\u00a0\ufeff\u200b\u200c\u200d\u2060\u3000"


def parse_answer(text: str | None, scale: Scale, finish_reason: str | None = None) -> Parsed:
    """Read the score out of an answer.

    Parameters
    ----------
    text : str or None
        The answer as it came.
    scale : Scale
        The range that was asked for; "/100" and the like are taken for its maximum only.
    finish_reason : str, optional
        "length" says that the answer was cut: then only a complete first line counts.

    Returns
    -------
    Parsed
        `value` and `rule`, one of bare, decorated, labelled, json, first_line; or `reason`, one of
        no_score, several_scores, out_of_range, refusal, empty_answer, truncated.

    Examples
    --------
    >>> parse_answer("**85**", Scale())
    Parsed(value=85.0, reason=None, rule='decorated')
    >>> parse_answer("85 or 90", Scale()).reason
    'several_scores'
    """
    cut = finish_reason == "length"
    whole = (text or "").strip(_BLANK)
    if not whole:
        return _missing("truncated" if cut else "empty_answer")
    said = _without_thoughts(whole)
    if said is None:
        return _missing("truncated" if cut else "no_score")
    if not said:
        return _missing("truncated" if cut else "empty_answer")
    if cut:
        # The last line may have been cut inside its number: "8" of "85".
        found = _first_line((text or "").lstrip(_BLANK) if said is whole else said, scale, cut=True)
        return found or _missing("truncated")
    if _BARE.fullmatch(said) and said is whole:
        return _on_scale(said, "bare", scale)
    return (
        _one_line(said, scale)
        or _object(said, scale)
        or _first_line(said, scale, cut=False)
        or _missing(_why_not(said))
    )


def _missing(reason: str) -> Parsed:
    return Parsed(None, reason, None)


def _on_scale(number: str, rule: str, scale: Scale) -> Parsed:
    if number.startswith("-") and float(number) == 0:
        return _missing("no_score")
    value = float(number)
    return _missing("out_of_range") if scale.problem(value) else Parsed(value, None, rule)


def _without_thoughts(text: str) -> str | None:
    """Return what follows the closed think blocks at the start; None where one is not closed."""
    while opened := _OPENED.match(text):
        closing = re.compile(rf"</{opened[1]}>", re.IGNORECASE).search(text, opened.end())
        if closing is None:
            return None
        text = text[closing.end() :].strip(_BLANK)
    # Where the prompt's template opens the block, the answer only closes it.
    closings = list(_CLOSING.finditer(text))
    return text[closings[-1].end() :].strip(_BLANK) if closings else text


def _one_line(text: str, scale: Scale) -> Parsed | None:
    """Read a text that is a number with its decoration and label, and nothing else."""
    if len(text) > _LONGEST:
        return None
    plain = _peeled(text)
    label = _LABELLED.match(plain)
    if label is not None:
        plain = _peeled(plain[label.end() :])
    number = _BARE.match(plain)
    if number is None or not _suffix(scale).fullmatch(plain, number.end()):
        return None
    return _on_scale(number[0], "labelled" if label else "decorated", scale)


def _peeled(text: str) -> str:
    """Return a text without fences, headings, emphasis and quotes around it."""
    before = None
    while before != text:
        before = text
        text = text.strip(_BLANK)
        fence = _FENCE.fullmatch(text)
        if fence is not None:
            text = fence[1]
        text = _HEADING.sub("", text, count=1) if text.startswith("#") else text
        text = _EMPHASIS.sub("", text)
        for opening, closing in _PAIRS:
            inside = len(text) > len(opening) + len(closing)
            if inside and text.startswith(opening):
                bare = text.removesuffix(".")
                if bare.endswith(closing):
                    text = bare[len(opening) : len(bare) - len(closing)]
    return text


def _suffix(scale: Scale) -> re.Pattern[str]:
    most = re.escape(f"{scale.max:g}")
    percent = r"\s*%|\s*percent|" if (scale.min, scale.max) == (0, 100) else ""
    out_of = rf"\s*/\s*{most}|\s*\(?(?:out of|of) (?:a (?:possible )?)?{most}\)?"
    unit = rf"(?:{percent}{out_of}|\s*(?:points?|pts?))"
    return re.compile(rf"{unit}{{0,3}}[\"'”’`*_$\s]{{0,6}}\.?", re.IGNORECASE)


def _object(text: str, scale: Scale) -> Parsed | None:
    """Read {"score": 85}, also in a code fence."""
    plain = _peeled(text) if len(text) <= _LOOKED_AT else text
    if not (plain.startswith("{") and plain.endswith("}")):
        return None
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        # A key that stands twice must not hide its first value.
        pairs.extend(found)
        return dict(found)

    try:
        json.loads(plain, object_pairs_hook=keep, parse_int=_Digits, parse_float=_Digits)
    except (ValueError, RecursionError):
        return None
    scores = [
        (key, _peeled(value))
        for key, value in pairs
        if isinstance(value, str)
        and (isinstance(value, _Digits) or _BARE.match(_peeled(value)[:20]) is not None)
    ]
    if len(scores) > 1:
        return _missing("several_scores")
    return _of_key(*scores[0], pairs, scale) if scores else None


def _of_key(key: str, value: str, pairs: list[tuple[str, Any]], scale: Scale) -> Parsed | None:
    label = re.sub(r"[_\-\s]+", " ", key).strip()
    number = _BARE.match(value)
    if _LABELLED.fullmatch(f"{label}: ") is None and label.lower() != "value":
        return None
    if number is None or not _suffix(scale).fullmatch(value, number.end()):
        return None
    others = " ".join(v for k, v in pairs if isinstance(v, str) and k != key)
    if _another(others, number[0], scale):
        return _missing("several_scores")
    return _on_scale(number[0], "json", scale)


class _Digits(str):
    """A JSON number as it was written."""

    __slots__ = ()


def _first_line(text: str, scale: Scale, *, cut: bool) -> Parsed | None:
    """Read a score on the first line, with a blank line and words below it."""
    first, ended, rest = text.partition("\n")
    if not ended:
        return None
    below = rest.lstrip(" \t\r")
    if below and not below.startswith("\n"):
        return None
    found = _one_line(first.strip(_BLANK), scale)
    if found is None or found.value is None:
        return found
    number = f"{found.value:g}"
    if _another(below, number, scale):
        return _missing("several_scores")
    if cut and not below.strip(_BLANK):
        # The line is complete, and nothing more was said.
        return found
    return Parsed(found.value, None, "first_line")


def _another(text: str, number: str, scale: Scale) -> bool:
    """Tell whether a text states another score than this one."""
    most = re.escape(f"{scale.max:g}")
    stated = re.compile(
        rf"(?:{_LABEL}|\b(?:score|rating|grade) of\s+|^[\s*_]*)(?P<a>{_NUMBER})(?![0-9.]*[0-9])"
        rf"|(?<![0-9.])(?P<b>{_NUMBER})\s*(?:/\s*{most}\b|\s(?:out )?of {most}\b|\s*points?\b)",
        re.IGNORECASE | re.MULTILINE,
    )
    return any(float(match["a"] or match["b"]) != float(number) for match in stated.finditer(text))


def _why_not(text: str) -> str:
    looked_at = text[:_LOOKED_AT]
    if _REFUSAL.search(looked_at):
        return "refusal"
    if len(text) <= _LONGEST and _SEVERAL.search(looked_at):
        return "several_scores"
    return "no_score"
