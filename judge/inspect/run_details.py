"""A run in full: as data, and as lines that fit 80 columns where possible."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.running.calls import Account, Call
from judge.running.items import FLAGS
from judge.running.judgments import Served
from judge.text import Result, by_number, duration, printable
from study.text import counted

# Calls that are shown one by one; --json contains all.
_CALLS_SHOWN = 10


@dataclass(frozen=True)
class ConstructFigures:
    """The judgments of a run on one construct, as they are in the score table."""

    construct: str
    scale: list[float]
    """Its two ends."""
    judgments: int
    values: int
    distinct: int
    """Number of different values."""
    mean: float | None
    """In points; None where there is no value."""
    at_min: float | None
    """Share of the values at the lower end of the scale."""
    at_max: float | None
    missing: dict[str, int]
    """Reason to number of judgments."""
    rules: dict[str, int]
    """Rule by which values were read, to their number."""
    bare: float | None
    """Share of the read answers that were a bare number."""


@dataclass(frozen=True)
class RunDetails(Result):
    """A run with its figures. Counts are those of the score table unless stated otherwise."""

    name: str
    engine: str
    endpoint: str | None
    model: str
    model_revision: str | None
    prompt_version: str
    prompt_hash: str
    has_prompts: bool
    """Whether the prompts of the run are installed or in the study."""
    decoding: dict[str, Any]
    """Parameters sent with each prompt, and those that the server refused or ignored."""
    seed: int | None
    repeats: int
    observed: dict[str, Any]
    """Further findings of the engine at its start."""
    software: dict[str, str]
    begun: str
    """Time in UTC, as ISO 8601."""
    config_hash: str
    """SHA-256 of study.toml when the run was begun."""
    judgments: int
    possible: int
    """Current responses x constructs that the run has judged x repeats."""
    pairs: int
    """Pairs of responses that the run compared, for each construct and repeat."""
    pairs_missing: int
    """Of these, those without a choice in both orders."""
    missing: int
    left_out: dict[str, int]
    """Reason why judgments are not in the score table, to their number."""
    constructs: list[ConstructFigures]
    reasons: dict[str, str]
    """Explanations of the reasons of missing values."""
    parsers: dict[str, int]
    """Version of the parser of the newest reading, to number of judgments."""
    read_again: int
    """Judgments with more than one reading."""
    further_attempts: int
    """Judgments of the whole run beyond the first attempt, in the score table or not."""
    tokens: dict[str, int]
    """prompt, completion, reasoning and cached tokens of the whole run, as the server counted."""
    cached_share: float | None
    """Cached tokens by prompt tokens, where the server reported both."""
    milliseconds: float | None
    """Mean time of an answer; None where it is not known."""
    served: list[Served]
    """In the order of their first answer; more than one means that the judge changed."""
    flags: dict[str, int]
    """Flag to number of judgments of the whole run."""
    calls: list[Call]
    """In the order in which they began."""
    account: Account
    """Sums over the calls."""

    def lines(self) -> list[str]:
        """Return the details as lines without control characters."""
        parts = (
            _identity_lines(self),
            _figure_lines(self),
            _reading_lines(self),
            _usage_lines(self),
            _call_lines(self.calls, self.account),
            _warning_lines(self),
        )
        return [printable(line) for part in parts for line in part]


def _identity_lines(run: RunDetails) -> Iterator[str]:
    yield f"Run {run.name}, begun {run.begun}"
    endpoint = f" at {run.endpoint}" if run.endpoint else ""
    revision = f", revision {run.model_revision}" if run.model_revision else ""
    yield f"  engine     {run.engine}{endpoint}"
    yield f"  model      {run.model}{revision}"
    yield f"  prompts    {run.prompt_version}"
    yield f"  SHA-256    {run.prompt_hash}"
    seed = [] if run.seed is None else [f"seed {run.seed}"]
    repeats = [] if run.repeats == 1 else [f"each prompt {run.repeats} times"]
    yield from _wrapped("  sent       ", [*_pairs(run.decoding), *seed, *repeats])
    yield from _wrapped("  observed   ", _pairs(run.observed))
    yield from _wrapped("  software   ", [f"{name} {v}" for name, v in run.software.items()])
    if not (run.has_prompts or run.pairs):
        yield "  Prompts with this hash are neither installed nor in the study."


def _figure_lines(run: RunDetails) -> Iterator[str]:
    yield ""
    if run.pairs:
        yield (
            f"{counted(run.pairs, 'pair of responses was', 'pairs of responses were')} compared, "
            f"each construct counted, {run.pairs_missing} of them without a choice in both orders."
        )
        return
    yield (
        f"{run.judgments} of {run.possible} possible judgments are in the score table, "
        f"{run.missing} without a value."
    )
    for reason, number in run.left_out.items():
        yield f"Not in the score table: {number} {reason}."
    if not run.constructs:
        return
    yield ""
    header = ("construct", "judged", "values", "distinct", "mean", "at min", "at max", "bare")
    rows = [header, *(_row(figures) for figures in run.constructs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])
    yield ""
    for figures in run.constructs:
        for reason, number in figures.missing.items():
            yield f"{figures.construct}: {number} {reason} ({run.reasons.get(reason, 'missing')})"


def _row(figures: ConstructFigures) -> tuple[str, ...]:
    return (
        figures.construct,
        str(figures.judgments),
        str(figures.values),
        str(figures.distinct),
        "" if figures.mean is None else f"{figures.mean:.1f}",
        *(_percent(share) for share in (figures.at_min, figures.at_max, figures.bare)),
    )


def _reading_lines(run: RunDetails) -> Iterator[str]:
    rules: Counter[str] = Counter()
    for figures in run.constructs:
        rules.update(figures.rules)
    yield from _wrapped("Values read by rule: ", [f"{n} {rule}" for rule, n in rules.most_common()])
    parsers = [
        f"{version} ({counted(number, 'judgment')})" for version, number in run.parsers.items()
    ]
    yield from _wrapped("Version of the parser: ", parsers)
    if run.read_again:
        yield (
            f"{counted(run.read_again, 'judgment was', 'judgments were')} read again; the newest "
            "reading counts."
        )
    if run.further_attempts:
        yield (
            f"{counted(run.further_attempts, 'further attempt')}, included by `ccrs judge export`."
        )


def _usage_lines(run: RunDetails) -> Iterator[str]:
    if run.tokens:
        share = "" if run.cached_share is None else f" ({_percent(run.cached_share)} cached)"
        yield f"Tokens: {_listed(run.tokens)}{share}."
    if run.milliseconds is not None:
        yield f"Mean time of an answer: {run.milliseconds:,.0f} ms."


def _call_lines(calls: Sequence[Call], total: Account) -> Iterator[str]:
    """Yield the sums over the calls, then the last calls one by one."""
    if not calls:
        return
    yield ""
    unended = f", {total.unended} without an end (killed, or running)" if total.unended else ""
    yield f"Calls: {total.calls}{unended}."
    pace = f", {total.tokens_a_second:,.0f} tokens a second" if total.tokens_a_second else ""
    yield (
        f"{counted(total.answered, 'prompt was', 'prompts were')} answered in "
        f"{duration(total.seconds)}{pace}."
    )
    if total.retries:
        yield f"Tried again: {_listed(total.retries, ' after ')}."
    if total.failed:
        yield f"No answer, to be asked by the next call: {_listed(total.failed)}."
    if total.overhead:
        yield f"Other requests (the probe, counts, drift): {_listed(total.overhead)}."
    if "recomputed" in total.figures:
        least = total.figures.get("least_recomputed")
        possible = "" if least is None else f"; the least possible is {least:.1%}"
        yield f"Computed prompt tokens: {total.figures['recomputed']:.1%}{possible}."
    if total.cost is not None:
        noun = "call" if total.unpriced == 1 else "calls"
        without = f" ({total.unpriced} {noun} without prices)" if total.unpriced else ""
        yield f"Cost: {total.cost:,.2f}{without}."
    yield from map(_call_line, calls[-_CALLS_SHOWN:])
    if len(calls) > _CALLS_SHOWN:
        yield f"  --json shows {counted(len(calls) - _CALLS_SHOWN, 'earlier call')}."


def _call_line(call: Call) -> str:
    title = f"  {call.began} {call.kind}: "
    if call.ended is None:
        return f"{title}{counted(call.planned, 'prompt')} to ask, no end"
    cost = "" if call.cost is None else f", {call.cost:,.2f}"
    failed = f", {sum(call.failed.values())} without answer" if call.failed else ""
    return (
        f"{title}{call.answered:,} of {counted(call.planned, 'prompt')}{failed}, "
        f"{counted(call.judged or 0, 'judgment')}, "
        f"{duration(call.seconds or 0.0)}{cost}, {call.ended}"
    )


def _warning_lines(run: RunDetails) -> Iterator[str]:
    for flag, number in by_number(run.flags):
        yield f"{FLAGS.get(flag, flag)}: {counted(number, 'judgment')}."
    if len(run.served) > 1:
        yield "Warning: the server named several models or fingerprints:"
    for served in run.served:
        if len(run.served) > 1:
            yield f"  {served.name or '(not named)'}: {counted(served.answers, 'answer')},"
            yield f"    {served.first} to {served.last}"
        elif served.name:
            yield f"Served by {served.name}."


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _listed(counts: Mapping[str, int], between: str = " ") -> str:
    return ", ".join(f"{number:,}{between}{name}" for name, number in counts.items())


def _pairs(values: Mapping[str, Any]) -> list[str]:
    texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in values.items()}
    return [f"{name} {text}" for name, text in texts.items() if text not in {"null", "[]", "{}"}]


def _wrapped(title: str, parts: Sequence[str]) -> Iterable[str]:
    """Return parts separated by commas, with line breaks only between parts."""
    lines: list[str] = []
    for number, part in enumerate(parts, 1):
        text = part + ("," if number < len(parts) else "")
        if lines and len(lines[-1]) + 1 + len(text) <= 80:
            lines[-1] += f" {text}"
        else:
            lines.append((title if not lines else " " * min(len(title), 13)) + text)
    return lines
