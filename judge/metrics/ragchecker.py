"""RAGChecker: metrics from claims and what entails them (Ru et al. 2024, arXiv 2408.08067).

The claims of the response and of the reference answer are listed, and each is checked against the
other text and against each passage. The metrics are shares of claims, or of passages, as section
3.3 of the paper defines them; the two noise sensitivities are exclusive, as the authors' package
computes them, so that precision, both noise sensitivities and hallucination add up to 1: for this,
all of them read the first of several reference answers.

A response without claims has a precision and an F1 of 0, as in the package: it makes no correct
claim. The other shares of its claims are undefined, where the package stores 0, the best value of
hallucination. An answer with a label too few or too many is missing, where the package completes or
cuts it.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from judge.metrics.metric import Metric, MetricInput, MetricValue, NoValueError, Prompt, Steps
from judge.metrics.step_readers import labels_in, list_in
from judge.parsing.structured_answers import numbered
from judge.prompts.answer_schema import labels_schema, list_schema
from judge.prompts.step_prompts import step_prompts
from judge.protocol.exchange import Answer
from study.base.scales import Scale
from study.settings.constructs import RETRIEVAL
from study.types import Sees

CLAIMS_A_PROMPT = 5
"""Claims that one prompt checks, as in the authors' package."""
_ENTAILED = "entailed"
_LABELS = (_ENTAILED, "neutral", "contradicted")

_CLAIMS = list_schema("claims")

Bools = NDArray[np.bool_]

Check = Literal[
    "response_by_reference",
    "reference_by_response",
    "response_by_passages",
    "reference_by_passages",
]
"""Whose claims are checked by which texts."""

AskedClaims = tuple[Prompt, Callable[[Answer], None]]
"""A prompt that checks some claims, and the function that reads its answer."""


@dataclass(frozen=True)
class Checks:
    """Which claims are entailed: a row for each claim, a column for each text that may entail it.

    Only the checks that the metric needs were made; the others are absent.
    """

    entailed: dict[Check, Bools]

    @property
    def correct(self) -> Bools:
        """Shape (claims of the response,): the reference answer entails the claim."""
        return self.entailed["response_by_reference"][:, 0]

    @property
    def supported(self) -> Bools:
        """Shape (claims of the response,): some passage entails the claim."""
        return _any(self.entailed["response_by_passages"], 1)

    @property
    def recalled(self) -> Bools:
        """Shape (claims of the reference answer,): the response entails the claim."""
        return self.entailed["reference_by_response"][:, 0]

    @property
    def retrieved(self) -> Bools:
        """Shape (claims of the reference answer,): some passage entails the claim."""
        return _any(self.entailed["reference_by_passages"], 1)

    @property
    def relevant(self) -> Bools:
        """Shape (passages,): the passage entails a claim of the reference answer."""
        return _any(self.entailed["reference_by_passages"], 0)

    @property
    def supported_by_relevant(self) -> Bools:
        """Shape (claims of the response,): a relevant passage entails the claim."""
        return _any(self.entailed["response_by_passages"][:, self.relevant], 1)


def _any(entailed: Bools, axis: int) -> Bools:
    return np.asarray(entailed.any(axis=axis), dtype=np.bool_)


class RagChecker(Metric):
    """Base of the metrics: lists claims in a first step, and checks them in a second."""

    key = "ragchecker"
    version = "6"
    constructs: tuple[str, ...] = ()
    fields: tuple[Sees, ...] = ()
    scorer_kind = "metric"
    scale = Scale(min=0, max=1)
    steps = 2
    prompts = step_prompts(__file__)
    items_a_prompt = CLAIMS_A_PROMPT
    checks: ClassVar[tuple[Check, ...]] = ()
    """The checks that the metric needs, and no others are made."""
    without_claims: ClassVar[float | None] = None
    """Value of a response that makes no claim; None: it is undefined."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        words = {word for check in cls.checks for word in check.split("_by_")}
        reads: list[tuple[Sees, bool]] = [
            ("question", True),
            ("response", "response" in words),
            ("context", "passages" in words),
            ("reference", "reference" in words),
        ]
        cls.fields = tuple(name for name, needed in reads if needed)

    def counted(self, checks: Checks) -> Bools:
        """Return for each claim, or each passage, whether it counts; the value is their share."""
        raise NotImplementedError

    def score(self, response: MetricInput) -> Steps:
        """List the claims, check them, and return the metric's share of them."""
        try:
            claims = yield from self._claims(response)
        except NoValueError as none:
            if self.without_claims is None or none.missing.reason != _NO_CLAIMS["response"]:
                raise
            return MetricValue(self.without_claims, none.missing.reason)
        checks = yield from self._checks(response, claims)
        return self.value(checks)

    def value(self, checks: Checks) -> MetricValue:
        """Return the value that follows from the checks."""
        counted = self.counted(checks)
        parts = {"counted": float(counted.sum()), "of": float(counted.size)}
        return MetricValue(float(counted.mean()), parts=parts)

    def _claims(
        self, response: MetricInput
    ) -> Generator[Sequence[Prompt], Sequence[Answer], dict[str, list[str]]]:
        """Return the claims of the response, of the reference answer, or of both, by name.

        Raises
        ------
        NoValueError
            A list can't be read, or is empty.
        """
        texts = {}
        for name in dict.fromkeys(check.split("_by_")[0] for check in self.checks):
            texts[name] = response.response if name == "response" else response.reference
            if not texts[name].strip():
                raise NoValueError(_NO_CLAIMS[name])
        answers = yield [
            self.prompt("claims", _CLAIMS, question=response.question, text=text)
            for text in texts.values()
        ]
        claims = {}
        for name, answer in zip(texts, answers, strict=True):
            found = list_in(answer, "claims")
            if not found:
                raise NoValueError(_NO_CLAIMS[name])
            claims[name] = found
        return claims

    def _checks(
        self, response: MetricInput, claims: dict[str, list[str]]
    ) -> Generator[Sequence[Prompt], Sequence[Answer], Checks]:
        """Return which claims the texts entail; all prompts are asked in one list."""
        entailed: dict[Check, Bools] = {}
        asked: list[AskedClaims] = []
        for check in self.checks:
            whose, by = check.split("_by_")
            shape = len(claims[whose]), len(_texts(response, by))
            entailed[check] = np.zeros(shape, bool)
            asked += self.asked(response, by, claims[whose], entailed[check])
        answers = yield [prompt for prompt, _ in asked]
        for (_, read), answer in zip(asked, answers, strict=True):
            read(answer)
        return Checks(entailed)

    def asked(
        self, response: MetricInput, by: str, claims: Sequence[str], entailed: Bools
    ) -> Iterator[AskedClaims]:
        """Yield the prompts that check claims by the texts of this name.

        Each has the function that reads its answer into `entailed`, of shape (claims, texts).
        """
        for column, text in enumerate(_texts(response, by)):
            if not text.strip():
                continue  # a text without words entails nothing
            for some in blocks(claims):

                def read(answer: Answer, rows: Bools = entailed[some, column]) -> None:
                    labels = labels_in(answer, len(rows), _LABELS)
                    rows[:] = [label == _ENTAILED for label in labels]

                checked = claims[some]
                shown = {"question": response.question, "text": text}
                schema = labels_schema(len(checked), _LABELS)
                yield self.prompt("check", schema, **shown, claims=numbered(checked)), read


def blocks(claims: Sequence[str]) -> Iterator[slice]:
    """Yield the claims of each prompt."""
    for first in range(0, len(claims), CLAIMS_A_PROMPT):
        yield slice(first, first + CLAIMS_A_PROMPT)


def _texts(response: MetricInput, name: str) -> tuple[str, ...]:
    """Return the texts that claims are checked by."""
    if name == "passages":
        return response.passages
    return (response.response if name == "response" else response.reference,)


_NO_CLAIMS = {"response": "no_claims", "reference": "no_reference_claims"}


class Precision(RagChecker):
    """Share of the response's claims that the reference answer entails."""

    key = "ragchecker-precision"
    constructs = ("AC",)
    checks = ("response_by_reference",)
    without_claims = 0.0

    def counted(self, checks: Checks) -> Bools:
        """Return the correct claims."""
        return checks.correct


class Recall(RagChecker):
    """Share of the reference answer's claims that the response entails."""

    key = "ragchecker-recall"
    constructs = ("IR",)
    checks = ("reference_by_response",)

    def counted(self, checks: Checks) -> Bools:
        """Return the claims of the reference answer that the response makes."""
        return checks.recalled


class F1(RagChecker):
    """Harmonic mean of precision and recall; 0 where either is 0."""

    key = "ragchecker-f1"
    constructs = ("AC", "IR")
    checks = ("response_by_reference", "reference_by_response")
    without_claims = 0.0

    def value(self, checks: Checks) -> MetricValue:
        """Return the harmonic mean."""
        precision, recall = float(checks.correct.mean()), float(checks.recalled.mean())
        total = precision + recall
        value = 2 * precision * recall / total if total else 0.0
        return MetricValue(value, parts={"precision": precision, "recall": recall})


class ClaimRecall(RagChecker):
    """Share of the reference answer's claims that some passage entails."""

    key = "ragchecker-claim-recall"
    constructs = (RETRIEVAL.key,)
    checks = ("reference_by_passages",)

    def counted(self, checks: Checks) -> Bools:
        """Return the claims of the reference answer that were retrieved."""
        return checks.retrieved


class ContextPrecision(RagChecker):
    """Share of the passages that entail a claim of the reference answer."""

    key = "ragchecker-context-precision"
    constructs = (RETRIEVAL.key,)
    checks = ("reference_by_passages",)

    def counted(self, checks: Checks) -> Bools:
        """Return the relevant passages."""
        return checks.relevant


class ContextUtilization(RagChecker):
    """Of the reference answer's claims that some passage entails, the share that is recalled."""

    key = "ragchecker-context-utilization"
    constructs = ("IR",)
    checks = ("reference_by_passages", "reference_by_response")

    def counted(self, checks: Checks) -> Bools:
        """Return which of the retrieved claims the response makes."""
        if not checks.retrieved.any():
            raise NoValueError("no_claims_in_context")
        return checks.recalled[checks.retrieved]


class Faithfulness(RagChecker):
    """Share of the response's claims that some passage entails."""

    key = "ragchecker-faithfulness"
    constructs = ("CC",)
    checks = ("response_by_passages",)

    def counted(self, checks: Checks) -> Bools:
        """Return the claims that the passages support."""
        return checks.supported


class Hallucination(RagChecker):
    """Share of the response's claims that are wrong and that no passage entails: low is good."""

    key = "ragchecker-hallucination"
    constructs = ("CC",)
    low_is_good = True
    checks = ("response_by_reference", "response_by_passages")

    def counted(self, checks: Checks) -> Bools:
        """Return the wrong claims without support."""
        return ~checks.correct & ~checks.supported


class SelfKnowledge(RagChecker):
    """Share of the response's claims that are correct and that no passage entails."""

    key = "ragchecker-self-knowledge"
    constructs = ("CC",)
    checks = ("response_by_reference", "response_by_passages")

    def counted(self, checks: Checks) -> Bools:
        """Return the correct claims without support."""
        return checks.correct & ~checks.supported


class NoiseInRelevant(RagChecker):
    """Share of the response's claims that are wrong and from a relevant passage: low is good."""

    key = "ragchecker-noise-relevant"
    constructs = ("CC",)
    low_is_good = True
    checks = ("response_by_reference", "response_by_passages", "reference_by_passages")

    def counted(self, checks: Checks) -> Bools:
        """Return the wrong claims that a relevant passage entails."""
        return ~checks.correct & checks.supported_by_relevant


class NoiseInIrrelevant(RagChecker):
    """Share of the response's claims that are wrong and from irrelevant passages: low is good.

    A claim that a relevant passage entails as well counts for `NoiseInRelevant` alone.
    """

    key = "ragchecker-noise-irrelevant"
    constructs = ("CC",)
    low_is_good = True
    checks = ("response_by_reference", "response_by_passages", "reference_by_passages")

    def counted(self, checks: Checks) -> Bools:
        """Return the wrong claims that only irrelevant passages entail."""
        return ~checks.correct & checks.supported & ~checks.supported_by_relevant
