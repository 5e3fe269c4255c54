"""RAGChecker's metrics on passages, with all passages of a response in one prompt.

The claims, the definitions and the other checks are those of `judge.metrics.ragchecker`, whose
answers are used as well. For each claim the model names the passages that entail it, which takes
far fewer prompts. Long prompts lead to other errors, so the metrics have names of their own.
"""

from collections.abc import Iterator, Sequence

from judge.metrics.metric import MetricInput
from judge.metrics.ragchecker import (
    AskedClaims,
    Bools,
    ClaimRecall,
    ContextPrecision,
    ContextUtilization,
    Faithfulness,
    Hallucination,
    NoiseInIrrelevant,
    NoiseInRelevant,
    RagChecker,
    SelfKnowledge,
    blocks,
)
from judge.metrics.step_readers import numbers_in
from judge.parsing.structured_answers import numbered
from judge.prompts.answer_schema import numbers_schema
from judge.protocol.exchange import Answer


class _Together(RagChecker):
    """Asks of each claim which passages entail it."""

    key = "ragchecker-together"
    label_of_numbers = "entailed"

    def asked(
        self, response: MetricInput, by: str, claims: Sequence[str], entailed: Bools
    ) -> Iterator[AskedClaims]:
        """Yield prompts with all passages that have text; other texts are asked alone."""
        if by != "passages":
            yield from super().asked(response, by, claims, entailed)
            return
        columns = [n for n, passage in enumerate(response.passages) if passage.strip()]
        shown = "\n\n".join(
            f"[{number}]\n{response.passages[column].strip()}"
            for number, column in enumerate(columns, 1)
        )
        for some in blocks(claims) if columns else ():

            def read(answer: Answer, rows: Bools = entailed[some]) -> None:
                for row, found in enumerate(numbers_in(answer, len(rows), len(columns))):
                    rows[row, [columns[number - 1] for number in found]] = True

            checked = claims[some]
            texts = {"question": response.question, "passages": shown}
            schema = numbers_schema(len(checked), len(columns))
            yield self.prompt("check_together", schema, **texts, claims=numbered(checked)), read


def _together(metric: type[RagChecker]) -> type[RagChecker]:
    """Return a metric with all passages of a response in one prompt."""
    key = metric.key.replace("ragchecker-", "ragchecker-together-")
    doc = f"`{metric.key}` with all passages in one prompt."
    return type(f"Together{metric.__name__}", (_Together, metric), {"key": key, "__doc__": doc})


TogetherClaimRecall = _together(ClaimRecall)
TogetherContextPrecision = _together(ContextPrecision)
TogetherContextUtilization = _together(ContextUtilization)
TogetherFaithfulness = _together(Faithfulness)
TogetherHallucination = _together(Hallucination)
TogetherSelfKnowledge = _together(SelfKnowledge)
TogetherNoiseInRelevant = _together(NoiseInRelevant)
TogetherNoiseInIrrelevant = _together(NoiseInIrrelevant)
