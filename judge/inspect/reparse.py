"""Raw answers read again by the parser at hand; the first reading of each stays."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert

from judge.inspect.run_metric import run_metric
from judge.metrics.ccrs import Ccrs
from judge.parsing import PARSER_VERSION, Parsed, parse_answer
from judge.prompts.template import PromptVersion
from judge.protocol.conditions import CCRS, metric_of
from judge.protocol.exchange import (
    CONTENT_FILTER,
    NO_PASSAGES,
    NO_REFERENCE,
    REJECTED,
    TOO_LONG,
    TRUNCATED_BY_SERVER,
)
from judge.running.lock import sole_writer
from judge.running.runs import run_of
from judge.running.work_items import EMPTY_RESPONSE
from judge.text import printable, quoted
from study.errors import StudyError
from study.facts.judgments import as_read
from study.importing.existing_content import ExistingContent
from study.schema import Judgment, Reading, ReadingBase, now, table
from study.study import Study

STANDING = frozenset(
    {CONTENT_FILTER, TOO_LONG, TRUNCATED_BY_SERVER, REJECTED, NO_PASSAGES, NO_REFERENCE}
)
"""Reasons that stand whatever the text says: what it holds is no answer to the prompt."""

_EXAMPLES = 10
_TOGETHER = 2000


@dataclass(frozen=True)
class Reread:
    """One judgment that came out differently."""

    response_id: str
    construct: str
    repeat: int
    attempt: int
    answer: str | None
    before: str
    """A value with its rule, or the reason why there is none."""
    after: str


@dataclass(frozen=True)
class Reparsing:
    """What reading a run's answers again did, or would do."""

    run: str
    parser_version: str
    dry_run: bool
    read: int
    """Judgments whose raw answer was read."""
    left_alone: int
    """Judgments that no answer's text decides."""
    changed: int
    values_changed: int
    """Of the changed, those with another value, or with one in place of none, or none of one."""
    changes: dict[str, int]
    """ "no_score to labelled" to number of judgments; names are rules and reasons."""
    examples: list[Reread]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the summary as lines of text, without control characters."""
        lines = [
            f"{self.read} answers of the run {self.run!r} were read by parser "
            f"{self.parser_version}; {self.left_alone} judgments rest on no answer's text."
        ]
        if not self.changed:
            return [printable(line) for line in [*lines, "All came out as before."]]
        lines.append(
            f"{self.changed} came out differently, {self.values_changed} of them in their value:"
        )
        lines += [f"  {number} from {change}" for change, number in self.changes.items()]
        lines.append("Examples:" if self.changed > len(self.examples) else "They are:")
        for example in self.examples:
            lines += [
                f"  {example.construct} of {example.response_id}: {_short(example.answer)}",
                f"    {example.before} before, {example.after} now",
            ]
        if self.dry_run:
            lines.append("Nothing was stored. Leave --dry-run out to store these readings.")
        else:
            lines.append(
                "They were stored beside the first readings; the score table takes the newest."
            )
        return [printable(line) for line in lines]


class _Change(NamedTuple):
    row: dict[str, Any]
    """The new reading."""
    judgment: Any
    parsed: Parsed


def reparse_run(study: Study, name: str, *, dry_run: bool = False) -> Reparsing:
    """Read the raw answers of all judgments of a run with this version's parser.

    What comes out differently from the newest reading is stored as a further one; judgments are
    never changed. Whole, or not at all. A second time finds nothing to do.

    Parameters
    ----------
    study : Study
    name : str
        The run.
    dry_run : bool
        Only say what would change.

    Raises
    ------
    StudyError
        The study has no such run, another process works on it, or this installation does not
        have the prompts of the run, which say what scale was asked for.
    """
    with study.read() as connection:
        run = run_of(connection, name)
    metric = run_metric(run, study.folder)
    if metric_of(run) != CCRS:
        raise StudyError(
            f"The run {name!r} is of the metric {metric_of(run)}; only answers to the prompts of "
            f"{CCRS} can be parsed again."
        )
    if not isinstance(metric, Ccrs):
        raise StudyError(
            f"The run {name!r} was made with prompts {run['prompt_version']} of the hash "
            f"{run['prompt_hash']}, which are not at hand, so the scale that they "
            "ask for is not known. Install the version of ccrs-study that made the run, or put the "
            "study's own prompts back as they were."
        )
    prompts = metric.words
    if dry_run:
        return _reread(study, run["id"], name, prompts)[0]
    with sole_writer(study, run["id"], name):
        found, rows = _reread(study, run["id"], name, prompts, dry_run=False)
        if rows:
            with study.write() as connection:
                connection.execute(insert(table(Reading)), rows)
    return found


def _reread(
    study: Study, run_id: int, name: str, prompts: PromptVersion, *, dry_run: bool = True
) -> tuple[Reparsing, list[dict[str, Any]]]:
    seen: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    first: list[_Change] = []
    rows: list[dict[str, Any]] = []
    with study.read() as connection:
        for change in _changes(connection, run_id, prompts, seen):
            judgment, parsed = change.judgment, change.parsed
            rows.append(change.row)
            seen["values"] += judgment.value != parsed.value
            before = judgment.rule or judgment.missing_reason or "an unrecorded rule"
            kinds[f"{before} to {parsed.rule or parsed.reason}"] += 1
            if len(first) < _EXAMPLES:
                first.append(change)
        examples = _examples(connection, first)
    found = Reparsing(
        run=name,
        parser_version=PARSER_VERSION,
        dry_run=dry_run,
        read=seen["read"],
        left_alone=seen["left alone"],
        changed=len(rows),
        values_changed=seen["values"],
        changes=dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        examples=examples,
    )
    return found, rows


def _changes(
    connection: Connection, run_id: int, prompts: PromptVersion, seen: Counter[str]
) -> Iterator[_Change]:
    """Yield the judgments that come out differently, in the order of response and construct."""
    j = table(Judgment)
    names = ("id", "response_id", "construct_key", "repeat", "attempt", "value", "missing_reason")
    statement = as_read(
        (*names, "rule", "raw_answer", "finish_reason", "revision"), j.c.run_id == run_id
    ).order_by(j.c.response_id, j.c.construct_key, j.c.construct_version, j.c.repeat, j.c.attempt)
    moment = now()
    with connection.execute(statement, execution_options={"yield_per": _TOGETHER}) as rows:
        for row in rows:
            if _stands(row):
                seen["left alone"] += 1
                continue
            seen["read"] += 1
            parsed = _parsed(row, prompts)
            if parsed != Parsed(row.value, row.missing_reason, row.rule):
                yield _Change(_reading(row, parsed, moment), row, parsed)


def _reading(row: Any, parsed: Parsed, moment: datetime) -> dict[str, Any]:
    reading = ReadingBase(
        revision=row.revision + 1,
        parser_version=PARSER_VERSION,
        value=parsed.value,
        missing_reason=parsed.reason,
        rule=parsed.rule,
    )
    return {**reading.model_dump(), "judgment_id": row.id, "created_at": moment}


def _stands(row: Any) -> bool:
    if row.missing_reason in STANDING or row.rule == EMPTY_RESPONSE:
        return True
    # A value whose answer was not kept can't be read again.
    return row.raw_answer is None and row.value is not None


def _parsed(row: Any, prompts: PromptVersion) -> Parsed:
    parsed = parse_answer(row.raw_answer, prompts.scale, row.finish_reason, form=prompts.form)
    if parsed.value is not None and prompts.scale.problem(parsed.value):
        return Parsed(None, "out_of_range", None)
    return parsed


def _examples(connection: Connection, changes: list[_Change]) -> list[Reread]:
    if not changes:
        return []
    held = ExistingContent(connection)
    return [
        Reread(
            response_id=held.id_of(judgment.response_id),
            construct=judgment.construct_key,
            repeat=judgment.repeat,
            attempt=judgment.attempt,
            answer=judgment.raw_answer,
            before=_said(judgment.value, judgment.missing_reason, judgment.rule),
            after=_said(*parsed),
        )
        for _, judgment, parsed in changes
    ]


def _said(value: float | None, reason: str | None, rule: str | None) -> str:
    if value is None:
        return str(reason)
    return f"{value:g}, {rule}" if rule else f"{value:g}"


def _short(answer: str | None) -> str:
    said = quoted(answer)
    return said if len(said) <= 70 else f"{said[:66]}..."
