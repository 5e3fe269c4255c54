"""A response with the texts that a metric may read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """A response with all that a prompt may show of it."""

    id: int
    query: int
    context_hash: bytes
    question: str
    references: tuple[str, ...]
    text: str
    passages: tuple[str, ...] | None
    """In rank order; None where they were not read."""
    passage_bytes: int
    """Bytes of the passages in UTF-8, without what separates them."""
    passage_count: int
    wanted: bool

    @property
    def reference(self) -> str | None:
        """The first reference answer; None where the query has none."""
        return self.references[0] if self.references else None
