"""Reads the score in a judge's answer, or returns the reason why there is none.

One rule: a line that is a score, first or last, or the only line with a score's label, is the
score. It is contested by another score with a label, by a line that is another score, by another
scale that is named, by a refusal, and by a correction in words, and by nothing else: the digits of
a reason count facts and cite passages. A wrong value is worse than a missing one, so a score is
taken out of a sentence only where one sentence alone gives it in the judge's own name, and never
clipped, rescaled or rounded. Labels are read in many languages (`words.toml`), sentences and
refusals in English and a few others. `tests/judge/parsing/answer_forms.jsonl` lists answers
with their outcomes.
"""

import re
from dataclasses import replace
from itertools import chain, islice
from typing import Literal, NamedTuple

from judge.parsing.contests import (
    contests,
    is_refusal,
    last_correction,
    names_maximum,
    names_other_scale,
    names_several,
    refuses_next_to_score,
    refuses_to_rate,
    whole_scores,
)
from judge.parsing.labels import LabelReader, Labels
from judge.parsing.markup import after_thinking, has_thinking, plain
from judge.parsing.rewriting import elements_apart, labels_joined, rewritten
from judge.parsing.score_forms import NAMES_SCORE, ScoreMatch, find_on_other_scale, find_score
from judge.parsing.score_lines import (
    labelled_line,
    labelled_scores,
    only_given,
    reason_alone,
    score_in_last_sentence,
)
from judge.parsing.score_patterns import NOUN, Names
from study.base.scales import Scale

PARSER_VERSION = "14"
"""Changes with every change of an outcome; stored with each judgment."""

LONGEST = 5_000
"""Characters after a think block. A longer text does not follow "only print the score"."""

MOST_REPETITIONS = 100
"""How often an answer may repeat its score. With more, the model has degenerated."""

_CUT = frozenset({"length", "max_tokens"})

Form = Literal["score", "rationale", "label", "json"]
"""What a prompt asks for: the score alone, a reason first and the score on the last line, a label
that stands for a score, or an object with several fields, which `judge.prompts` reads."""

__all__ = ["PARSER_VERSION", "Form", "Parsed", "is_cut", "parse_answer"]


class Parsed(NamedTuple):
    """A value and the rule that matched, or the reason why there is none."""

    value: float | None
    """Points on the construct's scale."""
    reason: str | None
    """no_score, several_scores, out_of_range, other_scale, refusal, empty_answer or truncated."""
    rule: str | None
    """bare (the number and nothing else), decorated, labelled, json, first_line or last_line."""


def parse_answer(
    text: str | None,
    scale: Scale,
    finish_reason: str | None = None,
    *,
    form: Form = "score",
    names: Names = (),
    labels: Labels | None = None,
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
        What the prompt requests. It changes the reason of a missing score, and not what is read.
    names
        Names of the study's constructs, which may be labels: "Politeness: 4".
    labels
        Words that stand for values, where the prompts ask for one of them; numbers are not read.

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
    cut = is_cut(finish_reason)
    answer = after_thinking(text or "")
    if answer is None or len(answer.strip()) > LONGEST:
        return _missing("truncated" if cut else "no_score")
    written, answer = answer, plain(answer)
    if not answer.strip():
        struck = "no_score" if re.search(r"\d", written) else "empty_answer"
        return _missing("truncated" if cut else struck)
    if labels:
        return _labelled(answer, labels, names, (text or "").strip(), cut=cut)
    return _scored(answer, (text or "").strip(), scale, form, names, cut=cut)


def _scored(
    answer: str, stripped: str, scale: Scale, form: Form, names: Names, *, cut: bool
) -> Parsed:
    """Return the score of an answer as plain text; `stripped` is the text as it came."""
    if _BRACE_MISSING.match(answer) and "{" not in answer:
        answer = f"{{{answer}"
    answer = elements_apart(answer)
    if (scale.min, scale.max) == (0, 100):
        answer = rewritten(answer, names)
    answer = labels_joined(answer, scale, names)
    score = find_score(answer, scale, names)
    for goes_on in (_NEXT_TURN, _NEXT_EXAMPLE):
        # The model goes on with another question and its response, as in a list of examples.
        begins = goes_on.search(answer)
        above = answer[: begins.start()] if begins else ""
        if above.strip():
            before = _scored(above, stripped, scale, form, names, cut=False)
            alone = before.rule not in {"last_line", "labelled"}
            if before.value is not None and (alone or NAMES_SCORE.search(above)):
                return before
    if score is None and not (has_thinking(answer) or _ASKED_AND_ANSWERED.match(answer)):
        score = (
            _after_reason(answer, scale, names)
            or _only_object(answer, scale, names)
            or _only_labelled(answer, scale, names)
            or only_given(answer, scale, names)
        )
    if score is None or (cut and not score.ended):
        return _missing("truncated" if cut else _why_missing(answer, scale, form, names))
    parsed = _checked(score, answer, scale, names, stripped)
    if parsed.reason != "several_scores":
        return parsed
    if not cut and (corrected := _corrected(answer, stripped, scale, form, names)):
        return corrected
    # Scores of parts, and one that is called final or overall.
    final = labelled_line(answer, scale, names)
    if final is None or not (final.final or final.named) or (cut and not final.ended):
        return parsed
    return _checked(replace(final, rule="last_line"), answer, scale, names, stripped)


def _corrected(answer: str, stripped: str, scale: Scale, form: Form, names: Names) -> Parsed | None:
    """Return the score that the judge gives when it corrects itself, if it says so in words."""
    last = last_correction(answer)
    line = answer.rstrip().rpartition("\n")[2]
    if last is None and (changed := _CHANGED.search(line)):
        last = changed[0] if score_in_last_sentence(line, scale, names) else None
    if last is None:
        return None
    if not NAMES_SCORE.search(last):
        ends_in = _CORRECTED.search(last)
        last = ends_in[1] if ends_in else ""
    found = _scored(last, stripped, scale, form, names, cut=False)
    return None if found.value is None else found._replace(rule="last_line")


_BRACE_MISSING = re.compile(r'\s*"[a-z_ ]{1,30}" ?: ', re.IGNORECASE)
"""The first name of an object that does not begin with {."""
_CORRECTED = re.compile(
    r"\bi\b(?:[^.!?\n0-9]{1,40} (?:it|this|score|rating) (?:down |up )?to|"
    r"(?:['’]d| would|['’]ll| will)? (?:go with|say|(?:give|rate|make) (?:it|this)|settle on))"
    r" (?:an? )?([0-9]+(?:\.[0-9]+)?)\W*\Z",
    re.IGNORECASE,
)
"""How a correction without a label ends: "I lower it to 60."."""
_CHANGED = re.compile(
    r"(?:\b(?:because|since|as|given)\b[^,;.!?]*|[,;](?: (?:so|but|and|hence|thus|therefore))?) "
    r"I(?:['’]ll| will)? (?:[a-z]+ )?(?:lower|raise|reduce|revise|adjust|change|bring|correct) "
    r"(?:it|this|(?:my|the) [a-z]+) (?:down |up )?to (?:an? )?[0-9.]+\W*\Z"
)
"""A last clause that changes what the judge said before: "but ..., so I lower it to 60."."""
_FIELD = (
    r"(?:question|query|q|a|user|human|instruction|input|example|criterion|"
    r"metric|passages?|(?:retrieved )?context|"
    r"(?:generated )?(?:response|answer)|ground truth|reference)(?: [0-9]{1,2})?"
)
_NEXT_FIELD = rf"^(?:[#*_\s]{{0,6}}{_FIELD}[*_]{{0,2}} ?:(?=.*[A-Za-z])|#{{1,4}} {_FIELD}:?$)"
_NEXT_EXAMPLE = re.compile(
    rf"{_NEXT_FIELD}(?=(?:.*\n)+?{_NEXT_FIELD.removeprefix('^')})", re.IGNORECASE | re.MULTILINE
)
"""The first of several fields of a further example that the model made up."""
_ASKED_AND_ANSWERED = re.compile(
    rf"\W*(?:question|query|q) ?:.*\?\W+answer ?:(?!(?s:.*)(?:{NOUN}|[0-9] ?/ ?[0-9]))",
    re.IGNORECASE,
)
"""A question that the model made up and answers, without a score."""
_NEXT_TURN = re.compile(
    r"^[#*_ ]{0,6}(?:(?:user|human)[*_]{0,2} ?:[*_]{0,2} (?=.*[a-z]{2})|"
    r"\[?next[^\]:\n]{0,20}[\]:] *$)",
    re.IGNORECASE | re.MULTILINE,
)
"""What the model makes a user say next."""


def is_cut(finish_reason: str | None) -> bool:
    """Return whether a model stopped because of the limit of its tokens."""
    return finish_reason is not None and finish_reason.lower() in _CUT


def _labelled(answer: str, labels: Labels, names: Names, stripped: str, *, cut: bool) -> Parsed:
    """Return the value of the label that is the answer."""
    reader = LabelReader(labels, names)
    found, rule = reader.find(answer)
    if cut and not (rule == "first_line" and len(answer.strip().split("\n")) > 1):
        # "no" may be the beginning of "not applicable".
        return _missing("truncated")
    if refuses_next_to_score(answer):
        return _missing("refusal")
    # Labels with the same value are words for the same answer.
    values = {float(labels[label]) for label in found or reader.mentioned(answer)}
    if len(values) > 1:
        return _missing("several_scores")
    if not found:
        return _missing("refusal" if is_refusal(answer) else "no_score")
    bare = any(stripped.casefold() == label.casefold() for label in found)
    return Parsed(values.pop(), None, "bare" if bare else rule)


def _why_missing(answer: str, scale: Scale, form: Form, names: Names) -> str:
    """Return the reason why a whole answer has no score."""
    if is_refusal(answer):
        return "refusal"
    last = answer.rstrip().rpartition("\n")[2] if form == "rationale" else ""
    if find_on_other_scale(answer, names) or (
        last and (find_on_other_scale(last, names) or score_in_last_sentence(last, None, names))
    ):
        return "other_scale"
    several = names_several(answer, scale, names)
    return "several_scores" if several else "no_score"


def _after_reason(answer: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score at the end of the last line, or below its label, after a reason."""
    body = answer.rstrip()
    gap = answer[len(body) :]
    reason, _, last = body.rpartition("\n")
    beside = ""
    # With the line break that follows it, if any: "1." may be the beginning of a list.
    score = find_score(last + gap, scale, names) if reason.strip() else None
    if score is None:
        score = score_in_last_sentence(last, scale, names)
        beside = score.tail if score else ""
        score = score and replace(score, ended="\n" in gap)
    if score is None or _goes_on_a_list(last, reason) or _is_introduced(score, last, reason):
        return None
    # What a judge says last stands, whatever it considered before.
    above = f"{reason}\n{score.tail}\n{score.reason}"
    return replace(score, rule="last_line", tail=beside, reason=above)


def _only_labelled(answer: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of the only labelled line, unless the line above says what it is."""
    score = labelled_line(answer, scale, names)
    if score is None:
        return None
    line = answer.split("\n")[score.reason.count("\n") + bool(score.reason)]
    return None if _is_introduced(score, line, score.reason) else score


def _is_introduced(score: ScoreMatch, last: str, reason: str) -> bool:
    """Return whether the line above says what the last one is: a quotation, a condition, a count.

    "It asks me to print\n100", "Number of words:\n85", "If it had sources:\nScore: 90".
    """
    above = reason.rstrip().rpartition("\n")[2].strip().strip("*_ ")
    if not re.search(r"\w", above):
        return False
    if last.strip().startswith((">", '"', "“")):
        return True
    if score.rule == "labelled":
        return above.endswith(":") and bool(_INTRODUCES.search(above))
    listed = re.match(r"[-*+•|#]|[0-9]+[.)]", above)
    if above.endswith(":"):
        rates = _SCORES.search(above) or NAMES_SCORE.search(above)
        return bool(_INTRODUCES.search(above)) or not rates
    return not (above.endswith(_SENTENCE_ENDS) or listed)


_SENTENCE_ENDS = (".", "!", "?", ")", '"', "]", "。", "！", "？", "”", "»", ">", "`", "|", "…")
_SCORES = re.compile(
    r"\b(?:answer|(?:i|we)(?:['’](?:d|ll|m)| would| will| am)? (?:(?:therefore|thus|hence|now) )?"
    r"(?:rat|scor|grad|mark|giv|assign|award|evaluat|assess)(?:e|ing)?)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:says?|said|reads?|contains?|includes?|instructs?|instruction|quotes?|quoted|example|"
    r"format|injected|asks?|(?<!you )asked|prints?|would|if|perfect|previous|human|text|line)\b",
    re.IGNORECASE,
)


def _goes_on_a_list(last: str, reason: str) -> bool:
    """Return whether a last line is the number of the next item of a list: the answer was cut."""
    item = _ITEM.fullmatch(last)
    return bool(item and re.search(rf"^\W*{int(item[1]) - 1}[.)]", reason, re.MULTILINE))


_ITEM = re.compile(r"[^A-Za-z0-9]*([0-9]{1,2})[.)]\W*", re.ASCII)


def _only_object(answer: str, scale: Scale, names: Names) -> ScoreMatch | None:
    """Return the score of the first object, also in a fence or a call, with text around it."""
    begins = _OBJECT.search(answer)
    if not begins:
        return None
    above = answer[: begins.start()]
    score = find_score(answer[begins.start("object") :], scale, names)
    introduction = above.rstrip().rpartition("\n")[2]
    if score is None or (introduction.endswith(":") and _INTRODUCES.search(introduction)):
        return None
    return replace(score, rule="last_line", reason=f"{above}\n{score.reason}")


_OBJECT = re.compile(
    r"^(?:\[\w+\] ?|(?:[^\n{}\"]{0,60}\bhere\b[^\n{}\"]{0,40}|output|answer|result|json|"
    r"evaluation): ?)?"
    r"(?:[\w.:=\[\]<>|-]*[\[(>] ?|```\w*\n)?(?P<object>\{)",
    re.MULTILINE | re.IGNORECASE,
)
"""The beginning of an object: on its line there are only the signs of a call or a fence."""


def _checked(score: ScoreMatch, answer: str, scale: Scale, names: Names, stripped: str) -> Parsed:
    value = float(score.number)
    if names_other_scale(answer, value, scale):
        return _missing("other_scale")
    contest = chain(
        labelled_scores(
            reason_alone(score.reason, scale),
            scale,
            names,
            parts=not score.named,
            considered=not (score.named and score.rule in {"last_line", "json"}),
        ),
        contests(score.tail, scale, names, parts=not score.named),
    )
    if score.rule == "json" and (said := only_given(score.reason, scale, names)):
        contest = chain(contest, [float(said.number)])
    if not score.named and score.rule == "last_line":
        # Parts without a sum, each beside the end of the scale.
        contest = chain(contest, whole_scores(score.reason, scale))
    # The same score may be repeated ("A score of 85 reflects ..."), to a limit.
    others = list(islice(contest, MOST_REPETITIONS + 1))
    if len(others) > MOST_REPETITIONS or any(other != value for other in others):
        return _missing("several_scores")
    reason = _why_not(score, value, answer, scale)
    if reason:
        return _missing(reason)
    return Parsed(value, None, "bare" if score.number == stripped else score.rule)


def _why_not(score: ScoreMatch, value: float, answer: str, scale: Scale) -> str | None:
    """Return the reason why the only score of an answer cannot be one on the scale."""
    if scale.problem(value):
        return "out_of_range"
    share = scale.min == 0 and 0 < value < 1 and scale.max >= _POINTS
    if share and not re.search(rf"{re.escape(score.number)} ?(?:%|/ ?100|out of 100)", answer):
        # A judge that answers .85 means the share, and one that answers .5 may.
        return "other_scale"
    if value == scale.max and names_maximum(answer, value):
        return "several_scores"
    refuses = refuses_to_rate(answer) or (value == scale.min and refuses_next_to_score(answer))
    return "refusal" if refuses else None


_POINTS = 10
"""On a scale up to this or more, a number between 0 and 1 may be a share."""


def _missing(reason: str) -> Parsed:
    return Parsed(None, reason, None)
