"""Retrieval by vectors: exact search by cosine."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judge.metrics.embedding import Embedding, Encoder
from judge.responding.ranked import Ranking, best
from study.errors import StudyError
from study.importing.readers.input_file import Advance, unseen

# Texts that the encoder gets together, queries of one block, and chunks of one product.
_TEXTS, _QUERIES, _CHUNKS = 256, 128, 8192


class UnitVectors:
    """Vectors of texts, of length 1, by an encoder.

    Parameters
    ----------
    encoder
    prefix
        Written before each text.
    """

    def __init__(self, encoder: Encoder, prefix: str = "") -> None:
        self._encoder = encoder
        self._prefix = prefix
        self.truncated = 0
        """Texts of which the encoder read only the beginning."""

    def of(self, texts: Sequence[str], advance: Advance = unseen) -> NDArray[np.float32]:
        """Return an array of shape (texts, d).

        Raises
        ------
        StudyError
            The encoder has no vector for a text, or returns vectors of different sizes.
        """
        # Texts of similar length go together, since the shorter ones are padded.
        order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
        vectors: NDArray[np.float32] | None = None
        for start in range(0, len(order), _TEXTS):
            some = order[start : start + _TEXTS]
            results = self._encoder.embed([self._prefix + texts[number] for number in some])
            for number, result in zip(some, results, strict=True):
                unit = self._unit(texts[number], result)
                if vectors is None:
                    vectors = np.empty((len(texts), len(unit)), dtype=np.float32)
                if len(unit) != vectors.shape[1]:
                    raise StudyError(
                        f"The encoder {self._encoder.name} returned vectors of {vectors.shape[1]} "
                        f"and of {len(unit)} numbers; name an encoder with vectors of one size."
                    )
                vectors[number] = unit
            advance(start + len(some), len(order))
        return np.empty((0, 0), dtype=np.float32) if vectors is None else vectors

    def _unit(self, text: str, result: object) -> NDArray[np.float64]:
        if not isinstance(result, Embedding):
            raise StudyError(
                f"The encoder {self._encoder.name} has no vector for {text[:60]!r}... "
                f"({getattr(result, 'reason', result)}). Use smaller chunks, or another encoder."
            )
        self.truncated += result.truncated
        return result.vector / np.linalg.norm(result.vector)


def dense_rankings(
    chunks: NDArray[np.float32], queries: NDArray[np.float32], k: int
) -> Iterator[Ranking]:
    """Yield the ranking of each query: the k chunks of the highest cosine, none left out.

    Parameters
    ----------
    chunks, queries
        Vectors of length 1, of shape (texts, d). Products are of 64 bits, a block at a time.
    """
    for start in range(0, len(queries), _QUERIES):
        block = queries[start : start + _QUERIES].astype(np.float64)
        scores = np.empty((len(block), len(chunks)))
        for first in range(0, len(chunks), _CHUNKS):
            part = chunks[first : first + _CHUNKS].astype(np.float64)
            scores[:, first : first + _CHUNKS] = block @ part.T
        for row in scores:
            yield best(row, k)
