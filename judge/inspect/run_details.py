"""A run in full: its details as data, and as lines that fit 80 columns as far as they can."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judge.inspect.call_lines import call_lines
from judge.protocol.exchange import REASONS
from judge.running.calls import Account, Call
from judge.running.work_items import FLAGS
from judge.text import printable


@dataclass(frozen=True)
class ConstructFigures:
    """A run's judgments on one construct, as the score table has them."""

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
    """Reason (`judge.protocol.exchange.REASONS`) to number of judgments."""
    rules: dict[str, int]
    """How the values were found, to their number."""
    bare: float | None
    """Share of the values read from an answer that were a bare number."""


@dataclass(frozen=True)
class Served:
    """Answers under one name of a model and one fingerprint, as the server gave them."""

    model: str | None
    fingerprint: str | None
    answers: int
    first: str
    """Time of the first of them in UTC, as ISO 8601."""
    last: str


@dataclass(frozen=True)
class RunDetails:
    """A run with its figures. Counts are of the score table where nothing else is said."""

    name: str
    engine: str
    endpoint: str | None
    model: str
    model_revision: str | None
    prompt_version: str
    prompt_hash: str
    prompts_at_hand: bool
    """Whether this installation has the very prompts of the run."""
    decoding: dict[str, Any]
    """What is sent beside the prompt, and what the server refused or ignored of it."""
    seed: int | None
    repeats: int
    observed: dict[str, Any]
    """What the start-up probe found beside."""
    software: dict[str, str]
    begun: str
    """Time in UTC, as ISO 8601."""
    config_hash: str
    """SHA-256 of the study.toml under which it was begun."""
    judgments: int
    possible: int
    """Responses in use x constructs that the run has judged x repeats."""
    missing: int
    left_out: dict[str, int]
    """Why judgments are not in the score table, with their number."""
    constructs: list[ConstructFigures]
    parsers: dict[str, int]
    """Version of the parser that read the answers last, to number of judgments."""
    read_again: int
    """Judgments whose newest reading is later than their first."""
    further_attempts: int
    """Judgments of the whole run beyond the first attempt, in the score table or not."""
    tokens: dict[str, int]
    """prompt, completion, reasoning and cached tokens of the whole run, as the server counted."""
    cached_share: float | None
    """Cached tokens by prompt tokens, where the server told both."""
    milliseconds: float | None
    """Mean time of an answer; None where it is not known."""
    served: list[Served]
    """In the order of their first answer; several say that the judge changed."""
    flags: dict[str, int]
    """Flag to number of judgments of the whole run."""
    calls: list[Call]
    """In the order in which they began; those of earlier releases are not recorded."""
    account: Account
    """What the calls come to."""

    def as_json(self) -> dict[str, Any]:
        """Return the details as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the details as lines without control characters."""
        parts = (
            _identity(self),
            _figures(self),
            _reading(self),
            _cost(self),
            call_lines(self.calls, self.account),
            _warnings(self),
        )
        return [printable(line) for part in parts for line in part]


def _identity(run: RunDetails) -> Iterator[str]:
    yield f"Run {run.name}, begun {run.begun}"
    at = f" at {run.endpoint}" if run.endpoint else ""
    revision = f", revision {run.model_revision}" if run.model_revision else ""
    yield f"  engine     {run.engine}{at}"
    yield f"  model      {run.model}{revision}"
    yield f"  prompts    {run.prompt_version}"
    yield f"  SHA-256    {run.prompt_hash}"
    seed = [] if run.seed is None else [f"seed {run.seed}"]
    repeats = [] if run.repeats == 1 else [f"each prompt {run.repeats} times"]
    yield from _wrapped("  sent       ", [*_pairs(run.decoding), *seed, *repeats])
    yield from _wrapped("  observed   ", _pairs(run.observed))
    yield from _wrapped("  software   ", [f"{name} {v}" for name, v in run.software.items()])
    if not run.prompts_at_hand:
        yield "  This installation has no prompts with this hash."


def _figures(run: RunDetails) -> Iterator[str]:
    yield ""
    yield (
        f"{run.judgments} of {run.possible} possible judgments are in the score table, "
        f"{run.missing} without a value."
    )
    for reason, number in run.left_out.items():
        yield f"Not in the score table: {number} {reason}."
    if not run.constructs:
        return
    yield ""
    head = ("construct", "judged", "values", "distinct", "mean", "at min", "at max", "bare")
    rows = [head, *(_row(figures) for figures in run.constructs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])
    yield ""
    for figures in run.constructs:
        for reason, number in figures.missing.items():
            yield f"{figures.construct}: {number} {reason} ({REASONS.get(reason, 'missing')})"


def _row(figures: ConstructFigures) -> tuple[str, ...]:
    return (
        figures.construct,
        str(figures.judgments),
        str(figures.values),
        str(figures.distinct),
        "" if figures.mean is None else f"{figures.mean:.1f}",
        *(_share(share) for share in (figures.at_min, figures.at_max, figures.bare)),
    )


def _reading(run: RunDetails) -> Iterator[str]:
    rules: dict[str, int] = {}
    for figures in run.constructs:
        for rule, number in figures.rules.items():
            rules[rule] = rules.get(rule, 0) + number
    found = [f"{number} {rule}" for rule, number in sorted(rules.items(), key=lambda i: -i[1])]
    yield from _wrapped("How values were found: ", found)
    parsers = [f"{version} ({number} judgments)" for version, number in run.parsers.items()]
    yield from _wrapped("Read by the parser: ", parsers)
    if run.read_again:
        yield f"{run.read_again} judgments were read again; the newest reading counts."
    if run.further_attempts:
        yield f"{run.further_attempts} further attempts were made; `ccrs judge export` has them."


def _cost(run: RunDetails) -> Iterator[str]:
    if run.tokens:
        share = "" if run.cached_share is None else f" ({_share(run.cached_share)} cached)"
        words = [f"{number:,} {name}" for name, number in run.tokens.items()]
        yield f"Tokens: {', '.join(words)}{share}."
    if run.milliseconds is not None:
        yield f"Mean time of an answer: {run.milliseconds:,.0f} ms."


def _warnings(run: RunDetails) -> Iterator[str]:
    for flag, number in run.flags.items():
        yield f"{FLAGS.get(flag, flag)}: {number} judgments."
    if len(run.served) > 1:
        yield "Warning: the server named several models or settings of its own:"
    for served in run.served:
        named = ", ".join(part for part in (served.model, served.fingerprint) if part)
        if len(run.served) > 1:
            yield f"  {named or '(not named)'}: {served.answers} answers,"
            yield f"    {served.first} to {served.last}"
        elif named:
            yield f"Served by {named}."


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _pairs(values: Mapping[str, Any]) -> list[str]:
    said = {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()}
    return [f"{name} {text}" for name, text in said.items() if text not in {"null", "[]", "{}"}]


def _wrapped(title: str, parts: Sequence[str]) -> Iterable[str]:
    """Return parts with commas between them, broken between parts only."""
    lines: list[str] = []
    for number, part in enumerate(parts, 1):
        text = part + ("," if number < len(parts) else "")
        if lines and len(lines[-1]) + 1 + len(text) <= 80:
            lines[-1] += f" {text}"
        else:
            lines.append((title if not lines else " " * min(len(title), 13)) + text)
    return lines
