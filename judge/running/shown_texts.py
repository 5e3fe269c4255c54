"""The texts of a response as a run shows them to a metric, and their flags."""

from collections.abc import Sequence
from hashlib import sha256

from judge.metrics.metric import Content, Metric, MetricInput
from judge.running.injection_detection import control_tokens, is_suspected, labels_of
from study.schema import CONTROL_TOKENS, SUSPECTED
from study.types import Sees


class ShownTexts:
    """The texts of a run; the joined passages of the current context are made once."""

    def __init__(self, metric: Metric, shuffle: int | None = None) -> None:
        self.metric = metric
        self._shuffle = shuffle
        self._separator = "\n\n" if metric.prompts is None else metric.prompts.passage_separator
        self._labels = () if metric.prompts is None else labels_of(metric.prompts)
        self._source: tuple[str, ...] | None = None
        self._passages: tuple[str, ...] = ()
        self._text = ""
        self._has_control_tokens = False
        self._suspected: bool | None = None

    def input_of(self, content: Content, construct: str) -> MetricInput:
        """Return a response as the metric reads it for a construct."""
        fields = self.metric.reads(construct)
        strips = self.metric.prompts is None or self.metric.prompts.strip_fields
        if "context" not in fields:
            return MetricInput(content, construct, fields, strip=strips)
        self._set_context(content)
        return MetricInput(content, construct, fields, self._passages, self._text, strips)

    def flags(self, content: Content, construct: str) -> tuple[str, ...]:
        """Return the flags of a judgment, for the fields that the metric reads."""
        fields = self.metric.reads(construct)
        texts: dict[Sees, str] = {
            "question": content.question,
            "response": content.text,
            "reference": content.reference or "",
        }
        has_tokens = any(control_tokens(text) for name, text in texts.items() if name in fields)
        suspected = "response" in fields and is_suspected(content.text, self._labels)
        if "context" in fields:
            self._set_context(content)
            has_tokens = has_tokens or self._has_control_tokens
            suspected = suspected or self._context_is_suspected()
        return (*((CONTROL_TOKENS,) if has_tokens else ()), *((SUSPECTED,) if suspected else ()))

    def _context_is_suspected(self) -> bool:
        if self._suspected is None:
            self._suspected = is_suspected(self._text, self._labels)
        return self._suspected

    def _set_context(self, content: Content) -> None:
        if self._source is content.passages and self._source is not None:
            return
        self._source = content.passages
        passages = content.passages or ()
        if self._shuffle is not None:
            passages = shuffled(passages, self._shuffle, content.context_hash)
        self._passages = passages
        self._text = self.metric.trimmed(self._separator.join(passages))
        self._has_control_tokens = control_tokens(self._text) is not None
        self._suspected = None


def shuffled(passages: Sequence[str], seed: int, context_hash: bytes) -> tuple[str, ...]:
    """Return the passages of a context in the order that follows from a seed.

    The order depends only on the seed and the context: all prompts of a context have the same
    order, and so the same beginning, in every run with the seed.
    """
    key = {n: sha256(f"{seed} {n} ".encode() + context_hash).digest() for n in range(len(passages))}
    return tuple(passages[number] for number in sorted(key, key=key.__getitem__))
