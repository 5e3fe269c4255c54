"""Metrics without prompts, computed from the texts of the study and stored as scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.embedding import TRUNCATED
from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Metric, MetricInput, MetricValue, MissingValue
from judge.metrics.registry import SUITES, load_metric
from judge.metrics.retrieval import retrieval_key
from judge.run_settings import DEFAULT_TEXT_METRICS
from judge.running.measured_scores import (
    MeasuredScore,
    ScoreKey,
    store_scores,
    use_again,
    with_value,
)
from judge.running.model_metrics import MetricModels, is_model_metric, model_metrics
from judge.running.pages import Place, pages, places
from judge.running.rankings import retrieval_metrics
from judge.running.scope import as_declared
from judge.running.shown_texts import ShownTexts
from study.base.scales import Scale
from study.errors import StudyError
from study.facts.measured_inputs import MeasuredWith
from study.progress_bar import Advance
from study.schema.tables import judge_runs, raters, scores as score_table
from study.settings.constructs import RETRIEVAL
from study.study import Study


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


# Responses whose values are stored together where each takes a model long.
_SLOW_PAGE = 16


def text_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics of these names, each once.

    Raises
    ------
    StudyError
        A name is unknown, or its metric sends prompts.
    """
    metrics = [load_metric(name) for name in dict.fromkeys(names)]
    prompting = [metric.key for metric in metrics if metric.steps]
    if prompting:
        raise StudyError(
            f"{', '.join(prompting)} asks a model; use `ccrs judge STUDY --metric` instead."
        )
    return metrics


def check_text_metrics(study: Study, metrics: Sequence[Metric], constructs: Sequence[str]) -> None:
    """Check that metrics without prompts apply to the constructs and have free names.

    Raises
    ------
    StudyError
        A metric other than the default measures none of the constructs; or a rater, a judge run or
        an imported scorer other than a metric has the name of a metric.
    """
    idle = [m for m in metrics if not set(m.constructs) & set(constructs)]
    if idle and tuple(metric.key for metric in metrics) != DEFAULT_TEXT_METRICS:
        raise StudyError(
            f"--text-metrics: {idle[0].key} measures {', '.join(idle[0].constructs)}, which is "
            f"not judged here ({', '.join(constructs)}); leave it out."
        )
    _check_names(study, [metric for metric in metrics if metric not in idle])


def _check_names(study: Study, metrics: Sequence[Metric]) -> None:
    with study.read() as connection:
        other_scorers = _other_scorers(connection)
    for metric in metrics:
        if metric.key in other_scorers:
            raise StudyError(
                f"The study has a scorer named {metric.key!r} that is not a metric; leave "
                f"{metric.key} out, because its scores would be mixed with these."
            )


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
    keys = dict.fromkeys(name for entry in names for name in SUITES.get(entry, (entry,)))
    ranking_metrics = list(dict.fromkeys(filter(None, map(retrieval_key, keys))))
    model_keys = [key for key in keys if is_model_metric(key)]
    metrics = text_metrics(
        [key for key in keys if retrieval_key(key) is None and key not in model_keys]
    )
    if ranking_metrics:
        metrics += retrieval_metrics(study, ranking_metrics, qrels, grades)
    elif qrels is not None:
        raise StudyError("--qrels is read by metrics of retrieval only; name one or leave it out.")
    metrics += model_metrics(model_keys, models or MetricModels(), names)
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
    _check_names(study, metrics)
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
        known = with_value(study, [content.id for content in contents], slow)
        results: dict[ScoreKey, MeasuredScore] = {}
        for metric, construct, scale in scored:
            # Responses that agree in all that the metric reads share an entry.
            shared: dict[tuple[object, ...], list[MetricInput]] = {}
            for content in contents:
                if ScoreKey(content.id, metric.key, construct) in known:
                    counts[metric.key]["existing"] += 1
                    continue
                response = texts_of[metric.key].input_of(content, construct)
                shared.setdefault(_shown(response), []).append(response)
            metric.prepare([responses[0] for responses in shared.values()])
            for responses in shared.values():
                result = _result(_measured(metric, responses[0]), metric, scale)
                for response in responses:
                    results[ScoreKey(response.content.id, metric.key, construct)] = result
        for key, result in results.items():
            counts[key.metric]["truncated"] += result.truncated
            if result.missing_reason is not None:
                missing = counts[key.metric]["missing"]
                missing[result.missing_reason] = missing.get(result.missing_reason, 0) + 1
        kept = {k: r for k, r in results.items() if keep_missing or r.missing_reason is None}
        try:
            stored = store_scores(study, kept, low_is_good, dry_run)
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL).
            stored = store_scores(study, kept, low_is_good, dry_run)
        for name, outcomes in stored.items():
            counts[name]["stored"] += outcomes["stored"]
            counts[name]["existing"] += outcomes["existing"]
            counts[name]["differing"] += outcomes["differing"]
        advance(done, total)
    if not dry_run:
        use_again(study, [MeasuredWith(metric.key, construct) for metric, construct, _ in scored])
    return counts


def _shown(response: MetricInput) -> tuple[object, ...]:
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


def _measured(metric: Metric, response: MetricInput) -> MetricValue | MissingValue:
    content = response.content
    if "reference" in response.fields and not any(map(str.strip, content.references)):
        return MissingValue("no_reference")
    if "context" in response.fields and not content.context_hash:
        return MissingValue("no_passages")
    result = evaluate(metric, response).result
    if result is None:
        raise StudyError(f"The metric {metric.key} asks a model although its `steps` is 0.")
    return result


def _result(measured: MetricValue | MissingValue, metric: Metric, scale: Scale) -> MeasuredScore:
    if isinstance(measured, MissingValue):
        return MeasuredScore(None, measured.reason, None)
    value = scale.converted(measured.value, metric.scale)
    rule = measured.rule or metric.version
    truncated = TRUNCATED in measured.parts
    return MeasuredScore(value, None, f"{rule} {TRUNCATED}" if truncated else rule, truncated)


def _other_scorers(connection: Connection) -> set[str]:
    statements = (
        select(raters.c.code),
        select(judge_runs.c.name),
        select(score_table.c.scorer).where(score_table.c.scorer_kind != "metric").distinct(),
    )
    return {str(name) for query in statements for name in connection.execute(query).scalars()}
