"""Metrics of Ragas (Es et al. 2023, arXiv 2309.15217, section 3), and those of its package.

Faithfulness, answer relevance and context relevance are defined in the paper, context precision,
context recall and answer correctness by the package (version 0.4.3). Answer relevance and answer
correctness also compare texts by their vectors, for which the run has an encoder.
"""

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from judge.metrics.embedding import TRUNCATED
from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    NoValueError,
    Prompt,
    Steps,
)
from judge.metrics.ragas_definitions import (
    NO_SENTENCES,
    NONCOMMITTAL,
    AnswerRelevanceDefinition,
    ContextRelevanceDefinition,
    FaithfulnessDefinition,
    Ragas,
)
from judge.metrics.ragas_paper import IN_PAPER_WORDS
from judge.metrics.retrieval import precisions_at_relevant
from judge.metrics.step_readers import cosine_in, is_word, labels_in, list_in, share, word_in
from judge.parsing.structured_answers import numbered, on_one_line
from judge.prompts.answer_schema import labels_schema, list_schema, word_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.sentences import sentences
from study.settings.constructs import RETRIEVAL

_ITEMS_A_PROMPT = 20
"""Statements or sentences that one prompt labels."""

_QUESTIONS = 3
"""Questions that are made from an answer, as in the paper's experiments and the package."""
PAPER_WORDS = "ragas-paper-v1"
"""The prompt version with the words of the paper."""
_STATEMENTS = list_schema("statements")
_VERDICTS = ("supported", "unsupported")
_USEFULNESS = ("useful", "useless")
_NEEDS = ("needed", "unneeded")
_PRESENCE = ("present", "absent")

Labels = Generator[Sequence[Prompt], Sequence[Answer], list[bool]]


class _OwnWords(Ragas):
    """Asks in this project's words."""

    prompts = step_prompts(__file__)
    items_a_prompt = _ITEMS_A_PROMPT

    @classmethod
    def create(cls, prompts: str, study_folder: Path | None) -> Metric:
        """Return the metric in this project's words, or in those of the paper."""
        if prompts == PAPER_WORDS and cls.key in IN_PAPER_WORDS:
            return IN_PAPER_WORDS[cls.key]()
        return super().create(prompts, study_folder)

    def _supported(self, response: MetricInput, text: str, none: str) -> Labels:
        """Return of each statement of a text whether the passages support it.

        Raises
        ------
        NoValueError
            The text makes no statement (reason `none`), or an answer can't be read.
        """
        [statements] = yield from self._statements(response.question, {none: text})
        blocks = _blocks(statements)
        answers = yield [
            self.prompt(
                "verdicts",
                labels_schema(len(block), _VERDICTS),
                context=response.context,
                statements=numbered(block),
            )
            for block in blocks
        ]
        return _are(blocks, answers, _VERDICTS)

    def _statements(
        self, question: str, texts: Mapping[str, str], may_lack: Sequence[str] = ()
    ) -> Generator[Sequence[Prompt], Sequence[Answer], list[list[str]]]:
        """Return the statements of each text, by the reason for which there are none.

        The lists of `may_lack` may be empty.
        """
        for none, text in texts.items():
            if not text.strip():
                raise NoValueError(none)
        answers = yield [
            self.prompt("statements", _STATEMENTS, question=question, answer=text)
            for text in texts.values()
        ]
        lists = [list_in(answer, "statements") for answer in answers]
        for none, statements in zip(texts, lists, strict=True):
            if not statements and none not in may_lack:
                raise NoValueError(none)
        return lists


class RagasFaithfulness(_OwnWords, FaithfulnessDefinition):
    """Share of the response's statements that the passages support (section 3, faithfulness)."""

    def score(self, response: MetricInput) -> Steps:
        """List the statements, and label each."""
        supported = yield from self._supported(response, response.response, "no_statements")
        return share(supported)


class RagasContextRecall(_OwnWords):
    """Share of the reference answer's statements that the passages support (package)."""

    key = "ragas-context-recall"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context", "reference")

    def score(self, response: MetricInput) -> Steps:
        """List the statements of the reference answer, and label each."""
        none = "no_reference_statements"
        supported = yield from self._supported(response, response.reference, none)
        return share(supported)


class RagasContextPrecision(_OwnWords):
    """Mean of the precisions at the ranks of useful passages, 0 without any (package)."""

    key = "ragas-context-precision"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context", "reference")
    steps = 1

    def score(self, response: MetricInput) -> Steps:
        """Ask of each passage whether it is useful."""
        answers = yield [
            self.prompt(
                "usefulness",
                word_schema(_USEFULNESS),
                question=response.question,
                reference=response.reference,
                passage=passage,
            )
            for passage in response.passages
        ]
        useful = [word_in(answer, _USEFULNESS) == "useful" for answer in answers]
        precisions = precisions_at_relevant([int(is_useful) for is_useful in useful])
        value = sum(precisions) / len(precisions) if precisions else 0.0
        return MetricValue(value, parts={"useful": sum(useful), "of": len(useful)})


class RagasContextRelevance(_OwnWords, ContextRelevanceDefinition):
    """Share of the passages' sentences that are needed (section 3, context relevance).

    The sentences are numbered and labeled, where the paper asks for copies of them: a copy in other
    words could not be counted. Passages without a sentence have the value 0.
    """

    def score(self, response: MetricInput) -> Steps:
        """Label each sentence of the passages."""
        found = [on_one_line(s) for passage in response.passages for s in sentences(passage)]
        blocks = _blocks(found)
        if not blocks:
            return NO_SENTENCES
        answers = yield [
            self.prompt(
                "extraction",
                labels_schema(len(block), _NEEDS),
                question=response.question,
                sentences=numbered(block),
            )
            for block in blocks
        ]
        return share(_are(blocks, answers, _NEEDS))


class RagasAnswerRelevance(_OwnWords, AnswerRelevanceDefinition):
    """Mean cosine of the question and questions made from the response alone (section 3).

    The paper leaves their number n open, and the package's is 3. A response that commits to nothing
    has the value 0, a rule of the package; one without text commits to nothing.
    """

    def score(self, response: MetricInput) -> Steps:
        """Make the questions, and compare each with the question that was asked."""
        if not response.response.strip():
            return MetricValue(0.0, NONCOMMITTAL)
        shown = {"answer": response.response}
        [answer] = yield [self.prompt("questions", list_schema("questions"), **shown)]
        if is_word(answer, NONCOMMITTAL):
            return MetricValue(0.0, NONCOMMITTAL)
        questions = list_in(answer, "questions")
        # Where a list is enforced, the word can only be its single item.
        if [question.casefold() for question in questions] == [NONCOMMITTAL]:
            return MetricValue(0.0, NONCOMMITTAL)
        if not questions:
            return MissingValue("no_questions")
        if len(questions) != _QUESTIONS:
            return MissingValue("questions_unreadable")
        return (yield from self.mean_cosine(response.question, questions))


class RagasAnswerCorrectness(_OwnWords):
    """.75 of the F1 of statements and .25 of the cosine with the reference answer (package).

    F1 = TP / (TP + (FP + FN) / 2), where TP are the response's statements that those of the
    reference answer support, FP its others, and FN the reference answer's statements that those of
    the response do not support. A response without statements has F1 0, and one without text, which
    has no vector either, the value 0.
    """

    key = "ragas-answer-correctness"
    constructs = ("AC",)
    fields = ("question", "response", "reference")
    scale = Scale(min=-0.25, max=1)
    reference_reasons = ("no_reference_statements",)
    compares_texts = True

    def score(self, response: MetricInput) -> Steps:
        """List the statements of both texts, and look for each in the other list."""
        if not response.response.strip():
            return MetricValue(0.0, "empty_response")
        made, expected = yield from self._statements(
            response.question,
            {"no_statements": response.response, "no_reference_statements": response.reference},
            may_lack=("no_statements",),
        )
        directions = ((expected, made), (made, expected)) if made else ()
        blocks = [(given, block) for given, items in directions for block in _blocks(items)]
        *answers, compared = yield [
            *(
                self.prompt(
                    "presence",
                    labels_schema(len(block), _PRESENCE),
                    question=response.question,
                    given=numbered(given),
                    statements=numbered(block),
                )
                for given, block in blocks
            ),
            self.cosine(response.response, response.reference),
        ]
        present = _are([block for _, block in blocks], answers, _PRESENCE)
        correct = sum(present[: len(made)])
        missed = len(expected) - sum(present[len(made) :])  # not read where nothing is correct
        f1 = correct / (correct + (len(made) - correct + missed) / 2) if correct else 0.0
        similarity, truncated = cosine_in(compared)
        parts = {"f1": f1, "similarity": similarity, **({TRUNCATED: 1} if truncated else {})}
        return MetricValue(0.75 * f1 + 0.25 * similarity, parts=parts)


def _blocks(items: Sequence[str]) -> list[Sequence[str]]:
    starts = range(0, len(items), _ITEMS_A_PROMPT)
    return [items[start : start + _ITEMS_A_PROMPT] for start in starts]


def _are(
    blocks: Sequence[Sequence[str]], answers: Sequence[Answer], labels: Sequence[str]
) -> list[bool]:
    """Return of each item whether its label is the first one."""
    return [
        label == labels[0]
        for block, answer in zip(blocks, answers, strict=True)
        for label in labels_in(answer, len(block), labels)
    ]
