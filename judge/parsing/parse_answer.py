"""Reads the score in a judge's answer, or returns the reason why there is none.

A wrong value is worse than a missing one, so an answer counts only if all of it is understood:
formatting without meaning is removed, and the rest must be one score. Scores are not searched for
inside sentences, clipped, rescaled or rounded. Labels and refusals are read in English only.
`judge/parsing/answer_forms.jsonl` lists answers with their outcomes.
"""

from itertools import islice
from typing import Literal, NamedTuple

from judge.parsing.markup import after_thinking, plain
from judge.parsing.other_content import is_refusal, other_scores
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
