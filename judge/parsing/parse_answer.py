"""Reads the score in a judge's answer, or returns the reason why there is none.

A wrong value is worse than a missing one, so an answer counts only if all of it is understood:
formatting without meaning is removed, and the rest must be one score. Scores are not searched for
inside sentences, clipped, rescaled or rounded. Labels and refusals are read in English only.
`judge/parsing/answer_forms.jsonl` lists answers with their outcomes.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from judge.parsing.markup import after_thinking, plain, unmarked
from judge.parsing.score_forms import ScoreMatch, find_score
from study.scales import RatingScale

PARSER_VERSION = "1"
"""Changes with every change of an outcome; stored with each judgment."""

LONGEST = 5_000
"""Characters after a think block. A longer text does not follow "only print the score"."""

MOST_REPETITIONS = 100
"""How often an answer may repeat its score. With more, the model has degenerated."""

_CUT = frozenset({"length", "max_tokens"})

Form = Literal["score", "rationale"]
"""What a prompt asks for: the score alone, or a reason first and the score on the last line."""

__all__ = ["PARSER_VERSION", "Form", "Parsed", "parse_answer"]


class Parsed(NamedTuple):
    """A value and the rule that matched, or the reason why there is none."""

    value: float | None
    """Points on the construct's scale."""
    reason: str | None
    """no_score, several_scores, out_of_range, refusal, empty_answer or truncated."""
    rule: str | None
    """bare (the number and nothing else), decorated, labelled, json, first_line or last_line."""


def parse_answer(
    text: str | None,
    scale: RatingScale,
    finish_reason: str | None = None,
    *,
    form: Form = "score",
) -> Parsed:
    """Read the score out of a judge's answer.

    Parameters
    ----------
    text
        The answer as it came. Instructions inside are text like any other.
    scale
        The construct's scale. "4/5" is a score on a scale that ends at 5 and nowhere else.
    finish_reason
        Why the model stopped, as the server reports. At "length", only a score that a line break
        follows counts: a bare "8" may be the beginning of "85".
    form
        What the prompt requests. After a reason, a score alone on the last line counts, if the
        reason contains no other.

    Returns
    -------
    Parsed
        A value on the scale, or a reason. No text raises.

    Examples
    --------
    >>> parse_answer("**Score:** 85/100", Scale())
    Parsed(value=85.0, reason=None, rule='labelled')
    >>> parse_answer("85 or 90", Scale())
    Parsed(value=None, reason='several_scores', rule=None)
    >>> parse_answer("It says so twice.\\nScore: 85", Scale(), form="rationale")
    Parsed(value=85.0, reason=None, rule='last_line')
    """
    cut = finish_reason is not None and finish_reason.lower() in _CUT
    answer = after_thinking(text or "")
    if answer is None or len(answer.strip()) > LONGEST:
        return _missing("truncated" if cut else "no_score")
    answer = plain(answer)
    if not answer.strip():
        return _missing("truncated" if cut else "empty_answer")
    score = find_score(answer, scale)
    if score is None and form == "rationale":
        score = _after_reason(answer, scale)
    if score is not None and (score.ended or not cut):
        return _checked(score, scale, (text or "").strip())
    if cut:
        return _missing("truncated")
    if is_refusal(answer):
        return _missing("refusal")
    several = len(list(islice(other_scores(answer, scale), 2))) == 2
    return _missing("several_scores" if several else "no_score")


def _after_reason(answer: str, scale: RatingScale) -> ScoreMatch | None:
    """Return the score on the last line; the text above it must contain no other."""
    body = answer.rstrip()
    reason, _, last = body.rpartition("\n")
    # With the line break that follows it, if any: "1." may be the beginning of a list.
    score = find_score(last + answer[len(body) :], scale) if reason.strip() else None
    if score is None:
        return None
    return ScoreMatch(score.number, "last_line", f"{reason}\n{score.tail}", score.ended)


def _checked(score: ScoreMatch, scale: RatingScale, stripped: str) -> Parsed:
    value = float(score.number)
    # The same score may be repeated ("A score of 85 reflects ..."), to a limit.
    others = list(islice(other_scores(score.tail, scale), MOST_REPETITIONS + 1))
    if len(others) > MOST_REPETITIONS or any(other != value for other in others):
        return _missing("several_scores")
    if scale.problem(value):
        return _missing("out_of_range")
    return Parsed(value, None, "bare" if score.number == stripped else score.rule)


def _missing(reason: str) -> Parsed:
    return Parsed(None, reason, None)


_NUMBER = re.compile(
    # Not inside words and versions, and not IL-6 or COVID-19.
    r"(?<![A-Za-z0-9_])(?<![0-9][.,])(?<![A-Za-z]-)[0-9]+(?:\.[0-9]+)?"
    r"(?!(?!points?\b|pts\b)[A-Za-z0-9_]|[.,][0-9])",
    re.ASCII,
)
_MINUS = re.compile(r"(?<![0-9])(?<![0-9] )-\Z")
_WINDOW = 80
_NEAR = 30
"""Characters around a number that are searched for words of scoring, and for its meaning."""

_SENTENCE_END = re.compile(r"[.!?] |\n")
_ABOUT_SCORES = re.compile(
    # Words of scoring, and of revising a score.
    r"\b(?:scor(?:e[ds]?|ing)|rat(?:e[ds]?|ing|ings)|grade[ds]?|points?|pts|marks?|marked|"
    r"giv(?:es?|ing)|gave|assign(?:ed|s)?|award(?:ed|s)?|deserve[ds]?|deduct(?:ed|s)?|"
    r"actually|instead|rather|wait|prefer|better|closer|fits?|final|overall|total|"
    r"reconsider(?:ed|ing)?|reflection|revis(?:e[ds]?|ed|ing|ion)|correction|adjust(?:ed|s|ing)?|"
    r"chang(?:e[ds]?|ing)|lower(?:ed|s|ing)?|rais(?:e[ds]?|ing))\b",
    re.IGNORECASE,
)
_CITED_BEFORE = re.compile(r"\[[0-9,; –-]*\Z")
_CITED_AFTER = re.compile(r"[0-9,; –-]*\]")
_LISTED = re.compile(r"[.)] ")
_WHOLE_BEFORE = re.compile(r"(?:/|\bof(?: the| a| all| these)?(?: possible)?) ?\Z", re.IGNORECASE)
_SCORE_OF = re.compile(r"\b(?:scores?|ratings?|grades?|marks?|value) of \Z", re.IGNORECASE)
_PART_AFTER = re.compile(
    r" ?\(?(?:/|(?:out )?of(?: the| a| all| these)?(?: possible)?) ?([0-9]+)", re.IGNORECASE
)
_NUMBERED_BEFORE = re.compile(
    r"\b(?:passage|document|doc|chunk|source|reference|section|chapter|table|figure|fig|page|line|"
    r"paragraph|sentence|item|part|step|stage|phase|type)s?\.? \Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    # A noun or a unit follows: any word that is not in this list.
    r"(?:-[0-9.]+)?%?[ -](?!(?:and|or|to|but|nor|so|as|at|by|for|from|in|on|if|is|was|be|are|were|"
    r"would|could|should|might|may|can|will|seems?|feels?|because|since|due|given|though|although|"
    r"then|than|this|that|it|the|an?|i|my|we|not|only|with|without|when|while|out|here|now|max|"
    r"per ?cent|perhaps|maybe|probably|versus|vs|reflects?)\b)[A-Za-z]",
    re.IGNORECASE,
)

_REFUSAL = re.compile(
    # At the start of the answer or of a clause, since the answer may quote the response.
    r"\A(?:(?:i'?m |i am )?(?:very |so |truly )?sorry|(?:i |my )?apolog(?:i[sz]e|ies)|"
    r"(?:unable|not able) to|cannot|can't|as an? (?:ai|(?:large )?language model))\b|"
    r"(?:\A|[.!,;:\n] ?|\b(?:but|and|however|so) )(?:"
    r"i (?:can't|cannot|can not|could not|couldn't|won't|will not|(?:must )?decline|refuse)"
    r"(?! (?:decide|choose|find|fault|help but))|"
    r"i(?:'m| am) (?:unable|not able|not comfortable|not allowed|not permitted)|"
    r"i (?:don't|do not) feel comfortable|"
    r"it is (?:not possible|impossible) to (?:assess|assign|determine|evaluate|give|rate|score))\b",
    re.IGNORECASE,
)
_REFUSAL_WITHIN = 300
"""Characters. A refusal is at the beginning."""


def is_refusal(answer: str) -> bool:
    """Return whether an answer without a score is a refusal, in common English words."""
    start = answer[:_REFUSAL_WITHIN].replace("’", "'").lstrip(" \n*_`\"'“‘#>")
    return bool(_REFUSAL.search(start))


def other_scores(text: str, scale: RatingScale) -> Iterator[float]:
    """Yield the values in a text that may be scores, in their order.

    Left out are values outside the scale where no score is mentioned (2019), numbers that count or
    measure a noun (3 facts, 15 mg), citations ([1]), list numbers, and the scale's own ends
    (0 to 100). A number at the end of a clause is included: "Actually, 70."
    """
    text = _scale_pattern(scale.min, scale.max).sub(" ", unmarked(text))
    listed = 1
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
        value = float(number[0])
        if scale.min < 0 and _MINUS.search(before):
            value = -value
        at_line_start = not before.rpartition("\n")[2].strip()
        if at_line_start and value == listed and _LISTED.match(after):
            listed += 1
        elif _is_score(value, before, after, scale):
            yield value


def _is_score(value: float, before: str, after: str, scale: RatingScale) -> bool:
    near = before[-_NEAR:]
    if _SCORE_OF.search(near):
        return True
    cited = _CITED_BEFORE.search(near) and _CITED_AFTER.match(after)
    if cited or _WHOLE_BEFORE.search(near):
        return False
    part = _PART_AFTER.match(after)
    if part and float(part[1]) == scale.max:
        return True
    if _ABOUT_SCORES.search(_sentence(before, after)):
        return True
    counted = _COUNTED.match(after[part.end() :] if part else after)
    return not (counted or scale.problem(value) or _NUMBERED_BEFORE.search(near))


def _sentence(before: str, after: str) -> str:
    begun = _SENTENCE_END.split(before)[-1]
    return f"{begun} # {_SENTENCE_END.split(after, maxsplit=1)[0]}"


@lru_cache(maxsize=64)
def _scale_pattern(low: float, high: float) -> re.Pattern[str]:
    """Match mentions of the construct's scale, and of another scale as part of a label."""
    least, most = (re.escape(f"{end:g}") for end in (low, high))
    span = r"[0-9.]+ ?(?:-|–|—|to) ?[0-9.]+"
    return re.compile(
        rf"(?<![0-9.]){least} ?(?:-|–|—|to|and) ?{most}(?![0-9]|\.[0-9])|"
        rf"\b(?:score|rating|grade) ?[(\[] ?{span} ?[)\]](?= ?[:=])|\bscale (?:of|from) {span}",
        re.IGNORECASE,
    )
