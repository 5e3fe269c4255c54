"""Scores of metrics that were measured here: read, stored once, and made the ones that count."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple

from sqlalchemy import delete, insert, select

from study.facts.measured_inputs import OWN, MeasuredWith, earlier_inputs
from study.schema import ScorerAnswerBase
from study.schema.creation import append_only_suspended
from study.schema.tables import scorer_answers, scores as score_table
from study.settings.constructs import RETRIEVAL
from study.study import Study


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


MeasuredScores = Mapping[ScoreKey, MeasuredScore]


def with_value(study: Study, responses: Sequence[int], scorers: Sequence[str]) -> set[ScoreKey]:
    """Return which of these scores have a value, under the current versions of the constructs."""
    if not scorers:
        return set()
    columns = score_table.c
    with study.read() as connection:
        versions = study.scored_versions(connection)
        rows = connection.execute(
            select(
                columns.response_id,
                columns.scorer,
                columns.construct_key,
                columns.construct_version,
            ).where(
                columns.response_id.in_(responses),
                columns.scorer.in_(scorers),
                columns.repeat == 0,
                columns.value.is_not(None),
            )
        )
        return {ScoreKey(*row[:3]) for row in rows if row[3] == versions.get(row[2])}


def store_scores(
    study: Study, scores: MeasuredScores, low_is_good: Collection[str], dry_run: bool
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
        existing = {
            ScoreKey(row.response_id, row.scorer, row.construct_key): row
            for row in connection.execute(
                select(
                    score_table.c.id,
                    score_table.c.response_id,
                    score_table.c.scorer,
                    score_table.c.construct_key,
                    score_table.c.construct_version,
                    score_table.c.value,
                    score_table.c.source,
                ).where(
                    score_table.c.response_id.in_({key.response for key in scores}),
                    score_table.c.scorer.in_({key.metric for key in scores}),
                    score_table.c.repeat == 0,
                )
            )
            if row.construct_version == versions.get(row.construct_key)
        }
        rows: list[dict[str, Any]] = []
        replaced: list[int] = []
        for key, (value, missing_reason, rule, _) in scores.items():
            before = existing.get(key)
            if before is not None and (before.value, before.source) == (None, OWN):
                if value is None:
                    continue
                replaced.append(before.id)
                before = None
            if before is not None:
                if not _same(before.value, value):
                    counts[key.metric]["differing"] += 1
                elif value is not None:
                    counts[key.metric]["existing"] += 1
                continue
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
            if value is not None:
                counts[key.metric]["stored"] += 1
        if not dry_run:
            if replaced:
                gone = delete(scorer_answers).where(scorer_answers.c.id.in_(replaced))
                with append_only_suspended(connection, [scorer_answers.name]):
                    connection.execute(gone)
            if rows:
                connection.execute(insert(scorer_answers), rows)
    return counts


def _same(stored: float | None, computed: float | None) -> bool:
    if stored is None or computed is None:
        return stored is computed
    return isclose(stored, computed, rel_tol=1e-9, abs_tol=1e-9)


def use_again(study: Study, measured: Collection[MeasuredWith]) -> None:
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
