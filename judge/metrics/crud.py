"""RAGQuestEval of CRUD-RAG (Lyu et al. 2024, arXiv 2401.17043): questions on the reference answer.

Questions are made from the reference answer and answered from it; those that it does not answer are
dropped. The others are answered from the response. The precision of a response that answers none of
them is 0, as in the authors' code.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple

from judge.metrics.lexical import token_f1
from judge.metrics.metric import Metric, MetricInput, MetricValue, NoValueError, Prompt, Steps
from judge.metrics.step_readers import list_in, share, texts_in
from judge.parsing.structured_answers import numbered
from judge.prompts.answer_schema import list_schema, texts_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.types import Sees

_UNANSWERABLE = "unanswerable"
_QUESTIONS = list_schema("questions")


class AnsweredQuestion(NamedTuple):
    """The answers to a question on the reference answer."""

    reference: str
    response: str | None
    """None: the response does not answer it."""


class Crud(Metric):
    """Base of the metrics, which share all prompts."""

    key = "crud"
    version = "6"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ("question", "response", "reference")
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    steps = 3
    reference_reasons = ("no_questions",)
    prompts = step_prompts(__file__)

    def _answered(
        self, response: MetricInput
    ) -> Generator[Sequence[Prompt], Sequence[Answer], list[AnsweredQuestion]]:
        """Return the answers to each question that the reference answer answers.

        Raises
        ------
        NoValueError
            There is no such question, or an answer can't be read.
        """
        if not response.reference.strip():
            raise NoValueError("no_questions")
        asked = self.prompt(
            "questions", _QUESTIONS, question=response.question, text=response.reference
        )
        [answer] = yield [asked]
        questions = list_in(answer, "questions")
        if not questions:
            raise NoValueError("no_questions")
        [answer] = yield [self._answers(response.reference, questions)]
        expected = [
            (question, text)
            for question, text in zip(questions, texts_in(answer, len(questions)), strict=True)
            if not _is_unanswerable(text)
        ]
        if not expected:
            raise NoValueError("no_questions")
        kept = [question for question, _ in expected]
        if response.response.strip():
            [answer] = yield [self._answers(response.response, kept)]
            given = texts_in(answer, len(kept))
        else:
            given = [_UNANSWERABLE] * len(kept)
        return [
            AnsweredQuestion(text, None if _is_unanswerable(found) else found)
            for (_, text), found in zip(expected, given, strict=True)
        ]

    def _answers(self, text: str, questions: Sequence[str]) -> Prompt:
        schema = texts_schema(len(questions))
        return self.prompt("answers", schema, text=text, questions=numbered(questions))


class CrudRecall(Crud):
    """Share of the questions that the response answers."""

    key = "crud-recall"
    constructs = ("IR",)

    def score(self, response: MetricInput) -> Steps:
        """Count the questions with an answer."""
        answered = yield from self._answered(response)
        return share([question.response is not None for question in answered])


class CrudPrecision(Crud):
    """Mean token F1 of the response's answers with those of the reference answer."""

    key = "crud-precision"
    constructs = ("AC",)

    def score(self, response: MetricInput) -> Steps:
        """Compare the answers to the questions that the response answers."""
        answered = yield from self._answered(response)
        values = [
            token_f1(question.response, [question.reference])
            for question in answered
            if question.response is not None
        ]
        parts = {"answered": len(values), "of": len(answered)}
        return MetricValue(sum(values) / len(values) if values else 0.0, parts=parts)


def _is_unanswerable(text: str) -> bool:
    return text.strip(" .").casefold() == _UNANSWERABLE
