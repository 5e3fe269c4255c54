"""Metrics of Ragas (Es et al. 2023, arXiv 2309.15217, section 3), and those of its package.

Faithfulness and context relevance are defined in the paper, context precision and context recall
by the package (version 0.4.3). Answer relevance and answer correctness also need vectors of texts;
they are not measured here.
"""

from collections.abc import Generator, Sequence

from judge.metrics.metric import (
    Metric,
    MetricInput,
    MetricValue,
    MissingValue,
    NoValueError,
    Prompt,
    Steps,
)
from judge.metrics.retrieval import precisions_at_relevant
from judge.metrics.step_readers import labels_in, list_in, share, word_in
from judge.parsing.structured_answers import numbered, on_one_line
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from judge.text import sentences
from study.scales import RatingScale
from study.settings.constructs import RETRIEVAL
from study.types import Sees

_ITEMS_A_PROMPT = 20
"""Statements or sentences that one prompt labels."""

Labels = Generator[Sequence[Prompt], Sequence[Answer], list[bool]]


class Ragas(Metric):
    """Base of the metrics."""

    key = "ragas"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ()
    scorer_kind = "metric"
    scale = RatingScale(min=0, max=1)
    steps = 2
    prompts = step_prompts(__file__)

    def _supported(self, response: MetricInput, text: str, none: str) -> Labels:
        """Return of each statement of a text whether the passages support it.

        Raises
        ------
        NoValueError
            The text makes no statement (reason `none`), or an answer can't be read.
        """
        if not text.strip():
            raise NoValueError(none)
        [answer] = yield [self.prompt("statements", question=response.question, answer=text)]
        statements = list_in(answer, "statements")
        if not statements:
            raise NoValueError(none)
        blocks = _blocks(statements)
        answers = yield [
            self.prompt("verdicts", context=response.context, statements=numbered(block))
            for block in blocks
        ]
        return _are(blocks, answers, "supported", "unsupported")


class RagasFaithfulness(Ragas):
    """Share of the response's statements that the passages support (section 3, faithfulness)."""

    key = "ragas-faithfulness"
    constructs = ("CC",)
    fields = ("question", "response", "context")

    def score(self, response: MetricInput) -> Steps:
        """List the statements, and label each."""
        supported = yield from self._supported(response, response.response, "no_statements")
        return share(supported)


class RagasContextRecall(Ragas):
    """Share of the reference answer's statements that the passages support (package)."""

    key = "ragas-context-recall"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context", "reference")

    def score(self, response: MetricInput) -> Steps:
        """List the statements of the reference answer, and label each."""
        none = "no_reference_statements"
        supported = yield from self._supported(response, response.reference, none)
        return share(supported)


class RagasContextPrecision(Ragas):
    """Mean of the precisions at the ranks of useful passages (package)."""

    key = "ragas-context-precision"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context", "reference")
    steps = 1

    def score(self, response: MetricInput) -> Steps:
        """Ask of each passage whether it is useful."""
        answers = yield [
            self.prompt(
                "usefulness",
                question=response.question,
                reference=response.reference,
                passage=passage,
            )
            for passage in response.passages
        ]
        useful = [word_in(answer, ("useful", "useless")) == "useful" for answer in answers]
        precisions = precisions_at_relevant([int(is_useful) for is_useful in useful])
        if not precisions:
            return MissingValue("no_useful_passages")
        value = sum(precisions) / len(precisions)
        return MetricValue(value, parts={"useful": sum(useful), "of": len(useful)})


class RagasContextRelevance(Ragas):
    """Share of the passages' sentences that are needed (section 3, context relevance).

    The sentences are numbered and labeled, where the paper asks for copies of them: a copy in other
    words could not be counted.
    """

    key = "ragas-context-relevance"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context")
    steps = 1

    def score(self, response: MetricInput) -> Steps:
        """Label each sentence of the passages."""
        found = [on_one_line(s) for passage in response.passages for s in sentences(passage)]
        blocks = _blocks(found)
        if not blocks:
            return MissingValue("no_sentences")
        answers = yield [
            self.prompt("extraction", question=response.question, sentences=numbered(block))
            for block in blocks
        ]
        return share(_are(blocks, answers, "needed", "unneeded"))


def _blocks(items: Sequence[str]) -> list[Sequence[str]]:
    starts = range(0, len(items), _ITEMS_A_PROMPT)
    return [items[start : start + _ITEMS_A_PROMPT] for start in starts]


def _are(
    blocks: Sequence[Sequence[str]], answers: Sequence[Answer], yes: str, no: str
) -> list[bool]:
    """Return of each item whether its label is `yes`."""
    return [
        label == yes
        for block, answer in zip(blocks, answers, strict=True)
        for label in labels_in(answer, len(block), (yes, no))
    ]
