"""One sign of how carefully somebody rates. Signals flag; they never exclude."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal[
    "straight_lining",
    "little_variation",
    "too_fast",
    "checks_missed",
    "low_agreement",
    "many_missing",
]
Verdict = Literal["fine", "flagged", "too_few"]


@dataclass(frozen=True)
class Signal:
    """What was measured, what it is held against, and on how many cases it rests."""

    kind: Kind
    construct: str | None
    """Null where it speaks of the rater's work as a whole."""
    verdict: Verdict
    """`too_few`: there are not enough cases to say anything."""
    value: float | None
    against: float | None
    """What the value is compared with; `words` names it."""
    count: int
    words: str

    def as_json(self) -> dict[str, Any]:
        """Return the signal as values that JSON can hold."""
        return asdict(self)


def too_few(kind: Kind, construct: str | None, count: int, what: str) -> Signal:
    """Return the signal that says that there is too little to go by."""
    return Signal(kind, construct, "too_few", None, None, count, f"too few {what} ({count})")
