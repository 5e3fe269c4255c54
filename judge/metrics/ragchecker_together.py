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
from judge.protocol.exchange import Answer


class _Together(RagChecker):
    """Asks of each claim which passages entail it."""

    key = "ragchecker-together"

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

            shown_claims = numbered(claims[some])
            yield (
                self.prompt(
                    "check_together",
                    question=response.question,
                    passages=shown,
                    claims=shown_claims,
                ),
                read,
            )


class TogetherClaimRecall(_Together, ClaimRecall):
    """`ragchecker-claim-recall` with all passages in one prompt."""

    key = "ragchecker-together-claim-recall"


class TogetherContextPrecision(_Together, ContextPrecision):
    """`ragchecker-context-precision` with all passages in one prompt."""

    key = "ragchecker-together-context-precision"


class TogetherContextUtilization(_Together, ContextUtilization):
    """`ragchecker-context-utilization` with all passages in one prompt."""

    key = "ragchecker-together-context-utilization"


class TogetherFaithfulness(_Together, Faithfulness):
    """`ragchecker-faithfulness` with all passages in one prompt."""

    key = "ragchecker-together-faithfulness"


class TogetherHallucination(_Together, Hallucination):
    """`ragchecker-hallucination` with all passages in one prompt: low is good."""

    key = "ragchecker-together-hallucination"


class TogetherSelfKnowledge(_Together, SelfKnowledge):
    """`ragchecker-self-knowledge` with all passages in one prompt."""

    key = "ragchecker-together-self-knowledge"


class TogetherNoiseInRelevant(_Together, NoiseInRelevant):
    """`ragchecker-noise-relevant` with all passages in one prompt: low is good."""

    key = "ragchecker-together-noise-relevant"


class TogetherNoiseInIrrelevant(_Together, NoiseInIrrelevant):
    """`ragchecker-noise-irrelevant` with all passages in one prompt: low is good."""

    key = "ragchecker-together-noise-irrelevant"
