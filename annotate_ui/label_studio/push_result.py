"""What a push did."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class PushedProject:
    """A project that tasks were sent to."""

    number: int
    url: str
    stage: int
    constructs: tuple[str, ...]
    overlap: int
    made: bool
    tasks: int
    """Tasks that it has now."""


@dataclass
class Pushed:
    """What a push did."""

    server: str
    projects: list[PushedProject] = field(default_factory=list)
    """Those that tasks were added to."""
    tasks: int = 0
    """Tasks that were added."""
    there: int = 0
    """Tasks that were there already."""
    adopted: int = 0
    """Tasks that an interrupted push had sent, and that are known again."""
    doubled: int = 0
    """Tasks that were there twice and unrated, and were removed."""
    gone: int = 0
    """Tasks that were deleted over there; what nobody had rated is sent again."""
    renewed: int = 0
    """Tasks of an earlier version of a construct that nobody had touched, and were replaced."""
    earlier: int = 0
    """Tasks of an earlier version of a construct that somebody has rated, and that stay."""
    unknown: list[int] = field(default_factory=list)
    """Projects over there that were made for this study and that it knows nothing of."""
    missing: list[int] = field(default_factory=list)
    """Projects of the study that are gone; what nobody had rated is sent again."""
    lost: int = 0
    """Places of tasks that are held by people whose value can't count; others are made for them."""
    waiting: int = 0
    """Slots whose task comes when the earlier stages of their query are rated and pulled."""
    slots: int = 0
    """All slots that are reserved for Label Studio."""

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)
