"""Read the score out of a judge's answer, or say why it holds none.

A wrong value is worse than a missing one, so an answer counts only if all of it is understood:
wrapping that means nothing is taken off, and what is left must be one score. Nothing is searched
for inside sentences, clipped, rescaled or rounded. Labels and refusals are read in English only.
`judge/parsing/answer_forms.jsonl` lists answers with their outcomes.
"""

from itertools import islice
from typing import Literal, NamedTuple

from judge.parsing.markup import after_thinking, plain
from judge.parsing.other_content import is_refusal, other_scores
from judge.parsing.score_forms import Found, find_score
from study.scales import RatingScale

PARSER_VERSION = "1"
"""Raised with every change of an outcome; stored with each judgment."""

LONGEST = 5_000
"""Characters, after a think block: what is longer is no answer to "only print the score"."""

TOLD_AGAIN = 100
"""Times that an answer may repeat its score: beyond that a model only babbles."""

_CUT = frozenset({"length", "max_tokens"})

Form = Literal["score", "rationale"]
"""What a prompt asks for: the score alone, or a reason first and the score on the last line."""

__all__ = ["PARSER_VERSION", "Form", "Parsed", "parse_answer"]


class Parsed(NamedTuple):
    """A value and the rule that found it, or the reason why there is none."""

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
        Why the model stopped, as the server says. At "length", only a score that a line break
        follows counts: a bare "8" may be the beginning of "85".
    form
        What was asked for. After a reason, a score alone on the last line counts, if the reason
        tells no other.

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
    found = find_score(answer, scale)
    if found is None and form == "rationale":
        found = _after_reason(answer, scale)
    if found is not None and (found.ended or not cut):
        return _read(found, scale, (text or "").strip())
    if cut:
        return _missing("truncated")
    if is_refusal(answer):
        return _missing("refusal")
    several = len(list(islice(other_scores(answer, scale), 2))) == 2
    return _missing("several_scores" if several else "no_score")


def _after_reason(answer: str, scale: RatingScale) -> Found | None:
    """Return the score on the last line; what stands before it must tell no other."""
    body = answer.rstrip()
    reason, _, last = body.rpartition("\n")
    # With the line break that follows it, if any: "1." may be the beginning of a list.
    found = find_score(last + answer[len(body) :], scale) if reason.strip() else None
    if found is None:
        return None
    return Found(found.number, "last_line", f"{reason}\n{found.tail}", found.ended)


def _read(found: Found, scale: RatingScale, stripped: str) -> Parsed:
    value = float(found.number)
    # A score told again ("A score of 85 reflects ...") is no other score, up to a point.
    told = list(islice(other_scores(found.tail, scale), TOLD_AGAIN + 1))
    if len(told) > TOLD_AGAIN or any(other != value for other in told):
        return _missing("several_scores")
    if scale.problem(value):
        return _missing("out_of_range")
    return Parsed(value, None, "bare" if found.number == stripped else found.rule)


def _missing(reason: str) -> Parsed:
    return Parsed(None, reason, None)
