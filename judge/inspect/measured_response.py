"""One response as metrics measured it: values, texts, claims with labels, and raw answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import Connection, select

from judge.inspect.claims import LabeledClaim, LabeledClaims, claim_lines
from judge.inspect.judgment_lines import prompt_lines, sentence_lines
from judge.inspect.suite_runs import SuiteRuns, replayed, suite_runs
from judge.metrics.metric import Content, Metric
from judge.metrics.registry import SUITES, expanded, load_metric
from judge.protocol.conditions import CCRS, metric_of, shuffle_of
from judge.protocol.exchange import REASONS
from judge.running.pages import Place, pages
from judge.running.runs import run_metric
from judge.running.shown_texts import ShownTexts
from judge.text import Result, printable
from study.errors import StudyError, nearest
from study.facts.judgments import counted_judgments
from study.facts.marks_table import SentenceCount, marked_by_people
from study.importing.existing_content import ExistingContent
from study.schema.tables import judge_runs, judgments, responses as response_table, scores
from study.study import Study
from study.text import shell_word


@dataclass(frozen=True)
class Measurement:
    """The value of a metric on a construct, or the reason why there is none."""

    scorer: str
    """As in tables: the name of a run, or of a metric without a model."""
    construct: str
    repeat: int
    value: float | None
    """On the scale of the construct."""
    missing_reason: str | None
    meaning: str | None
    """Explanation of the reason."""
    parts: dict[str, float]
    """Intermediate figures, such as the number of claims."""


@dataclass(frozen=True)
class RawAnswer:
    """The raw answer to a prompt of a metric in steps."""

    title: str
    """The step and the texts of the response in its prompt, such as "check (passage 2)"."""
    text: str | None
    missing: str | None
    """Reason why there is no answer."""


@dataclass(frozen=True)
class SuiteEvidence:
    """What the metrics of a suite read in the response."""

    runs: str
    """Name of the run; of several, with the suite in place of their metrics."""
    claims: list[LabeledClaim]
    answers: list[RawAnswer]


@dataclass(frozen=True)
class MeasuredResponse(Result):
    """One response as metrics measured it."""

    response_id: str
    query_id: str
    systems: list[str]
    """Systems with this response; empty if a later response replaced it."""
    question: str
    text: str
    references: list[str]
    passages: list[str]
    """In rank order."""
    measurements: list[Measurement]
    marked: dict[str, list[SentenceCount]]
    """By construct: the sentences, with the number of people who marked them."""
    evidence: list[SuiteEvidence]
    notes: list[str]

    def lines(self) -> list[str]:
        """Return the response as lines of text, without control characters."""
        systems = ", ".join(self.systems) or "no current system"
        lines = [f"Response {self.response_id} to query {self.query_id}, of {systems}", ""]
        lines += ["question:", *prompt_lines(self.question)]
        lines += ["response:", *prompt_lines(self.text)]
        for reference in self.references:
            lines += ["reference:", *prompt_lines(reference)]
        for number, passage in enumerate(self.passages, 1):
            lines += [f"passage {number}:", *prompt_lines(passage)]
        lines += ["", "values:", *_value_lines(self.measurements)]
        for construct, sentences in self.marked.items():
            lines += ["", f"{construct}, marked by people:", *sentence_lines(sentences)]
        for suite in self.evidence:
            lines += ["", f"{suite.runs}:", *claim_lines(suite.claims), "  raw answers:"]
            lines += [f"    {answer.title}: {_said(answer)}" for answer in suite.answers]
        lines += ["", *self.notes] if self.notes else []
        return [line if line.startswith("    | ") else printable(line) for line in lines]


def show_measurements(
    study: Study, response_id: str, metrics: Sequence[str] = ()
) -> MeasuredResponse:
    """Return what metrics measured in one response, and the answers that it rests on.

    Parameters
    ----------
    study : Study
    response_id : str
        As in the tables: ID is the current version of a response, ID@N its version N.
    metrics : sequence of str, optional
        Only these metrics, suites such as ragchecker, or Python files that define a metric.
        Default: all; those of files are shown without claims and answers.

    Returns
    -------
    MeasuredResponse
        Of several runs of a metric, with other models or conditions, the latest. The claims and
        answers are those of the first repeat and attempt.

    Raises
    ------
    StudyError
        The study has no such response, none of the metrics has measured it, or a file cannot be
        loaded.
    """
    parts = [part.strip() for text in metrics for part in text.split(",")]
    files = {load_metric(part).key: part for part in parts if part.endswith(".py")}
    names = [*files, *(name for part in parts for name in SUITES.get(part, expanded(part)))]
    with study.read() as connection:
        stored = ExistingContent(connection)
        response = stored.find(response_id)
        if response is None:
            raise StudyError(
                f"The study has no response {response_id!r}. "
                f"{nearest(response_id, stored.response_ids())}".rstrip()
            )
        versions = study.scored_versions(connection)
        runs, older = _runs(connection, response, versions)
        found = _of_scores(connection, response, versions)
        known = {*map(metric_of, runs), *map(_key, found)}
        chosen = known & set(names) if names else known
        if not chosen:
            raise _not_measured(study, response_id, metrics, known)
        runs = [run for run in runs if metric_of(run) in chosen]
        found = [score for score in found if _key(score) in chosen]
        suites = suite_runs(study, connection, {run["name"] for run in runs}, files)
        members = {run["name"]: metric for suite in suites for run, metric in suite.members}
        of_runs = _of_judgments(connection, response, versions, runs, members)
        marked = marked_by_people(connection, study.construct_versions(connection), {response})
    content = _content(study, response)
    notes = [
        f"The metric {metric_of(run)!r} is not installed, so the answers to it are not shown: name "
        "its file, --metrics FILE.py."
        for run in runs
        if run_metric(run, study.folder, files.get(metric_of(run))) is None
    ]
    older = [run for run in older if metric_of(run) in chosen]
    if older:
        listed = ", ".join(repr(run["name"]) for run in older)
        notes.append(
            f"Earlier runs of these metrics are not shown ({listed}): ccrs judge show "
            f"{shell_word(study.folder)} RUN --response {shell_word(response_id)}."
        )
    return MeasuredResponse(
        response_id=stored.id_of(response),
        query_id=stored.queries[stored.responses[response].query].key,
        systems=sorted(
            system for (_, system), (output, _) in stored.outputs.items() if output == response
        ),
        question=content.question,
        text=content.text,
        references=list(content.references),
        passages=list(content.passages or ()),
        measurements=[*of_runs, *found],
        marked={construct: sentences for (construct, _), sentences in marked.items()},
        evidence=[_evidence(study, suite, content) for suite in suites],
        notes=notes,
    )


def _runs(
    connection: Connection, response: int, versions: Mapping[str, int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the latest run of each metric that measured a response, and the earlier ones."""
    measured = select(judgments.c.run_id).where(
        judgments.c.response_id == response, judgments.c.construct_key.in_(versions)
    )
    rows = connection.execute(
        select(judge_runs).where(judge_runs.c.id.in_(measured)).order_by(judge_runs.c.id)
    ).mappings()
    runs = [run for run in map(dict, rows) if metric_of(run) != CCRS]
    latest = {metric_of(run): run for run in runs}
    return list(latest.values()), [run for run in runs if run is not latest[metric_of(run)]]


def _not_measured(
    study: Study, response_id: str, metrics: Sequence[str], known: Iterable[str]
) -> StudyError:
    by = f" by {', '.join(metrics)}" if metrics else ""
    measured = ", ".join(sorted(known))
    remedy = (
        f"Measured are: {measured}."
        if measured
        else f"Measure it: ccrs judge {shell_word(study.folder)} --metric ragchecker --base-url "
        "URL --model NAME."
    )
    return StudyError(f"The response {response_id!r} has not been measured{by}. {remedy}")


def _key(measured: Measurement) -> str:
    """Return the metric of a scorer without a model; its encoder may be named after it."""
    first = measured.scorer.split(" ")[0]
    named = chain.from_iterable(SUITES.values())
    return first if first.split("@")[0] in set(named) else measured.scorer


def _of_judgments(
    connection: Connection,
    response: int,
    versions: Mapping[str, int],
    runs: Sequence[Mapping[str, Any]],
    members: Mapping[str, Metric],
) -> list[Measurement]:
    """Return the values of runs, in the order of their suites."""
    columns = ("run_id", "construct_key", "construct_version", "repeat", "value",
               "missing_reason", "parts")  # fmt: skip
    rows = counted_judgments(columns, judgments.c.response_id == response)
    names = {run["id"]: run["name"] for run in runs}
    found = []
    for row in connection.execute(select(rows)).all():
        if row.run_id in names and versions.get(row.construct_key) == row.construct_version:
            name = names[row.run_id]
            reasons = {**REASONS, **(members[name].reasons if name in members else {})}
            found.append(
                Measurement(
                    name,
                    row.construct_key,
                    row.repeat,
                    row.value,
                    row.missing_reason,
                    reasons.get(row.missing_reason or ""),
                    dict(row.parts or {}),
                )
            )
    order = list(names.values())
    return sorted(found, key=lambda each: (order.index(each.scorer), each.construct, each.repeat))


def _of_scores(
    connection: Connection, response: int, versions: Mapping[str, int]
) -> list[Measurement]:
    """Return the values of metrics without a model, or imported ones."""
    rows = connection.execute(
        select(scores)
        .where(scores.c.response_id == response, scores.c.scorer_kind == "metric")
        .order_by(scores.c.scorer, scores.c.construct_key, scores.c.repeat)
    ).all()
    return [
        Measurement(
            row.scorer,
            row.construct_key,
            row.repeat,
            row.value,
            row.missing_reason,
            REASONS.get(row.missing_reason or ""),
            {},
        )
        for row in rows
        if versions.get(row.construct_key) == row.construct_version
    ]


def _content(study: Study, response: int) -> Content:
    with study.read() as connection:
        columns = (response_table.c.query_id, response_table.c.context_hash)
        row = connection.execute(select(*columns).where(response_table.c.id == response)).one()
    place = Place(row.query_id, bytes(row.context_hash or b""), response)
    [page] = pages(study, [place], None, texts=True)
    return page.contents[0]


def _evidence(study: Study, suite: SuiteRuns, content: Content) -> SuiteEvidence:
    """Return the claims and the answers of a suite; metrics that share a prompt show it once."""
    claims = LabeledClaims()
    answers: dict[str, RawAnswer] = {}
    for run, metric in suite.members:
        texts = ShownTexts(metric, shuffle_of(run))
        for construct in metric.constructs:
            shown = texts.input_of(content, construct)
            for prompt, known in replayed(study, run, metric, shown, content):
                if prompt.hash not in answers:
                    answer = known.answer
                    title = claims.title(shown, prompt)
                    claims.add(metric, shown, prompt, answer.text)
                    answers[prompt.hash] = RawAnswer(title, answer.text, answer.missing)
    return SuiteEvidence(suite.name, list(claims.listed()), list(answers.values()))


def _value_lines(measurements: Sequence[Measurement]) -> list[str]:
    rows = [
        (
            each.scorer,
            f"{each.construct}{f', repeat {each.repeat}' if each.repeat else ''}",
            _value(each),
        )
        for each in measurements
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [f"  {name:{widths[0]}}  {of:{widths[1]}}  {value}" for name, of, value in rows]


def _value(measured: Measurement) -> str:
    if measured.value is None:
        meaning = f" ({measured.meaning})" if measured.meaning else ""
        return f"missing, {measured.missing_reason}{meaning}"
    parts = ", ".join(f"{name} {number:g}" for name, number in measured.parts.items())
    return f"{measured.value:.4g}{f'  ({parts})' if parts else ''}"


def _said(answer: RawAnswer) -> str:
    if answer.missing:
        return f"{answer.missing} ({REASONS.get(answer.missing, 'no explanation')})"
    return printable(answer.text) if answer.text else "(no text)"
