"""Reading stored raw answers again with the current parser or metric; first readings are kept."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert

from judge.inspect.reparse_steps import Changed, StepReader
from judge.metrics.ccrs import Ccrs
from judge.metrics.metric import Metric
from judge.parsing.parse_answer import PARSER_VERSION, Parsed
from judge.prompts.template import PromptVersion
from judge.protocol.conditions import metric_of
from judge.protocol.exchange import FINAL
from judge.running.items import EMPTY_RESPONSE
from judge.running.runs import run_metric, run_of, sole_writer
from judge.running.scale_use import ScaleUse
from judge.text import Result, by_number, printable, quoted
from study.errors import StudyError, without_effect
from study.facts.judgments import as_read
from study.importing.existing_content import ExistingContent
from study.schema import ReadingBase, now
from study.schema.tables import judgments, readings
from study.study import Study
from study.text import counted, shell_word

_EXAMPLES = 10
_BATCH = 2000


@dataclass(frozen=True)
class Reread:
    """A judgment with a different reading."""

    response_id: str
    construct: str
    repeat: int
    attempt: int
    answer: str | None
    before: str
    """A value with its rule, or the reason why there is none."""
    after: str


@dataclass(frozen=True)
class Reparsing(Result):
    """The result of reading a run's answers again."""

    run: str
    parser_version: str
    """Of the parser, or of the metric in steps."""
    dry_run: bool
    read: int
    """Judgments whose raw answers were read."""
    not_read: int
    """Judgments that do not depend on the text of an answer."""
    changed: int
    values_changed: int
    """Changed judgments with another value, a new value, or no longer a value."""
    changes: dict[str, int]
    """ "no_score to labelled" to number of judgments; the names are rules and reasons."""
    examples: list[Reread]
    low_scores: str | None
    """A sentence where the scores seem to be on another scale than the prompts request."""
    metric: str | None = None
    """The metric in steps that read the answers; None: the parser of single scores."""
    metric_file: str | None = None
    """The Python file that defines it, if one was given."""
    waiting: int = 0
    """Judgments that need prompts which were never asked: their readings do not change."""
    unasked: int = 0
    """These prompts, as far as they are known: their answers may lead to further ones."""

    def lines(self) -> list[str]:
        """Return the result as lines of text, without control characters."""
        lines = [self._total_line()]
        if self.waiting:
            lines += [
                f"{counted(self.waiting, 'score')} cannot be computed yet and "
                f"{'keeps its' if self.waiting == 1 else 'keep their'} last reading: "
                f"{counted(self.unasked, 'prompt')} that this version needs "
                f"{'was' if self.unasked == 1 else 'were'} never asked. The answers may lead to "
                "further prompts.",
                "Ask them with the options of the run, then read again: ccrs judge STUDY ... "
                f"--metric {shell_word(self.metric_file or str(self.metric))} --for-reparse",
            ]
        if self.low_scores is not None:
            lines.append(self.low_scores)
        if not self.changed:
            return [printable(line) for line in [*lines, "No reading changed."]]
        lines.append(
            f"{counted(self.changed, 'reading')} changed, {self.values_changed:,} of them in value:"
        )
        lines += [f"  {number:,} from {change}" for change, number in self.changes.items()]
        lines.append("Examples:" if self.changed > len(self.examples) else "They are:")
        for example in self.examples:
            lines += [
                f"  {example.construct} of {example.response_id}"
                + ("" if example.answer is None else f": {_short(example.answer)}"),
                f"    {example.before} before, {example.after} now",
            ]
        if self.dry_run:
            lines.append("Nothing was written. Leave --dry-run out to store what changed.")
        else:
            lines.append(
                "What changed was stored next to earlier readings; the score table uses the newest."
            )
        return [printable(line) for line in lines]

    def _total_line(self) -> str:
        if self.metric is None:
            what, reader = counted(self.read, "answer"), "the parser,"
        else:
            what, reader = counted(self.read, "score"), f"the metric {self.metric},"
        read = (
            f"{what} of the run {self.run!r} {'was' if self.read == 1 else 'were'} read by "
            f"{reader} version {self.parser_version}."
        )
        if not self.not_read:
            return read
        others = counted(self.not_read, "judgment")
        verb = "does" if self.not_read == 1 else "do"
        return f"{read} {others} {verb} not depend on the text of an answer."


def reparse_run(
    study: Study,
    name: str,
    *,
    dry_run: bool = False,
    accept_low_scores: bool = False,
    metric_file: str | None = None,
) -> Reparsing:
    """Read the raw answers of all judgments of a run with the current parser.

    A reading that differs from the newest one is stored as a further reading; judgments never
    change. All readings are stored in one transaction. A second call changes nothing.

    A metric in steps is evaluated again on the stored answers, for each score of the score table.
    Where they lead to a prompt that was never asked, the reading stays as it is and is counted.

    Parameters
    ----------
    study : Study
    name : str
        Name of the run.
    dry_run : bool
        Only report what would change.
    accept_low_scores : bool
        Store readings although all scores are in the lowest tenth of the scale.
    metric_file : str, optional
        The Python file of the run's metric, if the metric is not installed.

    Raises
    ------
    StudyError
        The study has no run of this name, another process works on it, or the metric of the run
        with its prompts, which define the scale, is neither installed nor in the study. Or at
        least 50 scores that differ, of the run or on one construct, would all be in the lowest
        tenth of the scale.
    """
    with study.read() as connection:
        run = run_of(connection, name)
    metric = run_metric(run, study.folder, metric_file)
    if metric is None:
        raise StudyError(
            f"The prompts {run['prompt_version']} with the hash {run['prompt_hash']} of the run "
            f"{name!r}, by {metric_of(run)}, are neither installed nor in the study, so their "
            "scale is not known. Install the version of the package that made the run, restore "
            "the study's prompts, or name the metric's file with --metric."
        )
    if accept_low_scores and not metric.single_prompt:
        why = f"scores of {metric.key} follow from several answers, and may be low everywhere"
        raise StudyError(without_effect("--accept-low-scores", True, why))
    accept = accept_low_scores or not metric.single_prompt
    scale_use = ScaleUse(metric.scale_of, accept=accept)
    if dry_run:
        return _reread(study, run, metric, scale_use, metric_file)[0]
    with sole_writer(study, run["id"], name):
        result, rows = _reread(study, run, metric, scale_use, metric_file, dry_run=False)
        if rows:
            scale_use.check()
            with study.write() as connection:
                connection.execute(insert(readings), rows)
    return result


def _reread(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric,
    scale_use: ScaleUse,
    metric_file: str | None,
    *,
    dry_run: bool = True,
) -> tuple[Reparsing, list[dict[str, Any]]]:
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    first: list[Changed] = []
    rows: list[dict[str, Any]] = []
    steps = None
    if isinstance(metric, Ccrs):
        version, by_metric = PARSER_VERSION, None
        changes = _changes(study, run["id"], metric.words, counts, scale_use)
    else:
        version, by_metric = metric.version, metric.key
        steps = StepReader(study, run, metric, counts)
        changes = steps.changes()
    moment = now()
    for change in changes:
        judgment, parsed = change.judgment, change.parsed
        rows.append(_reading(change, version, moment))
        counts["values"] += judgment.value != parsed.value
        before = judgment.rule or judgment.missing_reason or "an unrecorded rule"
        kinds[f"{before} to {parsed.rule or parsed.reason}"] += 1
        if len(first) < _EXAMPLES:
            first.append(change)
    result = Reparsing(
        run=run["name"],
        parser_version=version,
        dry_run=dry_run,
        read=counts["read"],
        not_read=counts["not read"],
        changed=len(rows),
        values_changed=counts["values"],
        changes=dict(by_number(kinds)),
        examples=_examples(study, first),
        low_scores=scale_use.note(),
        metric=by_metric,
        metric_file=metric_file,
        waiting=counts["waiting"],
        unasked=0 if steps is None else len(steps.unasked),
    )
    return result, rows


def _changes(
    study: Study,
    run_id: int,
    prompts: PromptVersion,
    counts: Counter[str],
    scale_use: ScaleUse,
) -> Iterator[Changed]:
    """Yield the judgments with a different reading, in the order of response and construct.

    All values, as they are read now, are added to `scale_use`.
    """
    names = ("id", "response_id", "construct_key", "repeat", "attempt", "value", "missing_reason")
    statement = as_read(
        (*names, "rule", "raw_answer", "finish_reason", "revision"), judgments.c.run_id == run_id
    ).order_by(
        judgments.c.response_id,
        judgments.c.construct_key,
        judgments.c.construct_version,
        judgments.c.repeat,
        judgments.c.attempt,
    )
    with (
        study.read() as connection,
        connection.execute(statement, execution_options={"yield_per": _BATCH}) as rows,
    ):
        for row in rows:
            if _is_final(row):
                counts["not read"] += 1
                scale_use.add([dict(row._mapping)])
                continue
            counts["read"] += 1
            parsed = _parsed(row, prompts)
            scale_use.add([{**row._mapping, "value": parsed.value, "rule": parsed.rule}])
            if parsed != Parsed(row.value, row.missing_reason, row.rule):
                yield Changed(row, parsed)


def _reading(change: Changed, version: str, moment: datetime) -> dict[str, Any]:
    reading = ReadingBase(
        revision=change.judgment.revision + 1,
        parser_version=version,
        value=change.parsed.value,
        missing_reason=change.parsed.reason,
        rule=change.parsed.rule,
        parts=change.parts,
    )
    return {**reading.model_dump(), "judgment_id": change.judgment.id, "created_at": moment}


def _is_final(row: Any) -> bool:
    if row.missing_reason in FINAL or row.rule == EMPTY_RESPONSE:
        return True
    # A value without a stored answer cannot be read again.
    return row.raw_answer is None and row.value is not None


def _parsed(row: Any, prompts: PromptVersion) -> Parsed:
    form = prompts.answer_of(row.construct_key)
    parsed = form.parse(row.raw_answer, row.finish_reason, prompts.construct_names)
    if parsed.value is not None and form.scale.problem(parsed.value):
        return Parsed(None, "out_of_range", None)
    return parsed


def _examples(study: Study, changes: list[Changed]) -> list[Reread]:
    if not changes:
        return []
    with study.read() as connection:
        content = ExistingContent(connection)
    return [
        Reread(
            response_id=content.id_of(judgment.response_id),
            construct=judgment.construct_key,
            repeat=judgment.repeat,
            attempt=judgment.attempt,
            answer=judgment.raw_answer,
            before=_outcome(judgment.value, judgment.missing_reason, judgment.rule),
            after=_outcome(*parsed),
        )
        for judgment, parsed, _ in changes
    ]


def _outcome(value: float | None, reason: str | None, rule: str | None) -> str:
    if value is None:
        return str(reason)
    return f"{value:g}, {rule}" if rule else f"{value:g}"


def _short(answer: str | None) -> str:
    text = quoted(answer)
    return text if len(text) <= 70 else f"{text[:66]}..."
