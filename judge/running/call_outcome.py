"""The outcome of a call whose answers are kept apart from a run's judgments: probes and pairs."""

from dataclasses import dataclass, field

from judge.protocol.exchange import REASONS
from judge.text import Result, by_number, duration


@dataclass(frozen=True, kw_only=True)
class CallOutcome(Result):
    """What one call has asked, and what was stored of it."""

    run: str
    answered: int
    """Prompts with an answer."""
    missing: dict[str, int]
    """Stored answers without a value, by reason."""
    failed: dict[str, int]
    """Prompts without an answer, by reason; the next call asks them again."""
    remaining: int
    """Prompts that are still to be asked, those beyond --limit included."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Explanations of the metric's own missing reasons."""
    tokens: dict[str, int] = field(default_factory=dict)
    """prompt, completion, reasoning and cached tokens that the server counted."""
    seconds: float = 0.0
    cost: float | None = None
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """The first failures in the words of the server."""
    asks: bool = True
    """Whether the engine answers during a call."""

    def answer_lines(self) -> list[str]:
        """Return what was answered, and what is missing and why, as lines of text."""
        lines = [f"{self.answered} prompts were answered in {duration(self.seconds)}.", *self.notes]
        tokens = ", ".join(f"{n:,} {name}" for name, n in self.tokens.items() if n)
        if tokens:
            cost = "" if self.cost is None else f", which cost {self.cost:,.2f}"
            lines.append(f"Tokens: {tokens}{cost}.")
        known = REASONS | self.reasons
        lines += [
            f"Missing: {n} {reason} ({known.get(reason, 'no explanation')})."
            for reason, n in by_number(self.missing)
        ]
        lines += [f"No answer: {n} {reason}." for reason, n in by_number(self.failed)]
        lines += [f"  {example}" for example in self.examples]
        if self.remaining and self.asks:
            lines.append(f"{self.remaining} prompts are still to be asked; run the command again.")
        return lines
