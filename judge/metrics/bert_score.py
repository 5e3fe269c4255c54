"""BERTScore: the tokens of two texts matched by the cosines of their vectors in context."""

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judge.metrics.embedding import NOT_FINITE, with_flag
from judge.metrics.metric import Metric, MetricInput, MissingValue, Steps
from study.base.scales import Scale
from study.types import Sees


class TokenVectors(NamedTuple):
    """The vectors of the tokens of a text."""

    vectors: NDArray[np.float64]
    """Of shape (tokens, d), not normalized."""
    counted: NDArray[np.bool_]
    """Of shape (tokens,): False for the marks at the ends, such as [CLS]. They can be matched, but
    are not in the mean."""
    truncated: bool = False


class TokenEncoder(Hashable, Protocol):
    """Makes vectors of the tokens of a text."""

    @property
    def name(self) -> str:
        """The model with the beginning of the hash of its identity: part of a metric's key."""

    @property
    def identity(self) -> str:
        """What decides the vectors: weights, window, libraries."""

    @property
    def layers(self) -> int:
        """Number of layers."""

    def token_vectors(self, text: str, layer: int) -> TokenVectors:
        """Return the vectors of the tokens of a text after a layer; 0: before the first."""


class BertScoreValues(NamedTuple):
    """BERTScore of two texts."""

    precision: float
    recall: float
    f1: float


def bert_score(response: TokenVectors, reference: TokenVectors) -> BertScoreValues:
    """Return BERTScore: each counted token has its best match among all tokens of the other text.

    Zhang et al. 2020 (arXiv 1904.09675), section 3: without weights by frequency and without
    rescaling. Precision is the mean over the tokens of the response, recall that over those of the
    reference, in [-1, 1]. NaN where a vector has no direction, or for F1 where precision and
    recall cancel out. Both texts need a counted token.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        first, second = (
            each.vectors / np.linalg.norm(each.vectors, axis=1, keepdims=True)
            for each in (response, reference)
        )
        # Rounding may leave a cosine just outside of [-1, 1].
        cosines = np.clip(first @ second.T, -1, 1)
        precision = float(cosines.max(axis=1)[response.counted].mean())
        recall = float(cosines.max(axis=0)[reference.counted].mean())
        f1 = float(np.divide(2 * precision * recall, precision + recall))
    return BertScoreValues(precision, recall, f1)


BERT_SCORES = {"BERTScore": "f1", "BERTScore-P": "precision", "BERTScore-R": "recall"}
_KEY = re.compile(r"(BERTScore(?:-[PR])?)(?:@(\d+))?")


def bert_score_layer(key: str) -> tuple[str, int | None] | None:
    """Return the name and the layer of a key such as BERTScore-P@5; None if it is another metric.

    The layer is None where the key has none: the last one.
    """
    match = _KEY.fullmatch(key)
    return match and (match[1], int(match[2]) if match[2] else None)


class BertScore(Metric):
    """Largest BERTScore (F1, precision or recall) of the response and a reference.

    Parameters
    ----------
    name
        One of `BERT_SCORES`.
    encoder, layer
        Which vectors are compared.
    """

    constructs = ("AC",)
    fields: tuple[Sees, ...] = ("response", "reference")
    scale = Scale(min=-1, max=1)
    steps = 0
    key_names_model = True

    def __init__(self, name: str, encoder: TokenEncoder, layer: int) -> None:
        self.key = f"{name}@{layer} {encoder.name}"
        self.version = f"bert-score-v1 layer:{layer} {encoder.identity}"
        self._part = BERT_SCORES[name]
        self._vectors = _token_vectors(encoder, layer)

    def score(self, response: MetricInput) -> Steps:
        """Compare the response with each reference."""
        yield from ()
        if not response.response:
            return MissingValue("empty_response")
        first = self._vectors(response.response)
        if not first.counted.any():
            return MissingValue("response_without_tokens")
        references = [self._vectors(text) for text in response.references if text]
        if not all(reference.counted.any() for reference in references):
            return MissingValue("reference_without_tokens")
        values = [getattr(bert_score(first, reference), self._part) for reference in references]
        if not np.isfinite(values).all():
            return MissingValue(NOT_FINITE)
        return with_flag(max(values), any(each.truncated for each in (first, *references)))


class _TokenVectors(Protocol):
    def __call__(self, text: str) -> TokenVectors: ...


@lru_cache(maxsize=64)
def _token_vectors(encoder: TokenEncoder, layer: int) -> _TokenVectors:
    """Return a function whose results precision, recall and F1 share; few are large in memory."""

    @lru_cache(maxsize=64)
    def vectors(text: str) -> TokenVectors:
        return encoder.token_vectors(text, layer)

    return vectors
