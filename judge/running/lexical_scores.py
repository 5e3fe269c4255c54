"""Metrics of a match on Answer Correctness, from the study's own texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isclose

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from judge.metrics.lexical import DEFAULT, MATCHES, Match
from judge.running.pages import Place, pages
from study.errors import StudyError
from study.schema import JudgeRun, Rater, Score, ScoreBase, table
from study.study import Study

CONSTRUCT = "AC"

_Values = dict[tuple[int, Match], float]
"""By response (database key) and metric."""


def check_metrics(study: Study, metrics: Sequence[Match], constructs: Sequence[str]) -> None:
    """Refuse metrics that nothing would come of, or whose name is another scorer's.

    Raises
    ------
    StudyError
        AC is not judged and others than the default are asked for; or a rater, a judge run or an
        imported scorer that is no metric has a metric's name.
    """
    if CONSTRUCT not in constructs:
        if tuple(metrics) != DEFAULT:
            raise StudyError(
                f"--ac-metrics: they are stored with {CONSTRUCT}, which is not judged here "
                f"({', '.join(constructs)}); leave it out."
            )
        return
    with study.read() as connection:
        taken = _other_scorers(connection)
    for name in metrics:
        if name in taken:
            raise StudyError(
                f"The study has a scorer named {name!r} that is no metric; leave {name} out of "
                "--ac-metrics, or its scores would be mixed with these."
            )


def store_ac_metrics(
    study: Study, order: Sequence[Place], metrics: Sequence[Match] = DEFAULT
) -> dict[str, dict[str, int]]:
    """Store metrics of a match on AC: its share of the way from the scale's minimum to its maximum.

    Scores of these names that the study holds already stay; those that differ are counted. A
    query without reference answers has none. Returns the counts `stored`, `held` and `differing`
    by metric; nothing where the study has no construct AC.
    """
    chosen = list(dict.fromkeys(metrics))
    scales = {name: study.config.scale(CONSTRUCT, name) for name in chosen}
    counts = {name: Counter({"stored": 0, "held": 0, "differing": 0}) for name in chosen}
    if not chosen or None in scales.values():
        return {}
    for page in pages(study, order, None, texts=False):
        values: _Values = {}
        for content in page.contents:
            if not (content.references and content.wanted):
                continue
            for name, scale in scales.items():
                if scale is not None:
                    share = MATCHES[name](content.text, content.references)
                    values[content.id, name] = scale.min + share * (scale.max - scale.min)
        try:
            found = _stored(study, values)
        except IntegrityError:
            # Another run stored the same scores at the same moment (PostgreSQL); now they are held.
            found = _stored(study, values)
        for (name, outcome), number in found.items():
            counts[name][outcome] += number
    return {name: dict(count) for name, count in counts.items()}


def _stored(study: Study, values: Mapping[tuple[int, Match], float]) -> Counter[tuple[Match, str]]:
    s = table(Score)
    counts: Counter[tuple[Match, str]] = Counter()
    with study.write() as connection:
        version = study.construct_versions(connection)[CONSTRUCT]
        held = {
            (row.response_id, row.scorer): row.value
            for row in connection.execute(
                select(s.c.response_id, s.c.scorer, s.c.value).where(
                    s.c.response_id.in_({response for response, _ in values}),
                    s.c.construct_key == CONSTRUCT,
                    s.c.construct_version == version,
                    s.c.scorer.in_({name for _, name in values}),
                    s.c.repeat == 0,
                )
            )
        }
        rows = []
        for (response, name), value in values.items():
            if (response, name) in held:
                there = held[response, name]
                same = there is not None and isclose(there, value, rel_tol=1e-9, abs_tol=1e-9)
                counts[name, "held" if same else "differing"] += 1
                continue
            score = ScoreBase(
                construct_key=CONSTRUCT,
                construct_version=version,
                scorer=name,
                scorer_kind="metric",
                value=value,
                source="own",
            )
            rows.append({**score.model_dump(), "response_id": response})
            counts[name, "stored"] += 1
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
