"""What the rest of a run will take, from answers that were counted."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any, NamedTuple

from judge.protocol.exchange import TOKENS, Answer
from judge.settings import JudgeSettings

LEVEL = 0.95


class CountedAnswer(NamedTuple):
    """A prompt's length before it was asked, and what its answer took."""

    size: int
    answer: Answer


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate with its interval; both ends are None where nothing is known of them."""

    estimate: float
    low: float | None = None
    high: float | None = None

    def words(self, form: str = ",.0f") -> str:
        """Return it in words: about 1,200 (1,100 to 1,300)."""
        about = f"about {self.estimate:{form}}"
        if self.low is None or self.high is None:
            return about
        return f"{about} ({self.low:{form}} to {self.high:{form}})"


@dataclass(frozen=True)
class Projection:
    """What the prompts that are left will take."""

    answers: int
    """Counted answers that it rests on."""
    left: int
    """Prompts that it speaks of."""
    tokens: dict[str, IntervalEstimate]
    """prompt, completion, reasoning, cached, as far as they were told."""
    cached_share: float | None
    """Of the prompt tokens of the answers."""
    seconds: IntervalEstimate | None
    """No interval: from the fastest that the concurrency allows to the pace that there was."""
    basis: str
    """Under what the time holds."""
    cost: IntervalEstimate | None
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it as lines of text."""
        lines = [f"The {self.left:,} prompts that are left, from {self.answers} answers:"]
        lines += [f"  {name} tokens: {found.words()}" for name, found in self.tokens.items()]
        if self.seconds is not None:
            by, unit = (60, "min") if self.seconds.estimate >= 120 else (1, "s")
            low, high = self.seconds.low, self.seconds.high
            span = f"about {self.seconds.estimate / by:,.1f}"
            if low is not None and high is not None:
                span = f"{low / by:,.1f} to {high / by:,.1f}"
            lines.append(f"  time: {span} {unit} ({self.basis})")
        if self.cost is not None:
            lines.append(f"  cost: {self.cost.words(',.2f')}")
        if self.answers > 1:
            lines.append(f"  In brackets: {LEVEL:.0%} intervals.")
        return [*lines, *self.notes]


def project(
    told: Sequence[CountedAnswer],
    left: int,
    size_left: float,
    settings: JudgeSettings,
    *,
    wall: float | None = None,
    at_once: int | None = None,
) -> Projection | None:
    """Return what `left` prompts of `size_left` in all will take; None: no answer was counted.

    Parameters
    ----------
    told
        Answers to prompts that stand for the others.
    left, size_left
        Prompts to be asked, and the sum of their lengths in the unit of `CountedAnswer.size`.
    settings
        Prices.
    wall
        Seconds from the first of these prompts to the last answer; None: not known.
    at_once
        Prompts that may be under way at once; None: the engine takes as many as it can.
    """
    counted = [one for one in told if one.answer.prompt_tokens is not None]
    if not counted:
        return None

    def total(
        of: Callable[[Answer], float | None], some: Sequence[CountedAnswer] = counted
    ) -> IntervalEstimate | None:
        pairs = [(one.size, value) for one in some if (value := of(one.answer)) is not None]
        return ratio_total(pairs, left, size_left) if pairs else None

    tokens = {name: total(lambda a, name=name: getattr(a, f"{name}_tokens")) for name in TOKENS}  # type: ignore[misc]
    prompt = sum(one.answer.prompt_tokens or 0 for one in counted)
    cached = [one.answer.cached_tokens for one in counted if one.answer.cached_tokens is not None]
    notes = []
    if cached and sum(cached):
        notes.append(
            "  Cached: prompts of one context stand apart in a sample and side by side in a run, "
            "where more is found again."
        )
    if len(counted) < len(told):
        notes.append(f"  Of {len(told)} answers {len(told) - len(counted)} were not counted.")
    answering = total(lambda answer: answer.milliseconds, told) if at_once else None
    fastest = None if answering is None or not at_once else answering.estimate / 1000 / at_once
    size_told = sum(one.size for one in told)
    paced = None if wall is None or not size_told else wall * size_left / size_told
    seconds, basis = _time(fastest, paced, at_once)
    return Projection(
        len(counted),
        left,
        {name: found for name, found in tokens.items() if found is not None},
        sum(cached) / prompt if cached and prompt else None,
        seconds,
        basis,
        total(lambda answer: _cost(settings, answer)),
        tuple(notes),
    )


def ratio_total(
    pairs: Sequence[tuple[float, float]], left: int, size_left: float
) -> IntervalEstimate:
    """Estimate the sum of y over `left` units whose sizes x are known, by the ratio of y to x.

    Parameters
    ----------
    pairs
        (x, y) of the units that were observed, a sample of these and the others.
    left, size_left
        Units that were not observed, and the sum of their x.

    Returns
    -------
    IntervalEstimate
        The ratio of the sums times `size_left`, with a t interval of n - 1 degrees of freedom
        for a ratio estimate of a finite population's total (Cochran 1977, Sampling Techniques,
        sections 6.3 and 6.4). No end lies below 0, since no y does. Without an interval for a
        single pair.
    """
    n = len(pairs)
    sum_x, sum_y = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    if not sum_x or not left:
        return IntervalEstimate(0.0 if not left else sum_y / n * left)
    ratio = sum_y / sum_x
    estimate = ratio * size_left
    if n < 2:
        return IntervalEstimate(estimate)
    from scipy.stats import t

    whole = n + left
    residual = sum((y - ratio * x) ** 2 for x, y in pairs) / (n - 1)
    # The mean size of all by that of the sample: the form of the variance that holds up where
    # the sample's sizes are unlike the others (Cochran, equation 6.13).
    mean_ratio = ((sum_x + size_left) / whole) / (sum_x / n)
    error = whole * mean_ratio * sqrt(left / whole / n * residual)
    reach = float(t.ppf(0.5 + LEVEL / 2, n - 1)) * error
    return IntervalEstimate(estimate, max(0.0, estimate - reach), estimate + reach)


def _time(
    fastest: float | None, paced: float | None, at_once: int | None
) -> tuple[IntervalEstimate | None, str]:
    """Return the time from the fastest that is possible to the pace that there was."""
    if fastest is None:
        return (None if paced is None else IntervalEstimate(paced)), "at the pace of these answers"
    if paced is None:
        return IntervalEstimate(fastest), f"if {at_once} are always under way at once"
    basis = f"from {at_once} always under way at once to the pace of these answers"
    return IntervalEstimate(paced, min(fastest, paced), paced), basis


def _cost(settings: JudgeSettings, answer: Answer) -> float | None:
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return None
    return settings.cost(
        answer.prompt_tokens,
        answer.completion_tokens,
        # What was not told to be cached is billed in full.
        answer.cached_tokens or 0,
    )
