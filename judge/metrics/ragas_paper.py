"""Metrics of Ragas in the words of its paper (Es et al. 2023, arXiv 2309.15217, section 3).

The paper states no format of the answers, so these are read by rules of this project: whole or not
at all, as everywhere.
"""

import re
from collections.abc import Sequence

from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    NoValueError,
    Steps,
)
from judge.metrics.ragas_definitions import (
    NO_SENTENCES,
    NONCOMMITTAL,
    AnswerRelevanceDefinition,
    ContextRelevanceDefinition,
    FaithfulnessDefinition,
)
from judge.metrics.step_readers import share
from judge.parsing.markup import after_thinking
from judge.parsing.parse_answer import is_cut
from judge.parsing.structured_answers import UnreadableError, ascii_digits, on_one_line, read_list
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.sentences import sentences

_PROMPTS = step_prompts(__file__)
_FINAL = re.compile(r"\bfinal\s+verdicts?\b", re.IGNORECASE)
_VERDICT = re.compile(
    r"^(?:[^\w\n]*(\d{1,3})[.):])?.*\bverdict[^\w\n]+(yes|no)[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_AROUND = frozenset(
    {"verdict", "verdicts", "statement", "statements", "for", "each", "in", "order"}
)
"""Words that a list of final verdicts may have in addition to them."""
_ANSWERS = frozenset({"yes", "no"})
_NOTHING = "insufficient information"
_BULLET = re.compile(r"\A(?:[-*•]|\(?\d{1,3}[.):])\s+")


class PaperFaithfulness(FaithfulnessDefinition):
    """Share of the response's statements that the passages support (section 3, faithfulness)."""

    prompts = _PROMPTS

    def score(self, response: MetricInput) -> Steps:
        """List the statements, and ask for the verdicts on all of them in one prompt."""
        text = response.response
        if not text.strip():
            return MissingValue("no_statements")
        [answer] = yield [self.prompt("statements", question=response.question, answer=text)]
        statements = _statements(answer)
        [answer] = yield [
            self.prompt(
                "verdicts",
                context=response.context,
                statements="\n".join(f"statement: {statement}" for statement in statements),
            )
        ]
        return share(_verdicts(answer, len(statements)))


class PaperAnswerRelevance(AnswerRelevanceDefinition):
    """Cosine of the question and a question made from the response (section 3, answer relevance).

    The paper takes the mean over n questions from the same prompt. At temperature 0 they are equal,
    so here n is the number of repeats of the run, each with a separate question.
    """

    prompts = _PROMPTS

    def score(self, response: MetricInput) -> Steps:
        """Make one question, and compare it with the question that was asked."""
        if not response.response.strip():
            return MetricValue(0.0, NONCOMMITTAL)
        [answer] = yield [self.prompt("question", answer=response.response)]
        question = on_one_line(_whole(answer, "questions"))
        return (yield from self.mean_cosine(response.question, [question]))


class PaperContextRelevance(ContextRelevanceDefinition):
    """Share of the passages' sentences that are extracted (section 3, context relevance).

    Both are cut into sentences by one rule, and an extracted sentence counts where it is one of the
    passages', except for capitals and white space. Others are counted as `not_verbatim`.
    """

    prompts = _PROMPTS

    def score(self, response: MetricInput) -> Steps:
        """Ask for the sentences, and look for them in the passages."""
        found = {_plain(s) for passage in response.passages for s in _sentences(passage)}
        if not found:
            return NO_SENTENCES
        shown = {"question": response.question, "context": response.context}
        [answer] = yield [self.prompt("extraction", **shown)]
        text = _whole(answer, "sentences")
        if _plain(text).strip("\"'“”.") == _NOTHING:
            return MetricValue(0.0, parts={"counted": 0, "of": len(found)})
        extracted = {_plain(s) for s in _sentences(text)}
        verbatim = extracted & found
        if not verbatim:
            return MissingValue("not_verbatim", {"not_verbatim": len(extracted)})
        parts = {
            "counted": len(verbatim),
            "of": len(found),
            "not_verbatim": len(extracted) - len(verbatim),
        }
        return MetricValue(len(verbatim) / len(found), parts=parts)


IN_PAPER_WORDS: dict[str, type[Metric]] = {
    metric.key: metric
    for metric in (PaperFaithfulness, PaperAnswerRelevance, PaperContextRelevance)
}
"""The metrics that the paper defines, by key."""


def _whole(answer: Answer, what: str) -> str:
    """Return an answer without its think block.

    Raises
    ------
    NoValueError
        It is empty, or was cut off.
    """
    if is_cut(answer.finish_reason):
        raise NoValueError(f"{what}_truncated")
    text = (after_thinking(answer.text or "") or "").strip()
    if not text:
        raise NoValueError(f"{what}_unreadable")
    return text


def _statements(answer: Answer) -> list[str]:
    """Return the items of a list, or lines that are all sentences."""
    text = _whole(answer, "statements")
    try:
        items = read_list(text)
    except UnreadableError as error:
        if error.fault != "unreadable":
            raise NoValueError(f"statements_{error.fault}") from None
        items = [on_one_line(line) for line in text.splitlines() if line.strip()]
        if not all(item.endswith((".", "!", "?", "。")) for item in items):
            raise NoValueError("statements_unreadable") from None
    if not items:
        raise NoValueError("no_statements")
    return items


def _verdicts(answer: Answer, number: int) -> Sequence[bool]:
    """Return the final verdicts.

    They are what follows "Final verdict", or an answer that consists of verdicts, or else the words
    after "Verdict" at the end of lines. Where they are numbered, it is from 1 to `number`; the
    introduction may have their number in brackets.
    """
    text = _whole(answer, "verdicts")
    *explained, last = _FINAL.split(text)
    last = re.sub(rf"\A([^\n:(]*)\({number}\)(?=\s*:)", r"\1", last)
    words = [word for found in _WORD.findall(last) if (word := found.casefold()) not in _AROUND]
    numbers = [ascii_digits(place) for place in _NUMBER.findall(last)]
    if not explained and not _ANSWERS.issuperset(words):
        found = _VERDICT.findall(text)
        words = [word.casefold() for _, word in found]
        numbers = [ascii_digits(place) for place, _ in found if place]
    places = [str(place) for place in range(1, number + 1)]
    if len(words) != number or not _ANSWERS.issuperset(words) or numbers not in ([], places):
        raise NoValueError("labels_unreadable")
    return [word == "yes" for word in words]


def _sentences(text: str) -> list[str]:
    return [s for line in text.splitlines() for s in sentences(_BULLET.sub("", line.strip()))]


def _plain(text: str) -> str:
    return on_one_line(text).strip("\"'“” ").casefold()
