"""One response in a run: prompts, raw answers, and how they were read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from judge.inspect.export import expected_figures
from judge.inspect.step_overview import overview
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Metric, Prompt
from judge.protocol.conditions import shuffle_of
from judge.protocol.exchange import REASONS
from judge.running.metric_requests import StepAnswers, stored_answers
from judge.running.pages import Place, pages
from judge.running.remaining_work import Pending, Resolved, work
from judge.running.runs import run_metric, run_of
from judge.running.scope import Scope, as_declared
from judge.running.shown_texts import ShownTexts
from judge.text import Result, printable, printable_lines, quoted
from study.errors import StudyError, nearest
from study.facts.judgments import as_read, reason_before_score
from study.facts.marks_table import SentenceCount, marked_by_people
from study.importing.existing_content import ExistingContent
from study.schema import PROMPT_NOT_WHOLE
from study.schema.tables import judgments as judgment_table, readings, responses as response_table
from study.study import Study

_COLUMNS = (
    "id",
    "construct_version",
    "repeat",
    "attempt",
    "value",
    "missing_reason",
    "rule",
    "parser_version",
    "raw_answer",
    "reasoning",
    "finish_reason",
    "served_model",
    "fingerprint",
    "flags",
    "parts",
    "distribution",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "milliseconds",
    "created_at",
)


@dataclass(frozen=True)
class StepRecord:
    """A prompt of a metric with several steps, and its answer."""

    repeat: int
    attempt: int
    """The attempt of the judgment."""
    step: str
    prompt: str
    answer: dict[str, Any] | None
    """The fields of an `Answer`; None where the prompt has none yet."""
    fields: list[str] = field(default_factory=list)
    """The texts in the fields of the prompt, in order."""


@dataclass(frozen=True)
class ConstructRecord:
    """The prompts and judgments of a run for one response and construct."""

    construct: str
    prompt: str | None
    """The text of a single prompt; None where nothing is asked, the metric has steps, or the
    prompts are not installed."""
    steps: list[StepRecord]
    """The prompts of a metric with steps, in their order."""
    judgments: list[dict[str, Any]]
    """Columns of the judgment with the newest reading, and the figures of its distribution;
    `earlier` contains the earlier readings, and `reason` the text of the answer before its score,
    where a reason was asked for."""
    sentences: list[SentenceCount] = field(default_factory=list)
    """Of the response, with the number of people who marked each for the construct; empty where
    nobody was asked."""

    def lines(self) -> list[str]:
        """Return prompts and judgments as lines of text."""
        lines = [f"{self.construct}:"]
        if self.prompt is not None:
            lines += ["  prompt:", *_prompt_lines(self.prompt)]
        judged = [(judgment["repeat"], judgment["attempt"]) for judgment in self.judgments]
        for judgment, key in zip(self.judgments, judged, strict=True):
            steps = [step for step in self.steps if (step.repeat, step.attempt) == key]
            lines += _overview_lines(steps)
            lines += _step_lines(steps)
            lines += [f"  {line}" for line in _judgment_lines(judgment, has_steps=bool(steps))]
        lines += _step_lines(s for s in self.steps if (s.repeat, s.attempt) not in judged)
        if not self.judgments:
            lines.append("  not judged yet")
        return [*lines, *_sentence_lines(self.sentences)]


@dataclass(frozen=True)
class RunResponse(Result):
    """One response in a run."""

    run: str
    response_id: str
    query_id: str
    systems: list[str]
    """Systems with this response; empty if a later response replaced it."""
    system: str | None = None
    """The system message that is sent before each prompt; None where there is none, or where the
    prompts are not installed."""
    constructs: list[ConstructRecord] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the response as lines of text, without control characters."""
        systems = ", ".join(self.systems) or "no current system"
        lines = [
            f"Response {self.response_id} to query {self.query_id}, of {systems}; run {self.run}",
            *self.notes,
        ]
        if self.system is not None:
            lines += ["", "system message before each prompt:", *_prompt_lines(self.system)]
        for record in self.constructs:
            lines += ["", *record.lines()]
        # Prompts keep their tabs.
        return [line if line.startswith("    | ") else printable(line) for line in lines]


def show_response(
    study: Study,
    name: str,
    response_id: str,
    construct: str | None = None,
    metric_file: str | None = None,
) -> RunResponse:
    """Return the prompts and the raw answers of one response in a run.

    Parameters
    ----------
    study : Study
    name : str
        Name of the run.
    response_id : str
        As in the tables: ID is the current version of a response, ID@N its version N.
    construct : str, optional
        Only this construct. Default: the constructs on which the run has judged the response; if
        there are none, all constructs of the run.
    metric_file : str, optional
        The Python file of the run's metric, if the metric is not installed.

    Raises
    ------
    StudyError
        The study does not have the run or the response, the run does not have the construct, or
        the file cannot be loaded.
    """
    with study.read() as connection:
        run = run_of(connection, name)
        content = ExistingContent(connection)
        response = content.find(response_id)
        if response is None:
            raise StudyError(
                f"The study has no response {response_id!r}. "
                f"{nearest(response_id, content.response_ids())}".rstrip()
            )
        judgments = _judgments(study, connection, run, response)
        versions = study.construct_versions(connection)
        marked = marked_by_people(connection, versions, {response})
    metric = run_metric(run, study.folder, metric_file)
    if metric is not None:
        metric = as_declared(study, metric)
    keys = list(dict.fromkeys([*judgments, *(metric.constructs if metric else ())]))
    if construct is not None and construct not in keys:
        raise StudyError(
            f"The run {name!r} has no construct {construct!r}. {nearest(construct, keys)} "
            f"It has: {', '.join(keys) or 'none'}.".replace("  ", " ")
        )
    notes: list[str] = []
    if metric is None:
        notes.append(
            f"The prompts and answers to steps are not shown: {run['prompt_version']} with the "
            f"hash {run['prompt_hash']} is neither installed nor in the study. If the metric is a "
            "file, name it with --metric."
        )
    keys = [construct] if construct else list(judgments) or keys
    return RunResponse(
        run=name,
        response_id=content.id_of(response),
        query_id=content.queries[content.responses[response].query].key,
        systems=sorted(
            system for (_, system), (output, _) in content.outputs.items() if output == response
        ),
        system=(metric.prompts.system or None) if metric and metric.prompts else None,
        constructs=[
            replace(
                _record(study, run, metric, key, response, judgments.get(key, [])),
                sentences=marked.get((key, response), []),
            )
            for key in keys
        ],
        notes=tuple(notes),
    )


def _record(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric | None,
    key: str,
    response: int,
    judgments: list[dict[str, Any]],
) -> ConstructRecord:
    prompt, steps = None, list[StepRecord]()
    if metric is not None and key in metric.constructs:
        prompts = _prompts(study, run, metric, key, response, judgments)
        if metric.single_prompt:
            prompt = next((step.prompt for step in prompts), None)
        else:
            steps = prompts
    plain = [{name: _plain(value) for name, value in row.items()} for row in judgments]
    return ConstructRecord(key, prompt, steps, plain)


def _prompts(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric,
    key: str,
    response: int,
    judgments: list[dict[str, Any]],
) -> list[StepRecord]:
    """Return the prompts of a response with their answers, by evaluating the metric again."""
    with study.read() as connection:
        versions = study.scored_versions(connection)
        row = connection.execute(
            select(response_table.c.query_id, response_table.c.context_hash).where(
                response_table.c.id == response
            )
        ).one()
        # Equal prompts of a query are asked once, for any of its responses.
        of_query = connection.execute(
            select(response_table.c.id).where(response_table.c.query_id == row.query_id)
        ).scalars()
        responses = list(of_query)
    place = Place(row.query_id, bytes(row.context_hash or b""), response)
    scope = Scope(metric, (key,), versions, run["repeats"])
    texts = ShownTexts(metric, shuffle_of(run))
    [page] = pages(study, [place], None, texts=True)
    steps: list[StepRecord] = []
    for item in work(page, scope, (key,)):
        if isinstance(item, Resolved):
            continue
        again = False
        attempts = [judgment for judgment in judgments if judgment["repeat"] == item.repeat]
        for judgment in attempts or [{"attempt": 1, "created_at": None}]:
            # A later reading may use answers that were asked for it.
            before = None if judgment.get("earlier") else judgment["created_at"]
            answers = stored_answers(study, run["id"], responses, before)
            attempt = replace(item, attempts=(judgment["attempt"],), again=again)
            steps += _replay(attempt, texts, answers)
            again = again or judgment.get("missing_reason") not in PROMPT_NOT_WHOLE
    return steps


def _replay(item: Pending, texts: ShownTexts, answers: StepAnswers) -> list[StepRecord]:
    steps: list[StepRecord] = []

    def find(prompt: Prompt) -> KnownAnswer | None:
        known = answers.find(prompt, item)
        answer = None if known is None else asdict(known.answer)
        steps.append(
            StepRecord(
                item.repeat,
                item.attempts[0],
                prompt.step,
                prompt.text,
                answer,
                [*prompt.parts[1::2]],
            )
        )
        return known

    evaluate(texts.metric, texts.input_of(item.contents[0], item.construct_key), find)
    return steps


def _judgments(
    study: Study, connection: Connection, run: Mapping[str, Any], response: int
) -> dict[str, list[dict[str, Any]]]:
    of = (judgment_table.c.run_id == run["id"], judgment_table.c.response_id == response)
    order = (
        judgment_table.c.construct_key,
        judgment_table.c.construct_version,
        judgment_table.c.repeat,
        judgment_table.c.attempt,
    )
    statement = as_read(("construct_key", "revision", *_COLUMNS), *of).order_by(*order)
    judgments: dict[str, list[dict[str, Any]]] = {}
    for row in connection.execute(statement).all():
        judgment = {name: row._mapping[name] for name in _COLUMNS}
        key = judgment.pop("id")
        scale = study.config.scale(row.construct_key, run["name"])
        judgment |= expected_figures(judgment["distribution"], scale)
        judgment["reason"] = reason_before_score(judgment["raw_answer"], judgment["rule"])
        judgment["earlier"] = _earlier(connection, key) if row.revision else []
        judgments.setdefault(row.construct_key, []).append(judgment)
    return judgments


def _earlier(connection: Connection, judgment: int) -> list[dict[str, Any]]:
    """Return the readings before the newest, the first reading included."""
    names = ("parser_version", "value", "missing_reason", "rule")
    first = select(*(judgment_table.c[name] for name in names)).where(
        judgment_table.c.id == judgment
    )
    later = select(*(readings.c[name] for name in names)).where(readings.c.judgment_id == judgment)
    rows = [
        *connection.execute(first).mappings(),
        *connection.execute(later.order_by(readings.c.revision)).mappings(),
    ]
    return [dict(row) for row in rows[:-1]]


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _prompt_lines(prompt: str) -> list[str]:
    return [f"    | {line}" for line in printable_lines(prompt)]


def _sentence_lines(sentences: Sequence[SentenceCount]) -> list[str]:
    """Return the sentences of the response with the number of people who marked them."""
    if not sentences:
        return []
    lines = [f"  sentences, with the people who marked them, of {sentences[0].asked}:"]
    for sentence in sentences:
        first, *others = printable_lines(sentence.text)
        lines.append(f"    {sentence.marked}  {first}")
        lines += [f"       {line}" for line in others]
    return lines


def _overview_lines(steps: Iterable[StepRecord]) -> list[str]:
    """Return lists and labels before the prompts and raw answers that they come from."""
    return [
        line
        for step in steps
        if step.answer is not None
        for line in overview(step.step, step.fields, step.answer["text"])
    ]


def _step_lines(steps: Iterable[StepRecord]) -> list[str]:
    lines = []
    for step in steps:
        lines += [f"  prompt of the step {step.step}:", *_prompt_lines(step.prompt)]
        if step.answer is None:
            lines.append("  no answer yet")
            continue
        reason = step.answer["missing"]
        missing = f", {reason} ({REASONS.get(reason, 'no explanation')})" if reason else ""
        lines.append(f"  answer: {quoted(step.answer['text'])}{missing}")
    return lines


def _judgment_lines(judgment: Mapping[str, Any], *, has_steps: bool) -> list[str]:
    numbers = [
        f"{name} {judgment[name]}"
        for name, default in (("repeat", 0), ("attempt", 1))
        if judgment[name] != default
    ]
    details = [
        judgment["created_at"],
        *(judgment[name] for name in ("served_model", "fingerprint") if judgment[name]),
        *([f"ended by {judgment['finish_reason']}"] if judgment["finish_reason"] else []),
        *judgment["flags"],
    ]
    if has_steps:
        title = " of ".join(["judgment", ", ".join(numbers)]) if numbers else "judgment"
        lines = [f"{title}: {_reading(judgment)}"]
    else:
        title = " of ".join(["answer", ", ".join(numbers)]) if numbers else "answer"
        lines = [f"{title}: {quoted(judgment['raw_answer'])}", f"  read as {_reading(judgment)}"]
    if judgment["reasoning"] is not None:
        lines.append("  reasoning before the answer:")
        lines += [f"    {line}" for line in printable_lines(judgment["reasoning"])]
    if judgment["reason"] is not None:
        lines.append("  its reason:")
        lines += [f"    {line}" for line in printable_lines(judgment["reason"])]
    lines += [f"  before: {_reading(reading)}" for reading in judgment["earlier"]]
    if judgment["distribution_mass"] is not None:
        lines.append(f"  {_distribution_line(judgment)}")
    return [*lines, f"  {', '.join(details)}"]


def _reading(reading: Mapping[str, Any]) -> str:
    by = f" by parser {reading['parser_version']}" if reading["parser_version"] else ""
    if reading["value"] is None:
        reason = reading["missing_reason"]
        return f"missing, {reason} ({REASONS.get(reason, 'no explanation')}){by}"
    rule = f", {reading['rule']}" if reading["rule"] else ""
    return f"{reading['value']:g}{rule}{by}"


def _distribution_line(figures: Mapping[str, Any]) -> str:
    mass = f"{figures['distribution_mass']:.1%} of the probability on scores"
    shape = (
        f"mode {figures['distribution_mode']:g}, variance {figures['distribution_variance']:.1f}"
    )
    if figures["expected"] is None:
        bounds = f"{figures['expected_low']:.1f} and {figures['expected_high']:.1f}"
        return f"distribution: mean between {bounds}, not used ({shape}, only {mass})"
    return f"distribution: mean {figures['expected']:.2f} ({shape}, {mass})"
