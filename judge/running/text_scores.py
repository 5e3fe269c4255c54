"""Scores of metrics that ask nothing, computed from the study's texts and stored as scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isclose
from typing import NamedTuple

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.evaluation import evaluate
from judge.metrics.metric import Metric, MetricValue
from judge.metrics.registry import load_metric
from judge.running.pages import Place, pages
from judge.running.shown_texts import ShownTexts
from judge.settings import DEFAULT_TEXT_METRICS
from study.errors import StudyError
from study.scales import RatingScale
from study.schema import JudgeRun, Rater, Score, ScoreBase, table
from study.study import Study


class _Place(NamedTuple):
    """Where a score belongs."""

    response: int
    metric: str
    construct: str


_Scores = Mapping[_Place, float]


def text_metrics(names: Sequence[str]) -> list[Metric]:
    """Return the metrics of these names, each once.

    Raises
    ------
    StudyError
        There is none of a name, or it asks prompts.
    """
    found = [load_metric(name) for name in dict.fromkeys(names)]
    asking = [metric.key for metric in found if metric.steps]
    if asking:
        raise StudyError(
            f"--text-metrics: {', '.join(asking)} asks a model; give it to --metric instead."
        )
    return found


def check_text_metrics(study: Study, metrics: Sequence[Metric], constructs: Sequence[str]) -> None:
    """Refuse metrics that nothing would come of, or whose name is another scorer's.

    Raises
    ------
    StudyError
        None of a metric's constructs is judged, and the metric is not the default one; or a
        rater, a judge run or an imported scorer that is no metric has a metric's name.
    """
    idle = [m for m in metrics if not set(m.constructs) & set(constructs)]
    if idle and tuple(metric.key for metric in metrics) != DEFAULT_TEXT_METRICS:
        raise StudyError(
            f"--text-metrics: {idle[0].key} measures {', '.join(idle[0].constructs)}, which is "
            f"not judged here ({', '.join(constructs)}); leave it out."
        )
    with study.read() as connection:
        taken = _other_scorers(connection)
    for metric in metrics:
        if metric not in idle and metric.key in taken:
            raise StudyError(
                f"The study has a scorer named {metric.key!r} that is no metric; leave "
                f"{metric.key} out of --text-metrics, or its scores would be mixed with these."
            )


def store_text_metrics(
    study: Study,
    order: Sequence[Place],
    metrics: Sequence[Metric],
    constructs: Sequence[str] | None = None,
) -> dict[str, dict[str, int]]:
    """Store metrics that ask nothing, each moved from its own range to the construct's scale.

    Scores of these names that the study has already stay; those that differ are counted. Without
    what a metric reads, such as a reference answer, there is no score.

    Parameters
    ----------
    study, order
        Of these responses, the wanted ones are scored.
    metrics
        As `text_metrics` returns them.
    constructs
        Only these; None: all that the metrics measure.

    Returns
    -------
    dict
        The counts `stored`, `held` and `differing` by metric; nothing for a metric without a
        construct of the study.
    """
    wanted = [
        (metric, construct, scale)
        for metric in metrics
        for construct in metric.constructs
        if constructs is None or construct in constructs
        if (scale := study.config.scale(construct, metric.key)) is not None
    ]
    counts = {m.key: Counter({"stored": 0, "held": 0, "differing": 0}) for m, _, _ in wanted}
    if not wanted:
        return {}
    texts = any("context" in metric.reads(construct) for metric, construct, _ in wanted)
    shown = {metric.key: ShownTexts(metric) for metric, _, _ in wanted}
    for page in pages(study, order, None, texts=texts):
        scores: dict[_Place, float] = {}
        for content in page.contents:
            for metric, construct, scale in wanted:
                reads = metric.reads(construct)
                lacks = ("reference" in reads and not content.references) or (
                    "context" in reads and not content.context_hash
                )
                if lacks or not content.selected:
                    continue
                response = shown[metric.key].input_of(content, construct)
                result = evaluate(metric, response).result
                if isinstance(result, MetricValue):
                    place = _Place(content.id, metric.key, construct)
                    scores[place] = _on_scale(result.value, metric.scale, scale)
        try:
            found = _stored(study, scores)
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL).
            found = _stored(study, scores)
        for (name, outcome), number in found.items():
            counts[name][outcome] += number
    return {name: dict(count) for name, count in counts.items()}


def _on_scale(value: float, own: RatingScale, scale: RatingScale) -> float:
    share = (value - own.min) / (own.max - own.min)
    return scale.min + share * (scale.max - scale.min)


def _stored(study: Study, scores: _Scores) -> Counter[tuple[str, str]]:
    s = table(Score)
    counts: Counter[tuple[str, str]] = Counter()
    with study.write() as connection:
        versions = study.construct_versions(connection)
        held = {
            _Place(row.response_id, row.scorer, row.construct_key): row.value
            for row in connection.execute(
                select(
                    s.c.response_id, s.c.scorer, s.c.construct_key, s.c.construct_version, s.c.value
                ).where(
                    s.c.response_id.in_({place.response for place in scores}),
                    s.c.scorer.in_({place.metric for place in scores}),
                    s.c.repeat == 0,
                )
            )
            if row.construct_version == versions.get(row.construct_key)
        }
        rows = []
        for place, value in scores.items():
            if place in held:
                there = held[place]
                same = there is not None and isclose(there, value, rel_tol=1e-9, abs_tol=1e-9)
                counts[place.metric, "held" if same else "differing"] += 1
                continue
            score = ScoreBase(
                construct_key=place.construct,
                construct_version=versions[place.construct],
                scorer=place.metric,
                scorer_kind="metric",
                value=value,
                source="own",
            )
            rows.append({**score.model_dump(), "response_id": place.response})
            counts[place.metric, "stored"] += 1
        if rows:
            connection.execute(insert(s), rows)
    return counts


def _other_scorers(connection: Connection) -> set[str]:
    s = table(Score)
    statements = (
        select(table(Rater).c.code),
        select(table(JudgeRun).c.name),
        select(s.c.scorer).where(s.c.scorer_kind != "metric").distinct(),
    )
    return {str(name) for one in statements for name in connection.execute(one).scalars()}
