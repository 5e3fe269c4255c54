"""What the metrics of Ragas' paper measure, whatever the words of their prompts.

Es et al. 2023 (arXiv 2309.15217), section 3. `judge.metrics.ragas` asks in this project's words,
`judge.metrics.ragas_paper` in those of the paper.
"""

from collections.abc import Sequence

from judge.metrics.embedding import TRUNCATED
from judge.metrics.metric import Metric, MetricValue, Steps
from judge.metrics.step_readers import cosine_in
from study.base.scales import Scale
from study.settings.constructs import RETRIEVAL
from study.types import Sees

NONCOMMITTAL = "noncommittal"
"""Rule of the value 0 of a response that commits to nothing."""
NO_SENTENCES = MetricValue(0.0, "no_sentences")
"""The relevance of passages without a sentence: none of them is needed."""


class Ragas(Metric):
    """Base of the metrics of Ragas."""

    key = "ragas"
    version = "6"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ()
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    steps = 2


class FaithfulnessDefinition(Ragas):
    """Share of the response's statements that the passages support."""

    key = "ragas-faithfulness"
    constructs = ("CC",)
    fields = ("question", "response", "context")


class AnswerRelevanceDefinition(Ragas):
    """Mean cosine of the question and questions made from the response alone."""

    key = "ragas-answer-relevance"
    version = "6"
    constructs = ("QR",)
    fields = ("question", "response")
    scale = Scale(min=-1, max=1)
    compares_texts = True

    def mean_cosine(self, question: str, others: Sequence[str]) -> Steps:
        """Compare each question with the one that was asked."""
        answers = yield [self.cosine(question, other) for other in others]
        cosines, truncated = zip(*map(cosine_in, answers), strict=True)
        parts = {"questions": len(cosines), **({TRUNCATED: 1} if any(truncated) else {})}
        return MetricValue(sum(cosines) / len(cosines), parts=parts)


class ContextRelevanceDefinition(Ragas):
    """Share of the passages' sentences that are needed to answer the question."""

    key = "ragas-context-relevance"
    constructs = (RETRIEVAL.key,)
    fields = ("question", "context")
    steps = 1
