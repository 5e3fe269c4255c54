"""What a pull met and what it did."""

from dataclasses import asdict, dataclass, field
from typing import Any

from annotate_ui.label_studio.annotation_reader import Annotation, Unread
from annotate_ui.label_studio.projects import StoredProject


@dataclass(frozen=True)
class KeptAside:
    """A value that could not become a rating."""

    rater: str | None
    response: str | None
    construct: str | None
    value: str | None
    """As JSON."""
    reason: str
    annotation: int | None
    """Its number over there."""


@dataclass
class Pulled:
    """What a pull did."""

    server: str
    annotations: int = 0
    """Annotations that are over there."""
    drafts: int = 0
    """Drafts over there, which are no ratings."""
    new: int = 0
    """Values of constructs that were stored for the first time, skipped ones included."""
    changed: int = 0
    """Values that were edited over there since the last pull."""
    withdrawn: int = 0
    """Values whose annotation is gone over there, or now says what can't be taken."""
    skipped: int = 0
    """Of the new and changed ones, those that say that the task was skipped."""
    unchanged: int = 0
    earlier: int = 0
    """Values over there of an earlier version of their construct; they leave the score table."""
    by_another: int = 0
    """Annotations over there that another account than their rater's changed last."""
    erased: int = 0
    """Annotations of people who are erased from the study; nothing of them was taken."""
    raters: dict[str, int] = field(default_factory=dict)
    """Raters that were made: code to the number of the user over there."""
    aside: list[KeptAside] = field(default_factory=list)
    """Everything that is over there and can't be a rating."""
    missing: list[int] = field(default_factory=list)
    """Projects of the study that are gone; what was pulled of them stays."""
    aside_new: int = 0
    """Of these, those that no pull before this one met."""

    @property
    def anything(self) -> bool:
        """Whether something was stored."""
        return bool(self.new or self.changed or self.withdrawn or self.raters or self.aside_new)

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


@dataclass
class Fetched:
    """A project as it stands over there, without its texts."""

    project: StoredProject
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[Unread] = field(default_factory=list)
