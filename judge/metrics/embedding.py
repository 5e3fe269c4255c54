"""Cosines of the vectors that an encoder makes of whole texts."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Steps
from study.base.scales import Scale
from study.errors import StudyError
from study.settings.constructs import RETRIEVAL
from study.types import Sees

NOT_FINITE = "not_finite"
"""A model returned NaN, an infinite number, or a vector of zeros, which has no direction."""
TRUNCATED = "truncated"
"""Part of a value of which a model read only the beginning of a text, and word in its rule."""


class Embedding(NamedTuple):
    """The vector of a text."""

    vector: NDArray[np.float64]
    """Of shape (d,), not normalized."""
    truncated: bool = False
    """Whether the text was cut at the model's window."""


class Encoder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """The model with the beginning of the hash of its identity: part of a metric's key."""

    @property
    def identity(self) -> str:
        """What decides the vectors: weights, window, libraries."""

    def embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        """Return the vector of each text, or the reason why it has none. No text is blank."""


def cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the cosine of two vectors, in [-1, 1]; NaN if one has no direction.

    Examples
    --------
    >>> round(cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0])), 4)
    0.96
    """
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.linalg.norm(first) * np.linalg.norm(second)
        # Rounding may leave a value just outside of [-1, 1].
        return float(np.clip(first @ second / lengths, -1, 1)) if lengths else float("nan")


class Vectors:
    """The vectors of the texts of a page; each text is embedded once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Embedding | MissingValue] = {}
        self._size: int | None = None

    def prepare(self, texts: Iterable[str]) -> None:
        """Embed texts together, those of similar length next to each other; forget all others."""
        wanted = sorted(set(texts) - {""}, key=lambda text: (len(text), text))
        self._known = {text: self._known[text] for text in wanted if text in self._known}
        self._add([text for text in wanted if text not in self._known])

    def of(self, text: str) -> Embedding | MissingValue:
        """Return the vector of a text that is not blank.

        Raises
        ------
        StudyError
            The encoder returned vectors of different sizes.
        """
        if text not in self._known:
            self._add([text])
        return self._known[text]

    def _add(self, texts: Sequence[str]) -> None:
        if not texts:
            return
        for text, result in zip(texts, self._encoder.embed(texts), strict=True):
            if isinstance(result, Embedding):
                size = len(result.vector)
                if self._size not in {None, size}:
                    raise StudyError(
                        f"The encoder {self._encoder.name} returned vectors of {self._size} and of "
                        f"{size} numbers; the latter for {text[:60]!r}. Nothing of this page is "
                        "stored; name an encoder with vectors of one size."
                    )
                self._size = size
            self._known[text] = result

    def cosines(self, text: str, others: Sequence[str]) -> "Cosines | MissingValue":
        """Return the cosine of a text with each of some others; none is blank."""
        results = [self.of(each) for each in (text, *others)]
        for result in results:
            if isinstance(result, MissingValue):
                return result
        first, *rest = [result for result in results if isinstance(result, Embedding)]
        values = [cosine(first.vector, other.vector) for other in rest]
        if not np.isfinite(values).all():
            return MissingValue(NOT_FINITE)
        return Cosines(values, first.truncated or any(other.truncated for other in rest))


class Cosines(NamedTuple):
    """Cosines of a text with others."""

    values: list[float]
    truncated: bool
    """Whether one of the texts was cut at the model's window."""


def with_flag(value: float, truncated: bool) -> MetricValue:
    """Return a value, with the flag `TRUNCATED` where a text was cut."""
    return MetricValue(value, parts={TRUNCATED: 1} if truncated else {})


class _Cosine(Metric):
    """A cosine of texts of a response, by an encoder, which is part of the key."""

    name: str
    scale = Scale(min=-1, max=1)
    steps = 0
    key_names_model = True

    def __init__(self, encoder: Encoder) -> None:
        self.key = f"{self.name} {encoder.name}"
        self.version = f"{self.name}-v1 {encoder.identity}"
        self._vectors = Vectors(encoder)

    def prepare(self, responses: Sequence[MetricInput]) -> None:
        """Embed the texts of all these responses together."""
        compared = [self.texts(response) for response in responses]
        # Without one of the two nothing is compared.
        self._vectors.prepare(
            text for [first], others in compared if first and others for text in (first, *others)
        )

    @abstractmethod
    def texts(self, response: MetricInput) -> tuple[list[str], list[str]]:
        """Return the text that is compared, alone, and the texts that it is compared with."""


class Similarity(_Cosine):
    """Largest cosine of the response and a reference answer."""

    name = "similarity"
    constructs = ("AC",)
    fields: tuple[Sees, ...] = ("response", "reference")

    def texts(self, response: MetricInput) -> tuple[list[str], list[str]]:
        """Return the response, and the references that are not blank."""
        return [response.response], [text for text in response.references if text]

    def score(self, response: MetricInput) -> Steps:
        """Compare the response with each reference."""
        yield from ()
        [text], references = self.texts(response)
        if not text:
            return MissingValue("empty_response")
        cosines = self._vectors.cosines(text, references)
        if isinstance(cosines, MissingValue):
            return cosines
        return with_flag(max(cosines.values), cosines.truncated)


class ContextRelevance(_Cosine):
    """Mean cosine of the question and the passages."""

    name = "context-relevance"
    constructs = (RETRIEVAL.key,)
    fields: tuple[Sees, ...] = ("question", "context")

    def texts(self, response: MetricInput) -> tuple[list[str], list[str]]:
        """Return the question and the passages."""
        return [response.question], [text.strip() for text in response.passages]

    def score(self, response: MetricInput) -> Steps:
        """Compare the question with each passage."""
        yield from ()
        [question], passages = self.texts(response)
        cosines = self._vectors.cosines(question, passages)
        if isinstance(cosines, MissingValue):
            return cosines
        return with_flag(float(np.mean(cosines.values)), cosines.truncated)
