"""What asking probes did, or would do, as counts and as lines to read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judge.protocol.exchange import REASONS

FEW_QUERIES = 30
"""Below so many queries intervals say little."""


@dataclass(frozen=True)
class ProbeWork:
    """What is still to be asked, before it is."""

    prompts: dict[str, int]
    """By kind."""
    prompt_bytes: int
    not_alterable: dict[str, int]
    """Prompts that a probe has no alteration for, by probe: one sentence, one passage, ..."""
    too_long: int
    responses: int
    """Of the sample."""
    queries: int
    asked_before: int


@dataclass(frozen=True)
class ProbePreview:
    """What `probe_study` would ask under the same settings."""

    run: str
    planned: ProbeWork
    prompt_tokens: int
    """An estimate, at four bytes a token."""
    cost: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the preview as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the preview as lines of text."""
        lines = [*_planned(self.planned, self.run), f"Prompt tokens: about {self.prompt_tokens:,}"]
        if self.cost is not None:
            lines.append(f"Cost: about {self.cost:,.2f}")
        return [*lines, "Nothing was asked, and nothing was stored."]


@dataclass(frozen=True)
class ProbeOutcome:
    """What one call of `probe_study` did."""

    run: str
    planned: ProbeWork
    answered: int
    missing: dict[str, int]
    """Of what was stored, what has no value, by reason."""
    failed: dict[str, int]
    """Prompts that got no answer, by reason; the next call asks them."""
    left: int
    """Prompts that are still to be asked, --limit among the causes."""
    tokens: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cost: float | None = None
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""
        lines = [
            *_planned(self.planned, self.run),
            f"{self.answered} prompts were answered in {self.seconds:.1f} s.",
            *self.notes,
        ]
        counted = ", ".join(f"{n:,} {name}" for name, n in self.tokens.items() if n)
        if counted:
            cost = "" if self.cost is None else f", which cost {self.cost:,.2f}"
            lines.append(f"Tokens: {counted}{cost}.")
        lines += [
            f"Missing: {n} {reason} ({REASONS.get(reason, 'no further word')})."
            for reason, n in _most(self.missing)
        ]
        lines += [f"No answer: {n} {reason}." for reason, n in _most(self.failed)]
        lines += [f"  {example}" for example in self.examples]
        if self.left:
            lines.append(f"{self.left} prompts are still to be asked; run the command again.")
        return lines


def _planned(planned: ProbeWork, run: str) -> list[str]:
    count = sum(planned.prompts.values())
    by = ", ".join(f"{kind} {n}" for kind, n in planned.prompts.items())
    lines = [
        f"Run {run!r}: {planned.responses} responses to {planned.queries} queries are probed.",
        f"Prompts to ask: {count}" + (f" ({by})" if by else ""),
    ]
    if planned.queries < FEW_QUERIES:
        lines.append(
            f"Fewer than {FEW_QUERIES} queries: intervals will be wide; judge more, or take a "
            "larger --sample."
        )
    if planned.asked_before:
        lines.append(f"Asked before: {planned.asked_before}")
    if planned.not_alterable:
        named = ", ".join(f"{n} {probe}" for probe, n in planned.not_alterable.items())
        lines.append(f"Not altered, since there is nothing to alter: {named}")
    if planned.too_long:
        lines.append(
            f"Longer than the window: {planned.too_long} prompts, which are stored as missing."
        )
    return lines


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
