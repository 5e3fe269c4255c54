"""What a run did, as counts, and as lines to read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judge.protocol.exchange import REASONS, UNASKED
from judge.running.forecast import Projection
from judge.running.work_items import FLAGS


@dataclass(frozen=True)
class Outcome:
    """What one call of `judge_study` did."""

    run: str
    """Name of the run, and of the scorer in the tables."""
    begun: bool
    """Whether it was begun now, or gone on with."""
    judged: int
    """Judgments that were stored, one for each response, construct and repeat."""
    asked: int
    """Prompts that were answered."""
    left: int
    """Judgments that are still to be made of what was wanted, --limit aside."""
    missing: dict[str, int]
    """Of the judgments stored, those without a value, by reason."""
    failed: dict[str, int]
    """Prompts that got no answer, by reason; the next run asks them."""
    unanswered: int
    """Judgments of these prompts that the run has not in any form."""
    run_judgments: int
    """Judgments of the whole run, as the score table has them."""
    run_missing: dict[str, int]
    """Of these, those without a value, by reason."""
    flags: dict[str, int]
    tokens: dict[str, int] = field(default_factory=dict)
    """prompt, completion, reasoning and cached tokens that the server counted."""
    seconds: float = 0.0
    served: dict[str, int] = field(default_factory=dict)
    """Answers of the whole run by the model and fingerprint that the server named."""
    text_metrics: dict[str, dict[str, int]] = field(default_factory=dict)
    """Scores of each metric that asks nothing: stored now, stored before, and differing."""
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """The first failures in the words of the server."""
    cost: float | None = None
    """Questions of the engine's own included."""
    cost_is_most: bool = False
    """Whether cached tokens were told, and no price for them."""
    uncounted: int = 0
    """Answers whose prompt tokens the server did not tell: no part of tokens and cost."""
    sample: bool = False
    """Whether this call asked a sample of the run only."""
    estimate: Projection | None = None
    """What the rest takes, from a sample; null where no answer was counted."""
    retries: dict[str, int] = field(default_factory=dict)
    """Tries of one prompt beyond its first, by what the try before them met."""
    overhead: dict[str, int] = field(default_factory=dict)
    """Calls and tokens of the engine's own questions: its probe, prompts counted again."""
    max_missing: float = 0.05
    asks: bool = True
    """Whether answers could come in this call; nothing falls short where none could."""
    reasons: dict[str, str] = field(default_factory=dict)
    """What the missing reasons of the metric itself mean."""

    @property
    def missing_share(self) -> float:
        """Share of the run so far that has no value, or got no answer now."""
        missing = sum(n for reason, n in self.run_missing.items() if reason not in UNASKED)
        unaskable = sum(n for reason, n in self.run_missing.items() if reason in UNASKED)
        whole = self.run_judgments - unaskable + self.unanswered
        return (missing + self.unanswered) / whole if whole else 0.0

    @property
    def falls_short(self) -> bool:
        """Whether more is missing than was allowed."""
        return self.asks and self.missing_share > self.max_missing

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as values that JSON can hold."""
        shares = {"missing_share": self.missing_share, "falls_short": self.falls_short}
        return {**asdict(self), **shares}

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""
        lines = [
            f"{self.judged} judgments of the run {self.run!r} were stored; {self.asked} prompts "
            f"were answered in {_duration(self.seconds)}{self._rate()}."
        ]
        lines += list(self.notes)
        lines += self._tokens()
        lines += [
            f"Missing: {n} {reason} ({self._meaning(reason)})." for reason, n in _most(self.missing)
        ]
        if self.retries:
            met = ", ".join(f"{n} after {reason}" for reason, n in _most(self.retries))
            lines.append(f"Tried again: {met}.")
        lines += [f"No answer: {n} {reason}." for reason, n in _most(self.failed)]
        lines += [f"  {example}" for example in self.examples]
        lines += [f"{FLAGS.get(flag, flag)}: {n} judgments." for flag, n in _most(self.flags)]
        if len(self.served) > 1:
            lines.append("Warning: the server named several models or settings of its own:")
            lines += [f"  {name}: {n} answers" for name, n in self.served.items()]
        lines += self._text_metrics()
        if self.estimate is not None:
            lines += self.estimate.lines()
        elif self.sample:
            lines.append("The server counted no tokens, so that nothing can be said of the rest.")
        if self.left and self.asks:
            without = " without --estimate" if self.sample else ""
            lines.append(
                f"{self.left} judgments are still to be made; run the command again{without}."
            )
        if self.falls_short:
            lines.append(
                f"{self.missing_share:.1%} of the run is missing, more than the "
                f"{self.max_missing:.1%} that --max-missing allows."
            )
        return lines

    def _meaning(self, reason: str) -> str:
        return self.reasons.get(reason) or REASONS.get(reason, "a reason of the metric")

    def _rate(self) -> str:
        return f" ({self.asked / self.seconds:.1f} a second)" if self.seconds > 1 else ""

    def _tokens(self) -> list[str]:
        counted = {name: n for name, n in self.tokens.items() if n}
        if not counted:
            return []
        words = ", ".join(f"{n:,} {name}" for name, n in counted.items())
        most = " at most" if self.cost_is_most else ""
        cost = "" if self.cost is None else f", which cost{most} {self.cost:,.2f}"
        lines = [f"Tokens: {words}{cost}."]
        if self.uncounted:
            lines.append(f"Not in these counts: {self.uncounted} answers, which were not counted.")
        if self.overhead.get("prompt"):
            spent = sum(self.overhead.get(name, 0) for name in ("prompt", "completion"))
            lines.append(
                f"Beside them {spent:,} tokens went into {self.overhead.get('calls', 0)} questions "
                "of other kinds (the probe, prompts counted again, rounds of drift); the cost "
                "holds them."
                if self.cost is not None
                else f"Beside them {spent:,} tokens went into {self.overhead.get('calls', 0)} "
                "questions of other kinds (the probe, prompts counted again, rounds of drift)."
            )
        return lines

    def _text_metrics(self) -> list[str]:
        lines = []
        for name, counts in self.text_metrics.items():
            line = f"{name}: {counts['stored']} scores were stored"
            if counts["differing"]:
                line += (
                    f"; {counts['differing']} that the study holds already differ from what the "
                    "texts give, and stay"
                )
            if counts["stored"] or counts["differing"]:
                lines.append(line + ".")
        return lines


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
