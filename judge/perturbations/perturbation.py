"""A probe of the judge: one change of a response or its passages, and the shift that is a fault."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge.metrics.metric import Content
from study.schema import Fault


@dataclass(frozen=True)
class Change:
    """What a probe changes in a prompt. Fields that are None stay unchanged."""

    response: str | None = None
    """Replaces the response."""
    passages: Mapping[int, str] | None = None
    """Replace passages, by their position in the original order."""
    order: tuple[int, ...] | None = None
    """New order of the passages, as their positions in the original order."""

    def applied(self, content: Content) -> Content:
        """Return the changed content. The passages of `content` must have been read."""
        text = content.text if self.response is None else self.response
        if not self.passages and self.order is None:
            # The passages stay the same tuple, so all probes of a response share its joined text.
            return replace(content, text=text)
        passages = list(content.passages or ())
        for position, passage in (self.passages or {}).items():
            passages[position] = passage
        if self.order is not None:
            passages = [passages[position] for position in self.order]
        return replace(
            content,
            text=text,
            passages=tuple(passages),
            passage_bytes=sum(len(passage.encode()) for passage in passages),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the change as it is stored; parts that stay unchanged are left out."""
        parts: dict[str, Any] = {}
        if self.response is not None:
            parts["response"] = self.response
        if self.passages:
            parts["passages"] = {str(position): text for position, text in self.passages.items()}
        if self.order is not None:
            parts["order"] = list(self.order)
        return parts


@dataclass(frozen=True)
class Probe:
    """One kind of change. It changes equal content equally."""

    key: str
    """Its name in tables: words joined by hyphens."""
    kind: str
    """The family of probes, which `--kinds` selects."""
    fault: Fault
    """The direction in which the score of a fair judge does not move."""
    needs_passages: bool
    """Whether the change concerns only prompts that show passages."""
    alter: Callable[[Content], Change | None]
    """Returns the change; None where the content does not allow it (a single sentence, ...)."""
