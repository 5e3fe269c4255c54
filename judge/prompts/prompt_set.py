"""What engines and runs need to know of the words that a metric asks with."""

from collections.abc import Sequence
from typing import Protocol

from study.scales import RatingScale


class PromptSet(Protocol):
    """The words of a metric under one name, with the points of layout that make them a text."""

    @property
    def name(self) -> str:
        """Name of the version, which a run records."""

    @property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the words and of every point of layout."""

    @property
    def metric(self) -> str:
        """Key of the metric that asks with them; part of a run's identity."""

    @property
    def source(self) -> str:
        """Where the words come from."""

    @property
    def texts(self) -> Sequence[str]:
        """The templates, as they are written."""

    @property
    def scale(self) -> RatingScale:
        """The range of points that the prompts ask for."""

    @property
    def form(self) -> str:
        """What an answer is: `score`, `rationale` (a score after its reason) or `free` text.

        Engines read probabilities of scores only where an answer begins with the score.
        """

    @property
    def max_tokens(self) -> int:
        """Tokens of an answer, where a prompt does not set its own limit."""

    @property
    def temperature(self) -> float:
        """Temperature of the answers."""

    @property
    def passage_separator(self) -> str:
        """What joins the passages of a context."""

    @property
    def strip_fields(self) -> bool:
        """Whether white space around the fields of a response is removed."""
