"""What engines report besides answers and failures: retries, their own requests, measurements."""

from collections import Counter
from collections.abc import Mapping
from threading import Lock


class Usage:
    """A part of every `judge.engines.engine.Delivery`."""

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        """Tries of one prompt beyond its first, by what the try before them met."""
        self.overhead: Counter[str] = Counter()
        """Calls and tokens of the engine's own requests: its probe, prompts counted again."""
        self.figures: dict[str, float] = {}
        """What the engine measured of itself."""
        self._adding = Lock()

    def retried(self, reason: str) -> None:
        """Count a further try of a prompt, by what the try before it met."""
        with self._adding:
            self.retries[reason] += 1

    def spent(self, overhead: Mapping[str, int]) -> None:
        """Count the engine's own requests: calls, and tokens by name as far as reported."""
        with self._adding:
            self.overhead.update(overhead)

    def measured(self, figures: Mapping[str, float]) -> None:
        """Keep what the engine measured of itself."""
        with self._adding:
            self.figures.update(figures)
