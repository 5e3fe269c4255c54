"""An encoder without a model: texts are vectors of the words that they have."""

from collections.abc import Sequence

import numpy as np

from judge.metrics.embedding import Embedding
from judge.metrics.metric import MissingValue


class ScriptedEncoder:
    """Vectors with a 1 for each word, by the order in which words first come.

    "a b" and "b c" have the cosine 1/2. A text with the word `long` is read in part, and one with
    the word `strange` has no vector.
    """

    def __init__(self, name: str = "words@1", size: int = 1000) -> None:
        self._size = size
        self.name = name
        self.identity = f"made up {name}"
        self.asked: list[str] = []
        self.stop_after: int | None = None
        """Number of texts after which the process is interrupted."""
        self._words: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> list[Embedding | MissingValue]:
        """Return the vectors, with a number for each of the first words, by default 1,000."""
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked += texts
        return [self._embedding(text) for text in texts]

    def _embedding(self, text: str) -> Embedding | MissingValue:
        words = set(text.split())
        if "strange" in words:
            return MissingValue("not_finite")
        vector = np.zeros(self._size)
        for word in words:
            vector[self._words.setdefault(word, len(self._words))] = 1
        return Embedding(vector, "long" in words)
