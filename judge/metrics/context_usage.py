"""Words that a response shares with its passages, and words that it adds."""

from abc import abstractmethod
from collections.abc import Set as AbstractSet

from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue, Steps
from judge.metrics.unicode_words import unicode_words
from study.base.scales import Scale
from study.types import Sees


class _WordShare(Metric):
    """A share of distinct words, from 0 to 1."""

    undefined: str
    """Reason of a missing value."""
    version = "unicode-words-v2"
    constructs = ("CC",)
    fields: tuple[Sees, ...] = ("response", "context")
    scale = Scale(min=0, max=1)
    steps = 0

    def score(self, response: MetricInput) -> Steps:
        """Compare the words of the response with those of all its passages."""
        yield from ()
        words, context = (
            frozenset(unicode_words(text)) for text in (response.response, response.context)
        )
        share = self.share(words, context)
        if share is None:
            return MissingValue(self.undefined)
        return MetricValue(share)

    @abstractmethod
    def share(self, words: AbstractSet[str], context: AbstractSet[str]) -> float | None:
        """Return the share; None where the set that it is a share of is empty."""


class ContextUsage(_WordShare):
    """Share of the words of the passages that the response has.

    It falls with the length of the passages, whatever the response is.
    """

    key = "context-usage"
    undefined = "passages_without_words"

    def share(self, words: AbstractSet[str], context: AbstractSet[str]) -> float | None:
        """Return the share of the passages' words."""
        return len(words & context) / len(context) if context else None


class NovelWords(_WordShare):
    """Share of the words of the response that the passages do not have."""

    key = "novel-words"
    undefined = "response_without_words"
    low_is_good = True

    def share(self, words: AbstractSet[str], context: AbstractSet[str]) -> float | None:
        """Return the share of the response's words."""
        return len(words - context) / len(words) if words else None
