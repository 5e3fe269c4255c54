"""The outcome of a call on one run or several, as counts and as lines of text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from judge.protocol.exchange import REASONS, UNASKED
from judge.running.forecast import Forecast
from judge.running.items import FLAGS
from judge.running.suite_forecast import SuiteForecast
from judge.running.survey import ItemCounts
from judge.running.text_scores import TextScoreCounts
from judge.text import Result, by_number, duration
from study.text import counted


@dataclass(frozen=True)
class Outcome(Result):
    """The result of one call on a run: on its responses, or on probes or pairs."""

    run: str
    """Name of the run, and of the scorer in the tables."""
    begun: bool
    """Whether this call began the run."""
    answered: int
    """Prompts with an answer."""
    remaining: int
    """Judgments that are still to be made, or prompts about probes or pairs that are still to be
    asked; those beyond --limit included."""
    missing: dict[str, int]
    """Answers stored by this call that have no value, by reason."""
    failed: dict[str, int]
    """Prompts without an answer, by reason; the next call asks them again."""
    planned: ItemCounts | None = None
    """The prompts about probes or pairs at the beginning of the call; None: it judged responses."""
    judged: int = 0
    """Judgments stored by this call, one for each response, construct and repeat."""
    unanswered: int = 0
    """Judgments of the prompts without an answer, for which the run has no earlier attempt."""
    run_judgments: int = 0
    """Judgments of the whole run in the score table."""
    run_missing: dict[str, int] = field(default_factory=dict)
    """Judgments of the whole run without a value, by reason."""
    flags: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    """prompt, completion, reasoning and cached tokens that the server counted."""
    seconds: float = 0.0
    served: dict[str, int] = field(default_factory=dict)
    """Answers of the whole run, by the model and fingerprint that the server named."""
    text_metrics: dict[str, TextScoreCounts] = field(default_factory=dict)
    """Scores of each metric without prompts: `stored`, `existing` and `differing`."""
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """The first failures in the words of the server."""
    cost: float | None = None
    """Cost of all tokens, the engine's own requests included."""
    cost_is_most: bool = False
    """Whether the cost is an upper bound: cached tokens have no price."""
    uncounted: int = 0
    """Answers without a count of prompt tokens, which tokens and cost leave out."""
    sample: bool = False
    """Whether this call asked only a sample of the run."""
    queries: int | None = None
    """Queries of the sample, where a metric in steps asked only a sample of the run."""
    by_step: SuiteForecast | None = None
    """Forecast for the remaining prompts of all metrics of the call, by step."""
    estimate: Forecast | None = None
    """Forecast for the remaining prompts, from a sample; None if no answer was counted."""
    retries: dict[str, int] = field(default_factory=dict)
    """Further tries of a prompt, by the failure of the try before."""
    overhead: dict[str, int] = field(default_factory=dict)
    """Calls and tokens of the engine's own requests: its probe, prompts counted again."""
    max_missing: float = 0.05
    asks: bool = True
    """Whether the engine answers during a call; if not, nothing can fall short."""
    by_files: bool = False
    """Whether answers come in files, so that the same command brings no further ones."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Explanations of the metric's own missing reasons."""

    @property
    def missing_share(self) -> float:
        """Share of the run so far without a value or, in this call, without an answer."""
        missing = sum(n for reason, n in self.run_missing.items() if reason not in UNASKED)
        unaskable = sum(n for reason, n in self.run_missing.items() if reason in UNASKED)
        total = self.run_judgments - unaskable + self.unanswered
        return (missing + self.unanswered) / total if total else 0.0

    @property
    def falls_short(self) -> bool:
        """Whether the missing share exceeds --max-missing."""
        return self.asks and self.missing_share > self.max_missing

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as values that JSON can represent."""
        shares = {"missing_share": self.missing_share, "falls_short": self.falls_short}
        return {**super().as_json(), **shares}

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""
        lines = [*self._first_lines(), *self.notes, *self._token_lines()]
        for reason, number in by_number(self.missing):
            meaning = self.reasons.get(reason) or REASONS.get(reason, "a reason of the metric")
            lines.append(f"Missing: {number} {reason} ({meaning}).")
        if self.retries:
            retries = ", ".join(f"{n} after {reason}" for reason, n in by_number(self.retries))
            lines.append(f"Tried again: {retries}.")
        lines += [f"No answer: {n} {reason}." for reason, n in by_number(self.failed)]
        lines += [f"  {example}" for example in self.examples]
        lines += [
            f"{FLAGS.get(flag, flag)}: {counted(n, 'judgment')}."
            for flag, n in by_number(self.flags)
        ]
        if len(self.served) > 1:
            lines.append("Warning: the server named several models or fingerprints:")
            lines += [f"  {name}: {counted(n, 'answer')}" for name, n in self.served.items()]
        lines += self._text_metric_lines()
        if self.queries is not None:
            asked = counted(self.queries, "query", "queries")
            lines.append(f"Asked: all steps of {asked}, drawn by the study's seed.")
        if self.by_step is not None:
            lines += self.by_step.lines()
        if self.estimate is not None:
            lines += self.estimate.lines()
        elif self.sample and not self.tokens.get("prompt"):
            lines.append("The server counted no tokens, so there is no forecast.")
        if self.remaining and self.asks:
            lines.append(self._remaining_line())
        if self.falls_short:
            lines.append(
                f"{self.missing_share:.1%} of the run is missing, more than --max-missing "
                f"({self.max_missing:.1%}) allows."
            )
        return lines

    def _remaining_line(self) -> str:
        if self.planned is None:
            left = f"{counted(self.remaining, 'judgment is', 'judgments are')} still to be made"
        else:
            left = f"{counted(self.remaining, 'prompt is', 'prompts are')} still to be asked"
        if self.by_files:
            return f"{left}: give further files of answers with --answers."
        without = " without --estimate" if self.sample or self.queries else ""
        return f"{left}; run the command again{without}."

    def _first_lines(self) -> list[str]:
        rate = f" ({self.answered / self.seconds:.1f} a second)" if self.seconds > 1 else ""
        prompts = counted(self.answered, "prompt was", "prompts were")
        answered = f"{prompts} answered in {duration(self.seconds)}{rate}."
        if self.planned is None:
            stored = "was" if self.judged == 1 else "were"
            judged = f"{counted(self.judged, 'judgment')} of the run {self.run!r} {stored} stored"
            return [f"{judged}; {answered}"]
        lines = self.planned.lines(self.run)
        if self.planned.pairs:
            begun = "begun" if self.begun else "continued"
            lines.insert(0, f"Run {self.run!r} was {begun}.")
        return [*lines, answered]

    def _token_lines(self) -> list[str]:
        tokens = {name: n for name, n in self.tokens.items() if n}
        if not tokens:
            return []
        most = " at most" if self.cost_is_most else ""
        cost = "" if self.cost is None else f", which cost{most} {self.cost:,.2f}"
        lines = [f"Tokens: {', '.join(f'{n:,} {name}' for name, n in tokens.items())}{cost}."]
        if self.uncounted:
            uncounted = counted(self.uncounted, "answer")
            lines.append(f"Not included: {uncounted} without a count of tokens.")
        if self.overhead.get("prompt"):
            spent = sum(self.overhead.get(name, 0) for name in ("prompt", "completion"))
            included = "" if self.cost is None else "; the cost includes them"
            others = counted(self.overhead.get("calls", 0), "other request")
            lines.append(
                f"In addition {counted(spent, 'token')} in {others} "
                f"(the probe, prompts counted again, rounds of drift){included}."
            )
        return lines

    def _text_metric_lines(self) -> list[str]:
        lines = []
        for name, counts in self.text_metrics.items():
            line = f"{name}: {counted(counts['stored'], 'score was', 'scores were')} stored"
            if counts["differing"]:
                line += (
                    "; not changed, although the texts give another value: "
                    f"{counted(counts['differing'], 'existing score')}"
                )
            if counts["stored"] or counts["differing"]:
                lines.append(line + ".")
        return lines


@dataclass(frozen=True)
class SuiteOutcome(Result):
    """What one call did for several metrics, each of which is a run."""

    outcomes: Sequence[Outcome]

    def as_json(self) -> dict[str, Any]:
        """Return the outcome of each run, and the forecast of all metrics where there is one."""
        runs = [outcome.as_json() for outcome in self.outcomes]
        return {"runs": runs, "forecast": runs[-1]["by_step"]}

    def lines(self) -> list[str]:
        """Return a line for each run, and once what their prompts have in common."""
        total = _together(self.outcomes)
        stored = "was" if total.judged == 1 else "were"
        first = (
            f"{counted(total.judged, 'judgment')} of {len(self.outcomes)} runs {stored} stored; "
            f"{counted(total.answered, 'prompt was', 'prompts were')} answered in "
            f"{duration(total.seconds)}."
        )
        width = max(len(outcome.run) for outcome in self.outcomes)
        runs = [f"  {outcome.run:{width}}  {_counts(outcome)}" for outcome in self.outcomes]
        # The first line of a single run says what the first line here does.
        rest = replace(total, max_missing=1.0).lines()[1:]
        return [first, *runs, *rest, *_short_lines(self.outcomes)]


def _counts(outcome: Outcome) -> str:
    """Return the judgments that a call stored for a run, with those that have no value."""
    missing = ", ".join(f"{number} {reason}" for reason, number in by_number(outcome.missing))
    return f"{outcome.judged:,}" + (f", missing: {missing}" if missing else "")


def _short_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line on the runs of which too much is missing, if there are any."""
    short = [
        f"{outcome.run} {outcome.missing_share:.1%}" for outcome in outcomes if outcome.falls_short
    ]
    if not short:
        return []
    allowed = f"{outcomes[0].max_missing:.1%}"
    return [f"Missing of the whole run, more than --max-missing ({allowed}): {', '.join(short)}."]


_SUMMED = ("answered", "remaining", "judged", "seconds", "uncounted")
_COUNTS = ("missing", "failed", "flags", "tokens", "retries", "overhead", "served")


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the sums of the outcomes; what each of them says is there once."""

    def each(name: str) -> list[Any]:
        return [getattr(outcome, name) for outcome in outcomes]

    further: dict[str, Any] = {name: sum(each(name)) for name in _SUMMED}
    for name in _COUNTS:
        total: Counter[str] = Counter()
        for counts in each(name):
            total.update(counts)
        further[name] = dict(total)
    further |= {name: any(each(name)) for name in ("cost_is_most", "sample")}
    further |= {name: tuple(dict.fromkeys(chain(*each(name)))) for name in ("notes", "examples")}
    for name in ("reasons", "text_metrics"):
        further[name] = dict(chain(*(of_one.items() for of_one in each(name))))
    costs = [cost for cost in each("cost") if cost is not None]
    return replace(outcomes[-1], cost=sum(costs) if costs else None, **further)
