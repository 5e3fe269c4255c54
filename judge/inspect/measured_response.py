"""One response as metrics measured it: values, texts, claims with labels, and raw answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlalchemy import select

from judge.inspect.claims import LabeledClaim, LabeledClaims, claim_lines
from judge.inspect.judgment_lines import prompt_lines, sentence_lines
from judge.inspect.measured_values import Measurement, measured_values
from judge.inspect.measurement_notes import (
    asked_metrics,
    not_measured,
    not_measured_note,
    outdated_notes,
    repeats_note,
    unread_notes,
)
from judge.inspect.suite_runs import SuiteRuns, replayed, suite_runs
from judge.metrics.metric import Content, Metric, MetricInput, Prompt
from judge.metrics.registry import load_metric
from judge.protocol.conditions import shuffle_of
from judge.protocol.exchange import REASONS, Answer
from judge.running.pages import Place, pages
from judge.running.shown_texts import ShownTexts
from judge.text import Result, printable
from study.facts.find_response import FoundResponse, find_response
from study.facts.marks_table import SentenceCount, marked_by_people
from study.schema.tables import responses as response_table
from study.study import Study
from study.text import shell_word


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
        The study has no such response, a metric is unknown, none of them has measured it, or a
        file cannot be loaded.
    """
    parts = [part for text in metrics for name in text.split(",") if (part := name.strip())]
    files = {load_metric(part).key: part for part in parts if part.endswith(".py")}
    with study.read() as connection:
        response = find_response(connection, response_id)
        versions = study.scored_versions(connection)
        stored = measured_values(connection, response.id, versions)
        asked = asked_metrics(parts, files, stored)
        wanted = {*chain(*asked.values())} if parts else {*stored.values, *stored.outdated}
        chosen = wanted.intersection(stored.values)
        if not chosen:
            raise not_measured(study.folder, response, asked, stored)
        runs = [run for key, run in stored.runs.items() if key in chosen]
        suites = suite_runs(study, connection, {run["name"] for run in runs}, files)
        marked = marked_by_people(connection, study.construct_versions(connection), {response.id})
    reasons = {run["name"]: metric.reasons for suite in suites for run, metric in suite.members}
    content = _content(study, response)
    earlier = [name for key in stored.values for name in stored.earlier_runs.get(key, ())
               if key in chosen]  # fmt: skip
    notes = [
        *(
            not_measured_note(study.folder, response, part)
            for part, keys in asked.items()
            if not chosen.intersection(keys)
        ),
        *outdated_notes(stored, wanted),
        *unread_notes(study.folder, runs, files),
        *repeats_note(study.folder, response, reasons, stored),
    ]
    if earlier:
        notes.append(
            f"Earlier runs of these metrics are not shown ({', '.join(map(repr, earlier))}): "
            f"ccrs judge show {shell_word(study.folder)} RUN --response {shell_word(response_id)}."
        )
    return MeasuredResponse(
        response_id=response.response_id,
        query_id=response.query_id,
        systems=response.systems,
        question=content.question,
        text=content.text,
        references=list(content.references),
        passages=list(content.passages or ()),
        measurements=[
            _explained(measured, reasons.get(measured.scorer))
            for key, metric_values in stored.values.items()
            if key in chosen
            for measured in metric_values
        ],
        marked={construct: sentences for (construct, _), sentences in marked.items()},
        evidence=[_evidence(study, suite, content) for suite in suites],
        notes=notes,
    )


def _content(study: Study, response: FoundResponse) -> Content:
    with study.read() as connection:
        statement = select(response_table.c.context_hash)
        context = connection.execute(statement.where(response_table.c.id == response.id)).scalar()
    place = Place(response.query, bytes(context or b""), response.id)
    [page] = pages(study, [place], None, texts=True)
    return page.contents[0]


def _explained(measured: Measurement, reasons: Mapping[str, str] | None) -> Measurement:
    known = {**REASONS, **(reasons or {})}
    return replace(measured, meaning=known.get(measured.missing_reason or ""))


def _evidence(study: Study, suite: SuiteRuns, content: Content) -> SuiteEvidence:
    """Return the claims and the answers of a suite; metrics that share a prompt show it once."""
    claims = LabeledClaims()
    found: dict[str, tuple[Metric, MetricInput, Prompt, Answer]] = {}
    for run, metric in suite.members:
        texts = ShownTexts(metric, shuffle_of(run))
        for construct in metric.constructs:
            shown = texts.input_of(content, construct)
            for prompt, known in replayed(study, run, metric, shown, content):
                claims.add(metric, shown, prompt, known.answer.text)
                found.setdefault(prompt.hash, (metric, shown, prompt, known.answer))
    answers = [
        RawAnswer(claims.title(metric, shown, prompt), answer.text, answer.missing)
        for metric, shown, prompt, answer in found.values()
    ]
    return SuiteEvidence(suite.name, list(claims.listed()), answers)


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
    figures = [f"{name} {number:g}" for name, number in measured.parts.items()]
    if {*measured.parts} >= {"counted", "of"}:
        share = f"{measured.parts['counted']:g} of {measured.parts['of']:g}"
        figures = [share, *(text for text in figures if not text.startswith(("counted ", "of ")))]
    return f"{measured.value:.4g}" + (f"  ({', '.join(figures)})" if figures else "")


def _said(answer: RawAnswer) -> str:
    if answer.missing:
        return f"{answer.missing} ({REASONS.get(answer.missing, 'no explanation')})"
    return printable(answer.text) if answer.text else "(no text)"
