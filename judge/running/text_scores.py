"""Metrics without prompts, computed from the texts of the study and stored as scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isclose
from typing import NamedTuple

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Metric, MetricValue
from judge.metrics.registry import load_metric
from judge.run_settings import DEFAULT_TEXT_METRICS
from judge.running.pages import Place, pages
from judge.running.shown_texts import ShownTexts
from study.errors import StudyError
from study.scales import RatingScale
from study.schema import ScoreBase
from study.schema.tables import judge_runs, raters, scores as score_table
from study.study import Study


class _ScoreKey(NamedTuple):
    """Identifies a score."""

    response: int
    metric: str
    construct: str


_Scores = Mapping[_ScoreKey, float]


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
            f"--text-metrics: {', '.join(prompting)} asks a model; use --metric instead."
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
    with study.read() as connection:
        other_scorers = _other_scorers(connection)
    for metric in metrics:
        if metric not in idle and metric.key in other_scorers:
            raise StudyError(
                f"The study has a scorer named {metric.key!r} that is not a metric; leave "
                f"{metric.key} out of --text-metrics, because its scores would be mixed with these."
            )


def store_text_metrics(
    study: Study,
    order: Sequence[Place],
    metrics: Sequence[Metric],
    constructs: Sequence[str] | None = None,
) -> dict[str, dict[str, int]]:
    """Store the scores of metrics without prompts, converted to the scale of the construct.

    Existing scores are not changed; those that differ are counted. A response that lacks a field
    of the metric, such as a reference answer, gets no score.

    Parameters
    ----------
    study, order
        The selected ones of these responses are scored.
    metrics
        As `text_metrics` returns them.
    constructs
        Only these constructs; None: all that the metrics measure.

    Returns
    -------
    dict
        The counts `stored`, `existing` and `differing` by metric; metrics without a construct of
        the study are left out.
    """
    scored = [
        (metric, construct, scale)
        for metric in metrics
        for construct in metric.constructs
        if constructs is None or construct in constructs
        if (scale := study.config.scale(construct, metric.key)) is not None
    ]
    counts = {m.key: Counter({"stored": 0, "existing": 0, "differing": 0}) for m, _, _ in scored}
    if not scored:
        return {}
    texts = any("context" in metric.reads(construct) for metric, construct, _ in scored)
    texts_of = {metric.key: ShownTexts(metric) for metric, _, _ in scored}
    for page in pages(study, order, None, texts=texts):
        scores: dict[_ScoreKey, float] = {}
        for content in page.contents:
            for metric, construct, scale in scored:
                reads = metric.reads(construct)
                lacks = ("reference" in reads and not content.references) or (
                    "context" in reads and not content.context_hash
                )
                if lacks or not content.selected:
                    continue
                response = texts_of[metric.key].input_of(content, construct)
                result = evaluate(metric, response).result
                if isinstance(result, MetricValue):
                    key = _ScoreKey(content.id, metric.key, construct)
                    scores[key] = _convert(result.value, metric.scale, scale)
        try:
            stored = _store(study, scores)
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL).
            stored = _store(study, scores)
        for (name, outcome), number in stored.items():
            counts[name][outcome] += number
    return {name: dict(count) for name, count in counts.items()}


def _convert(value: float, source: RatingScale, scale: RatingScale) -> float:
    share = (value - source.min) / (source.max - source.min)
    return scale.min + share * (scale.max - scale.min)


def _store(study: Study, scores: _Scores) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    with study.write() as connection:
        versions = study.construct_versions(connection)
        existing = {
            _ScoreKey(row.response_id, row.scorer, row.construct_key): row.value
            for row in connection.execute(
                select(
                    score_table.c.response_id,
                    score_table.c.scorer,
                    score_table.c.construct_key,
                    score_table.c.construct_version,
                    score_table.c.value,
                ).where(
                    score_table.c.response_id.in_({key.response for key in scores}),
                    score_table.c.scorer.in_({key.metric for key in scores}),
                    score_table.c.repeat == 0,
                )
            )
            if row.construct_version == versions.get(row.construct_key)
        }
        rows = []
        for key, value in scores.items():
            if key in existing:
                stored = existing[key]
                same = stored is not None and isclose(stored, value, rel_tol=1e-9, abs_tol=1e-9)
                counts[key.metric, "existing" if same else "differing"] += 1
                continue
            score = ScoreBase(
                construct_key=key.construct,
                construct_version=versions[key.construct],
                scorer=key.metric,
                scorer_kind="metric",
                value=value,
                source="own",
            )
            rows.append({**score.model_dump(), "response_id": key.response})
            counts[key.metric, "stored"] += 1
        if rows:
            connection.execute(insert(score_table), rows)
    return counts


def _other_scorers(connection: Connection) -> set[str]:
    statements = (
        select(raters.c.code),
        select(judge_runs.c.name),
        select(score_table.c.scorer).where(score_table.c.scorer_kind != "metric").distinct(),
    )
    return {str(name) for query in statements for name in connection.execute(query).scalars()}
