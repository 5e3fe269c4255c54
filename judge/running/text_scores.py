"""Scores of metrics without prompts: computed from the texts of the study, and stored once."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.embedding import TRUNCATED
from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue
from judge.metrics.registry import SUITES
from judge.running.pages import Place, pages, places
from judge.running.scope import as_declared
from judge.running.shown_texts import ShownTexts
from judge.running.unprompted_metrics import MetricModels, check_names, unprompted_metrics
from study.base.scales import Scale
from study.errors import StudyError
from study.facts.measured_inputs import OWN, MeasuredWith, earlier_inputs
from study.progress_bar import Advance
from study.schema import ScorerAnswerBase
from study.schema.creation import append_only_suspended
from study.schema.tables import scorer_answers, scores as score_table
from study.settings.constructs import RETRIEVAL
from study.study import Study

# Responses whose values are stored together where each takes a model long.
_SLOW_PAGE = 16


class TextScoreCounts(TypedDict):
    """Scores of one metric."""

    stored: int
    """Values that were stored; in a dry run, that would be."""
    existing: int
    """Values that were there before."""
    differing: int
    """Of the study's scores, those that differ from what was computed now; they stay."""
    truncated: int
    """Values measured now of which a model read only the beginning of a text."""
    missing: dict[str, int]
    """Responses without a value, by reason."""


class ScoreKey(NamedTuple):
    """Identifies a score."""

    response: int
    metric: str
    construct: str


class MeasuredScore(NamedTuple):
    """The value on the scale of the construct, or the reason why there is none."""

    value: float | None
    missing_reason: str | None
    rule: str | None
    truncated: bool = False


def measure_study(
    study: Study,
    names: Sequence[str],
    on: Sequence[str] = (),
    *,
    qrels: Path | None = None,
    grades: Mapping[str, float] | None = None,
    models: MetricModels | None = None,
    dry_run: bool = False,
    advance: Advance = lambda done, total: None,  # noqa: ARG005
) -> dict[str, TextScoreCounts]:
    """Score all responses with metrics without prompts, and store reasons for missing values.

    Parameters
    ----------
    study
        The study with the responses.
    names
        Metrics, or `SUITES` of them; those of retrieval with a cut, such as NDCG@10, or without.
    qrels
        File of relevance judgments, for the metrics of retrieval.
    grades
        Grades of the words in that file, such as those of choices.
    models
        The models of the metrics that need one; None: no metric does.
    on, dry_run, advance
        As in `store_text_metrics`.

    Raises
    ------
    StudyError
        A name is unknown or its metric sends prompts; a scorer that is not a metric has the name;
        or the study lacks the construct that a metric is measured on.
    """
    metrics = unprompted_metrics(study, names, qrels, grades, models or MetricModels())
    metrics = [as_declared(study, metric) for metric in metrics]
    if not metrics:
        raise StudyError(f"--metrics names no metric; name some, or {' or '.join(SUITES)}.")
    constructs = [construct.key for construct in study.config.constructs]
    for metric in metrics:
        for construct in on or metric.constructs:
            own = construct == RETRIEVAL.key and construct in metric.constructs
            if construct not in constructs and not own:
                raise StudyError(
                    f"{metric.key} can't be measured on {construct!r}, which is not a construct of "
                    f"the study; name one with --on: {', '.join(constructs)}."
                )
    check_names(study, metrics)
    return store_text_metrics(
        study,
        places(study),
        metrics,
        on=on,
        keep_missing=True,
        dry_run=dry_run,
        advance=advance,
    )


def store_text_metrics(
    study: Study,
    order: Sequence[Place],
    metrics: Sequence[Metric],
    constructs: Sequence[str] | None = None,
    *,
    on: Sequence[str] = (),
    keep_missing: bool = False,
    dry_run: bool = False,
    advance: Advance = lambda done, total: None,  # noqa: ARG005
) -> dict[str, TextScoreCounts]:
    """Store the scores of metrics without prompts, converted to the scale of the construct.

    Existing scores are not changed; those that differ are counted. Each page of responses is
    stored in one transaction, so that a call that was killed loses at most a page. Responses that
    agree in all that a metric reads are measured once.

    Parameters
    ----------
    study, order
        The selected ones of these responses are scored.
    metrics
        As `text_metrics` returns them.
    constructs
        Only these constructs; None: all that the metrics measure.
    on
        Constructs in place of those that each metric names.
    keep_missing
        Whether missing values are stored too, with their reasons.
    dry_run
        Whether everything is computed and nothing stored.
    advance
        Called with the number of responses done and their total.

    Returns
    -------
    dict
        The counts by metric; metrics without a construct of the study are left out.
    """
    scored = [
        (metric, construct, scale)
        for metric in metrics
        for construct in on or metric.constructs
        if constructs is None or construct in constructs
        if (scale := study.config.scale(construct, metric.key)) is not None
    ]
    counts = {
        metric.key: TextScoreCounts(stored=0, existing=0, differing=0, truncated=0, missing={})
        for metric, _, _ in scored
    }
    if not scored:
        return {}
    texts = any("context" in metric.reads(construct) for metric, construct, _ in scored)
    texts_of = {metric.key: ShownTexts(metric) for metric, _, _ in scored}
    low_is_good = {metric.key for metric, _, _ in scored if metric.low_is_good}
    slow = [metric.key for metric in metrics if metric.key_names_model]
    done, total = 0, sum(place.selected for place in order)
    for page in pages(study, order, None, texts=texts, size=_SLOW_PAGE if slow else None):
        contents = [content for content in page.contents if content.selected]
        done += len(contents)
        known = set()
        if slow:
            with study.read() as connection:
                before = _stored(study, connection, [content.id for content in contents], slow)
            known = {key for key, row in before.items() if row.value is not None}
        results: dict[ScoreKey, MeasuredScore] = {}
        for metric, construct, scale in scored:
            new = [c for c in contents if ScoreKey(c.id, metric.key, construct) not in known]
            counts[metric.key]["existing"] += len(contents) - len(new)
            shown = [texts_of[metric.key].input_of(content, construct) for content in new]
            for response, result in _measured(metric, scale, shown):
                results[ScoreKey(response.content.id, metric.key, construct)] = result
        kept = {k: r for k, r in results.items() if keep_missing or r.missing_reason is None}
        try:
            stored = _store_scores(study, kept, low_is_good, dry_run)
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL).
            stored = _store_scores(study, kept, low_is_good, dry_run)
        _add(counts, results, stored)
        advance(done, total)
    if not dry_run:
        _use_again(study, [MeasuredWith(metric.key, construct) for metric, construct, _ in scored])
    return counts


def _add(
    counts: Mapping[str, TextScoreCounts],
    results: Mapping[ScoreKey, MeasuredScore],
    stored: Mapping[str, Counter[str]],
) -> None:
    """Count the scores of a page, and what became of them."""
    for key, result in results.items():
        counts[key.metric]["truncated"] += result.truncated
        if result.missing_reason is not None:
            missing = counts[key.metric]["missing"]
            missing[result.missing_reason] = missing.get(result.missing_reason, 0) + 1
    for name, outcomes in stored.items():
        counts[name]["stored"] += outcomes["stored"]
        counts[name]["existing"] += outcomes["existing"]
        counts[name]["differing"] += outcomes["differing"]


def _measured(
    metric: Metric, scale: Scale, shown: Iterable[MetricInput]
) -> Iterator[tuple[MetricInput, MeasuredScore]]:
    """Measure responses; those that agree in all that the metric reads once."""
    shared: dict[tuple[object, ...], list[MetricInput]] = {}
    for response in shown:
        shared.setdefault(_read_of(response), []).append(response)
    metric.prepare([responses[0] for responses in shared.values()])
    for responses in shared.values():
        measured = _evaluated(metric, responses[0])
        if isinstance(measured, MissingValue):
            score = MeasuredScore(None, measured.reason, None)
        else:
            rule, truncated = measured.rule or metric.version, TRUNCATED in measured.parts
            rule = f"{rule} {TRUNCATED}" if truncated else rule
            score = MeasuredScore(
                scale.converted(measured.value, metric.scale), None, rule, truncated
            )
        yield from ((response, score) for response in responses)


def _read_of(response: MetricInput) -> tuple[object, ...]:
    """Return what a metric reads of a response: its fields, or without any the response itself."""
    content, fields = response.content, response.fields
    if not fields:
        return (content.id,)
    return (
        content.question if "question" in fields else None,
        content.text if "response" in fields else None,
        content.references if "reference" in fields else None,
        content.context_hash if "context" in fields else None,
    )


def _evaluated(metric: Metric, response: MetricInput) -> MetricValue | MissingValue:
    content = response.content
    if "reference" in response.fields and not any(map(str.strip, content.references)):
        return MissingValue("no_reference")
    if "context" in response.fields and not content.context_hash:
        return MissingValue("no_passages")
    result = evaluate(metric, response).result
    if result is None:
        raise StudyError(f"The metric {metric.key} asks a model although its `steps` is 0.")
    return result


def _stored(
    study: Study, connection: Connection, responses: Collection[int], scorers: Collection[str]
) -> dict[ScoreKey, Any]:
    """Return the scores of these scorers under the current versions of the constructs."""
    versions, columns = study.scored_versions(connection), score_table.c
    rows = connection.execute(
        select(
            columns.id,
            columns.response_id,
            columns.scorer,
            columns.construct_key,
            columns.construct_version,
            columns.value,
            columns.source,
        ).where(
            columns.response_id.in_(responses),
            columns.scorer.in_(scorers),
            columns.repeat == 0,
        )
    )
    return {
        ScoreKey(*row[1:4]): row
        for row in rows
        if row.construct_version == versions.get(row.construct_key)
    }


def _store_scores(
    study: Study,
    scores: Mapping[ScoreKey, MeasuredScore],
    low_is_good: Collection[str],
    dry_run: bool,
) -> dict[str, Counter[str]]:
    """Store the scores that are not there yet, and count values by metric and outcome.

    A value replaces the reason that it was missing for, which relevance judgments of more queries
    may remove.
    """
    counts: dict[str, Counter[str]] = {key.metric: Counter() for key in scores}
    with study.read() if dry_run else study.write() as connection:
        versions = study.scored_versions(connection)
        if not dry_run and any(key.construct == RETRIEVAL.key for key in scores):
            study.store_retrieval(connection)
        responses, metrics = {key.response for key in scores}, {key.metric for key in scores}
        existing = _stored(study, connection, responses, metrics)
        rows: list[dict[str, Any]] = []
        replaced: list[int] = []
        for key, (value, missing_reason, rule, _) in scores.items():
            before = existing.get(key)
            outcome = _outcome(before, value)
            if outcome == "differing" or value is not None:
                counts[key.metric][outcome] += 1
            if outcome != "stored":
                continue
            if before is not None:
                replaced.append(before.id)
            score = ScorerAnswerBase(
                construct_key=key.construct,
                construct_version=versions[key.construct],
                scorer=key.metric,
                scorer_kind="metric",
                value=value,
                missing_reason=missing_reason,
                rule=rule,
                source=OWN,
            )
            rows.append(
                {
                    **score.model_dump(),
                    "response_id": key.response,
                    "low_is_good": key.metric in low_is_good,
                }
            )
        if not dry_run:
            if replaced:
                gone = delete(scorer_answers).where(scorer_answers.c.id.in_(replaced))
                with append_only_suspended(connection, [scorer_answers.name]):
                    connection.execute(gone)
            if rows:
                connection.execute(insert(scorer_answers), rows)
    return counts


def _outcome(before: Any, value: float | None) -> str:
    """Return what becomes of a measured value, beside what was stored before it."""
    if before is None or ((before.value, before.source) == (None, OWN) and value is not None):
        return "stored"
    if before.value is None or value is None:
        return "existing" if before.value is value else "differing"
    same = isclose(before.value, value, rel_tol=1e-9, abs_tol=1e-9)
    return "existing" if same else "differing"


def _use_again(study: Study, measured: Collection[MeasuredWith]) -> None:
    """Store the scores of these metrics anew, where those with another state of the input count."""
    with study.write() as connection:
        for scorer, construct in set(earlier_inputs(connection)).intersection(measured):
            columns = scorer_answers.c
            chosen = columns.scorer == scorer, columns.construct_key == construct
            statement = select(scorer_answers).where(*chosen).order_by(columns.id)
            rows = [dict(row) for row in connection.execute(statement).mappings()]
            for row in rows:
                del row["id"]
            with append_only_suspended(connection, [scorer_answers.name]):
                connection.execute(delete(scorer_answers).where(*chosen))
            connection.execute(insert(scorer_answers), rows)
