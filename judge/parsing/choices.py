"""Reads which of two responses an answer prefers."""

import re
from itertools import chain

from judge.parsing.markup import after_thinking, plain, undecorated, unmarked
from judge.parsing.parse_answer import Parsed, parse_answer
from judge.parsing.score_patterns import Names
from study.base.scales import Scale

FIRST, TIE, SECOND = -1.0, 0.0, 1.0
_SCALE = Scale(min=FIRST, max=SECOND)

_OF_ONE = (
    "{0}", "#{0}", "response {0}", "response #{0}", "answer {0}", "response {0} is better",
    "response {0} wins", "{0} is better", "the response {0}", "{1}", "the {1}", "{1} response",
    "the {1} response", "{1} is better", "the {1} is better", "the {1} response is better",
)  # fmt: skip
_TIES = (
    "tie", "a tie", "it is a tie", "it s a tie", "tied", "draw", "a draw", "equal", "both",
    "both are equal", "both equal", "both are equally good", "both responses are equally good",
    "the responses are equal", "the responses are equally good", "equally good", "equally bad",
    "neither", "neither is better", "neither response is better", "neither response", "the same",
    "no preference", "no difference",
)  # fmt: skip
LABELS = {
    **{form.format("1", "first"): FIRST for form in _OF_ONE},
    **{form.format("2", "second"): SECOND for form in _OF_ONE},
    **dict.fromkeys(_TIES, TIE),
}
"""What an answer may consist of, as labels of `parse_answer`."""
_NAMES = ("better response", "better", "winner", "preferred response", "preference", "best")

_RESPONSE = (
    r"(?:\b(?:response|answer) ?#? ?(?P<number>[12])\b|"
    r"\bthe (?P<ordinal>first|second) (?:response|answer|one)\b)"
)
_DEGREE = (
    r"(?:(?:clearly|slightly|much|somewhat|marginally|overall|far|significantly|definitely|a bit|"
    r"a little|generally|therefore|thus|the) )*"
)
# "better written" and "better if" say less than "better".
_FOLLOWS = r"(?=[.,;:!]|\Z| -| (?:than|overall|here|because|since|as|at|for|with|on|in)\b)"
_SAYS = (
    re.compile(
        rf"{_RESPONSE} (?:(?:is|was) {_DEGREE}(?:better|best|preferable|preferred|superior|winner)"
        rf"(?: (?:response|answer|one|choice))?|wins){_FOLLOWS}"
    ),
    re.compile(rf"\bi (?:would |will )?(?:prefer|choose|pick|select) {_RESPONSE}{_FOLLOWS}"),
)
_SAYS_TIE = re.compile(
    r"\b(?:neither(?: response| answer| one)? is (?:clearly )?better|"
    r"(?:it|this) is an? (?:tie|draw)|"
    r"(?:both|the|the two) (?:responses|answers) are (?:about |roughly |essentially )?"
    rf"(?:equal|equally (?:good|bad|relevant)|tied)){_FOLLOWS}"
)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?]) +|\n+")


def read_choice(answer: str | None, finish_reason: str | None = None, names: Names = ()) -> Parsed:
    """Return the choice that an answer makes between two responses, named 1 and 2.

    Parameters
    ----------
    answer
        The text that the model returned.
    finish_reason
        Why the model stopped, as the server reports.
    names
        Names of the construct, which may be labels: "Question Relevance: 2".

    Returns
    -------
    Parsed
        -1: the first response is better; 1: the second; 0: a tie; or the reason of
        `parse_answer` where there is none. A choice is read from a line that consists of it or
        names it ("Answer: 2"), else from the sentences, as far as they make a single choice in the
        first or the last one.
    """
    parsed = parse_answer(answer, _SCALE, finish_reason, names=(*_NAMES, *names), labels=LABELS)
    if parsed.reason not in {"no_score", "several_scores"}:
        return parsed
    sentences = _sentences(answer or "")
    choices = [_choices(sentence) for sentence in sentences]
    if not sentences or not (choices[0] or choices[-1]):
        return parsed
    found = set(chain.from_iterable(choices))
    if len(found) > 1:
        return Parsed(None, "several_scores", None)
    return Parsed(found.pop(), None, "sentence")


def _sentences(answer: str) -> list[str]:
    lines = [undecorated(line) or unmarked(line) for line in plain(answer).split("\n")]
    text = "\n".join(" ".join(line.casefold().split()) for line in lines)
    return [part for part in _SENTENCE_ENDS.split(after_thinking(text) or "") if part]


def _choices(sentence: str) -> set[float]:
    if sentence.endswith("?"):
        return set()
    named = [match for pattern in _SAYS for match in pattern.finditer(sentence)]
    ties = {TIE for _ in _SAYS_TIE.finditer(sentence)}
    first = {"1", "first"}
    return ties | {FIRST if first & set(match.groups()) else SECOND for match in named}
