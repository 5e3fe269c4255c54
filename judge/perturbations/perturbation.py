"""What a probe is: one alteration of what a judge reads, and which shift of a score is a fault."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from judge.metrics.metric import Content
from study.schema import Fault


@dataclass(frozen=True)
class Change:
    """What is altered in a response or its passages; nothing where the prompt is as it was."""

    response: str | None = None
    """The text that stands in place of the response."""
    passages: Mapping[int, str] | None = None
    """Texts that stand in place of passages, by their place in the order of before."""
    order: tuple[int, ...] | None = None
    """The passages' new order, by their place in the order of before."""

    def applied(self, content: Content) -> Content:
        """Return the content as the prompt shows it. Its passages must have been read."""
        text = content.text if self.response is None else self.response
        passages = list(content.passages or ())
        for place, other in (self.passages or {}).items():
            passages[place] = other
        if self.order is not None:
            passages = [passages[place] for place in self.order]
        if not self.passages and self.order is None:
            # The very tuple, so that its joined text is made once for all probes of a response.
            return replace(content, text=text)
        return replace(
            content,
            text=text,
            passages=tuple(passages),
            passage_bytes=sum(len(passage.encode()) for passage in passages),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the change as it is stored; keys of what is as before are left out."""
        found: dict[str, Any] = {}
        if self.response is not None:
            found["response"] = self.response
        if self.passages:
            found["passages"] = {str(place): text for place, text in self.passages.items()}
        if self.order is not None:
            found["order"] = list(self.order)
        return found

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return a stored change."""
        passages = stored.get("passages")
        order = stored.get("order")
        return cls(
            stored.get("response"),
            None if passages is None else {int(place): text for place, text in passages.items()},
            None if order is None else tuple(order),
        )


Altering = Callable[[Content], Change | None]


@dataclass(frozen=True)
class Probe:
    """One alteration. The same content is altered alike each time."""

    key: str
    """Its name in tables: words joined by hyphens."""
    kind: str
    """The family that `--kinds` names."""
    fault: Fault
    """The shift that a fair judge does not make."""
    needs_passages: bool
    """Whether only prompts that show passages differ."""
    alter: Altering
    """Returns None where the content can't be altered so: it has one sentence, one passage, ..."""
