"""Forecast of tokens, time and cost of the remaining prompts, from answers so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from judge.protocol.exchange import TOKENS, Answer
from judge.run_settings import JudgeSettings
from study.text import counted

LEVEL = 0.95


class CountedAnswer(NamedTuple):
    """The length of a prompt, and the answer with its counts of tokens."""

    size: int
    answer: Answer


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate with its interval; both ends are None if they are not known."""

    estimate: float
    low: float | None = None
    high: float | None = None

    def text(self, form: str = ",.0f") -> str:
        """Return it as text: about 1,200 (1,100 to 1,300)."""
        about = f"about {self.estimate:{form}}"
        if self.low is None or self.high is None:
            return about
        return f"{about} ({self.low:{form}} to {self.high:{form}})"


@dataclass(frozen=True)
class Forecast:
    """Tokens, time and cost of the remaining prompts."""

    answers: int
    """Counted answers that it is based on."""
    prompts: int
    """Remaining prompts."""
    tokens: dict[str, IntervalEstimate]
    """prompt, completion, reasoning, cached, as far as the server reported them."""
    cached_share: float | None
    """Cached tokens by prompt tokens of the answers."""
    seconds: IntervalEstimate | None
    """A range, not an interval: from full concurrency to the pace of the answers."""
    basis: str
    """The assumption behind the time."""
    cost: IntervalEstimate | None
    notes: tuple[str, ...] = field(default=())

    def lines(self) -> list[str]:
        """Return the forecast as lines of text."""
        if not self.prompts:
            return ["No prompt is left to ask, so there is no forecast."]
        prompts = counted(self.prompts, "remaining prompt")
        lines = [f"Forecast for {prompts}, from {counted(self.answers, 'answer')}:"]
        lines += [f"  {name} tokens: {estimate.text()}" for name, estimate in self.tokens.items()]
        if self.seconds is not None:
            by, unit = (60, "min") if self.seconds.estimate >= 120 else (1, "s")
            low, high = self.seconds.low, self.seconds.high
            span = f"about {self.seconds.estimate / by:,.1f}"
            if low is not None and high is not None:
                span = f"{low / by:,.1f} to {high / by:,.1f}"
            lines.append(f"  time: {span} {unit} ({self.basis})")
        if self.cost is not None:
            lines.append(f"  cost: {self.cost.text(',.2f')}")
        if self.answers > 1:
            lines.append(f"  In brackets: {LEVEL:.0%} intervals.")
        return [*lines, *self.notes]


def forecast(
    answers: Sequence[CountedAnswer],
    prompts: int,
    size: float,
    settings: JudgeSettings,
    *,
    wall: float | None = None,
) -> Forecast | None:
    """Return the forecast for remaining prompts; None if none of the answers has a count of tokens.

    Where no prompt remains, it has no figures.

    Parameters
    ----------
    answers
        Answers to a sample of the prompts.
    prompts, size
        Number of the remaining prompts, and the sum of their lengths in the unit of
        `CountedAnswer.size`.
    settings
        Prices, and the largest number of simultaneous prompts, if the engine does not decide.
    wall
        Seconds from the first of the answered prompts to the last answer; None: not known.
    """
    tallied = [item for item in answers if item.answer.prompt_tokens is not None]
    if not prompts:
        return Forecast(len(tallied), 0, {}, None, None, "", None)
    if not tallied:
        return None

    def total(
        figure: Callable[[Answer], float | None], sample: Sequence[CountedAnswer] = tallied
    ) -> IntervalEstimate | None:
        pairs = [(item.size, y) for item in sample if (y := figure(item.answer)) is not None]
        return ratio_total(pairs, prompts, size) if pairs else None

    tokens = {name: total(lambda a, name=name: getattr(a, f"{name}_tokens")) for name in TOKENS}  # type: ignore[misc]
    prompt = sum(item.answer.prompt_tokens or 0 for item in tallied)
    cached = [n for item in tallied if (n := item.answer.cached_tokens) is not None]
    notes = []
    if cached and sum(cached):
        notes.append(
            "  Cached: prompts of one context are scattered in a sample and follow each other in a "
            "run, where a larger share is cached."
        )
    if len(tallied) < len(answers):
        uncounted = len(answers) - len(tallied)
        notes.append(
            f"  Without a count of tokens: {uncounted:,} of {counted(len(answers), 'answer')}."
        )
    at_once = settings.at_once
    answering = total(lambda answer: answer.milliseconds, answers) if at_once else None
    fastest = None if answering is None or not at_once else answering.estimate / 1000 / at_once
    answered_size = sum(item.size for item in answers)
    paced = None if wall is None or not answered_size else wall * size / answered_size
    seconds, basis = _time(fastest, paced, at_once)
    return Forecast(
        len(tallied),
        prompts,
        {name: estimate for name, estimate in tokens.items() if estimate is not None},
        sum(cached) / prompt if cached and prompt else None,
        seconds,
        basis,
        total(lambda answer: _cost(settings, answer)),
        tuple(notes),
    )


def ratio_total(pairs: Sequence[tuple[float, float]], units: int, size: float) -> IntervalEstimate:
    """Estimate the sum of y over unobserved units from their sizes x, by the ratio of y to x.

    Parameters
    ----------
    pairs
        (x, y) of the observed units, a random sample of all units.
    units, size
        Number of the unobserved units, and the sum of their x.

    Returns
    -------
    IntervalEstimate
        The ratio of the sums times `size`, with a t interval of n - 1 degrees of freedom
        for a ratio estimate of a finite population's total (Cochran 1977, Sampling Techniques,
        sections 6.3 and 6.4). Its ends are at least 0, as every y is. A single pair gives no
        interval.
    """
    n = len(pairs)
    sum_x, sum_y = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    if not sum_x or not units:
        return IntervalEstimate(0.0 if not units else sum_y / n * units)
    ratio = sum_y / sum_x
    estimate = ratio * size
    if n < 2:
        return IntervalEstimate(estimate)
    from scipy.stats import t

    whole = n + units
    residual = sum((y - ratio * x) ** 2 for x, y in pairs) / (n - 1)
    # Mean size of all units by that of the sample: this form of the variance is robust to a sample
    # whose sizes differ from the others (Cochran, equation 6.13).
    mean_ratio = ((sum_x + size) / whole) / (sum_x / n)
    error = whole * mean_ratio * sqrt(units / whole / n * residual)
    reach = float(t.ppf(0.5 + LEVEL / 2, n - 1)) * error
    return IntervalEstimate(estimate, max(0.0, estimate - reach), estimate + reach)


def _time(
    fastest: float | None, paced: float | None, at_once: int | None
) -> tuple[IntervalEstimate | None, str]:
    """Return the time, from full concurrency to the pace of the answers, with its assumption."""
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
        # Tokens that are not reported as cached are charged in full.
        answer.cached_tokens or 0,
    )
