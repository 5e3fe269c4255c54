"""One response in a run: prompts, raw answers, and how they were read."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from judge.inspect.claims import LabeledClaim, LabeledClaims, claim_lines
from judge.inspect.export import expected_figures
from judge.inspect.judgment_lines import judgment_lines, prompt_lines, sentence_lines
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Metric, Prompt
from judge.protocol.conditions import shuffle_of
from judge.protocol.exchange import REASONS
from judge.running.items import ALL_RESPONSES, Pending, Resolved
from judge.running.metric_requests import StepAnswers, answers_to_queries
from judge.running.pages import Place, pages
from judge.running.runs import run_metric, run_of
from judge.running.scope import Scope, as_declared
from judge.running.shown_texts import ShownTexts
from judge.text import Result, printable, quoted
from study.errors import StudyError, nearest
from study.facts.find_response import find_response
from study.facts.judgments import as_read, reason_before_score
from study.facts.marks_table import SentenceCount, marked_by_people
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
    title: str
    """The step and the texts of the response in its prompt, such as "check (passage 2)"."""
    prompt: str
    answer: dict[str, Any] | None
    """The fields of an `Answer`; None where the prompt has none yet."""


@dataclass(frozen=True)
class ClaimsRecord:
    """What the answers to the steps of one evaluation say of the response."""

    repeat: int
    attempt: int
    claims: list[LabeledClaim]


@dataclass(frozen=True)
class ConstructRecord:
    """The prompts and judgments of a run for one response and construct."""

    construct: str
    prompt: str | None
    """The text of a single prompt; None where nothing is asked, the metric has steps, or the
    prompts are not installed."""
    steps: list[StepRecord]
    """The prompts of a metric with steps, in their order."""
    claims: list[ClaimsRecord]
    """Lists and labels in the answers to these prompts, for each evaluation."""
    judgments: list[dict[str, Any]]
    """Columns of the judgment with the newest reading, and the figures of its distribution;
    `earlier` contains the earlier readings, and `reason` the text of the answer before its score,
    where a reason was asked for."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Explanations of the reasons of missing values."""
    sentences: list[SentenceCount] = field(default_factory=list)
    """Of the response, with the number of people who marked each for the construct; empty where
    nobody was asked."""

    def lines(self) -> list[str]:
        """Return prompts and judgments as lines of text."""
        lines = [f"{self.construct}:"]
        if self.prompt is not None:
            lines += ["  prompt:", *prompt_lines(self.prompt)]
        judged = [(judgment["repeat"], judgment["attempt"]) for judgment in self.judgments]
        for judgment, key in zip(self.judgments, judged, strict=True):
            steps = [step for step in self.steps if (step.repeat, step.attempt) == key]
            for record in self.claims:
                if (record.repeat, record.attempt) == key:
                    lines += claim_lines(record.claims)
            lines += _step_lines(steps)
            judgment_text = judgment_lines(judgment, self.reasons, has_steps=bool(steps))
            lines += [f"  {line}" for line in judgment_text]
        lines += _step_lines(s for s in self.steps if (s.repeat, s.attempt) not in judged)
        if not self.judgments:
            lines.append("  not judged yet")
        return [*lines, *sentence_lines(self.sentences)]


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
            lines += ["", "system message before each prompt:", *prompt_lines(self.system)]
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
        found = find_response(connection, response_id)
        response = found.id
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
        response_id=found.response_id,
        query_id=found.query_id,
        systems=found.systems,
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
    prompt, steps, claims = None, list[StepRecord](), list[ClaimsRecord]()
    reasons = {**REASONS, **(metric.reasons if metric is not None else {})}
    if metric is not None and key in metric.constructs:
        steps, claims = _evaluations(study, run, metric, key, response, judgments)
        if metric.single_prompt:
            prompt = next((step.prompt for step in steps), None)
            steps, claims = [], []
    plain = [{name: _plain(value) for name, value in row.items()} for row in judgments]
    found = {row["missing_reason"] for row in judgments}
    found |= {reading["missing_reason"] for row in judgments for reading in row["earlier"]}
    explained = {reason: reasons[reason] for reason in sorted(found & reasons.keys())}
    return ConstructRecord(key, prompt, steps, claims, plain, explained)


def _evaluations(
    study: Study,
    run: Mapping[str, Any],
    metric: Metric,
    key: str,
    response: int,
    judgments: list[dict[str, Any]],
) -> tuple[list[StepRecord], list[ClaimsRecord]]:
    """Return the prompts of a response with their answers, by evaluating the metric again."""
    with study.read() as connection:
        versions = study.scored_versions(connection)
        row = connection.execute(
            select(response_table.c.query_id, response_table.c.context_hash).where(
                response_table.c.id == response
            )
        ).one()
    place = Place(row.query_id, bytes(row.context_hash or b""), response)
    scope = Scope(metric, (key,), versions, run["repeats"])
    texts = ShownTexts(metric, shuffle_of(run))
    [page] = pages(study, [place], None, texts=True)
    steps: list[StepRecord] = []
    claims: list[ClaimsRecord] = []
    for item in ALL_RESPONSES.work(page, scope, (key,)):
        if isinstance(item, Resolved):
            continue
        again = False
        attempts = [judgment for judgment in judgments if judgment["repeat"] == item.repeat]
        for judgment in attempts or [{"attempt": 1, "created_at": None}]:
            # A later reading may use answers that were asked for it.
            before = None if judgment.get("earlier") else judgment["created_at"]
            answers = answers_to_queries(study, run["id"], [row.query_id], before)
            attempt = replace(item, attempts=(judgment["attempt"],), again=again)
            said = _replay(attempt, texts, answers, steps)
            if found := list(said.listed()):
                claims.append(ClaimsRecord(item.repeat, judgment["attempt"], found))
            again = again or judgment.get("missing_reason") not in PROMPT_NOT_WHOLE
    return steps, claims


def _replay(
    item: Pending, texts: ShownTexts, answers: StepAnswers, steps: list[StepRecord]
) -> LabeledClaims:
    """Add the prompts of an evaluation to `steps`, and return what their answers say."""
    metric, shown = texts.metric, texts.input_of(item.contents[0], item.construct_key)
    claims = LabeledClaims()

    def find(prompt: Prompt) -> KnownAnswer | None:
        known = answers.find(prompt, item)
        answer = None if known is None else asdict(known.answer)
        title = claims.title(metric, shown, prompt)
        if known is not None:
            claims.add(metric, shown, prompt, known.answer.text)
        steps.append(
            StepRecord(item.repeat, item.attempts[0], prompt.step, title, prompt.text, answer)
        )
        return known

    evaluate(metric, shown, find)
    return claims


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


def _step_lines(steps: Iterable[StepRecord]) -> list[str]:
    lines = []
    for step in steps:
        lines += [f"  prompt of the step {step.title}:", *prompt_lines(step.prompt)]
        if step.answer is None:
            lines.append("  no answer yet")
            continue
        reason = step.answer["missing"]
        missing = f", {reason} ({REASONS.get(reason, 'no explanation')})" if reason else ""
        lines.append(f"  answer: {quoted(step.answer['text'])}{missing}")
    return lines


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value
