"""Counts of the score table, without the table: the scores of one construct at a time."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from study.facts.counted_scores import CountedScores, counted_scores, imported_scores
from study.facts.judgments import judge_scores, runs_with_distributions
from study.facts.ratings import human_scores
from study.facts.table_arrays import Columns
from study.facts.table_responses import responses_in_use
from study.schema.tables import judgments, scores
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class ScorerStatus:
    """Values of one scorer on one construct; a response counts once."""

    construct: str
    scorer: str
    kind: str
    values: int
    missing: dict[str, int]
    """Reason to number of responses."""


@dataclass(frozen=True)
class ScoreCounts:
    """Counts of the score table."""

    scorers: list[ScorerStatus]
    left_out: dict[str, int]
    """Why values do not enter the score table, with their number."""
    edited: int
    """Ratings that were changed after their rater had been shown more."""


def score_counts(
    connection: Connection, versions: Mapping[str, int], config: StudyConfig
) -> ScoreCounts:
    """Count the scores that `study.facts.score_table` has, with the same parameters."""
    responses = responses_in_use(connection)
    rank = np.arange(responses.key.size)
    people = human_scores(connection, "before_reveal")
    expected = runs_with_distributions(connection)
    keys = set(people["construct"])
    for table in (scores, judgments):
        keys |= set(connection.execute(select(table.c.construct_key).distinct()).scalars())
    scorers: list[ScorerStatus] = []
    left_out: Counter[str] = Counter()
    edited = 0
    for some in _read_together(keys, config):
        parts: list[Columns] = [
            *(imported_scores(connection, key) for key in some),
            people[people["construct"].isin(some)],
            *(judge_scores(connection, key, expected) for key in some),
        ]
        counted = counted_scores(connection, parts, versions, responses, rank, config)
        scorers += _scorers(counted)
        left_out.update(counted.left_out)
        edited += counted.edited
    return ScoreCounts(scorers, dict(left_out), edited)


def _read_together(keys: Iterable[str], config: StudyConfig) -> list[list[str]]:
    """Return the constructs in groups: a composite of several constructs needs all of them."""
    groups = [{key} for key in sorted(keys)]
    for spec in config.combined.values():
        of = {member.construct for member in spec.members}
        linked = [group for group in groups if group & of]
        if len(linked) > 1:
            groups = [group for group in groups if group not in linked]
            groups.append(set().union(*linked))
    return [sorted(group) for group in groups]


def _scorers(counted: CountedScores) -> list[ScorerStatus]:
    """Count the values of each scorer."""
    order = counted.order
    named = [counted.rows[name] for name in ("construct", "scorer", "scorer_kind")]
    sizes = [len(column.categories) for column in named]
    group = np.zeros(order.size, dtype=np.int32)
    for column, size in zip(named, sizes, strict=True):
        group *= size
        group += column.codes[order]
    values = np.isfinite(counted.rows["value"][order])
    reason: Any = counted.rows["missing_reason"]
    found = []
    for code in np.unique(group):
        mine = group == code
        construct, scorer, kind = np.unravel_index(code, sizes)
        counts = np.bincount(
            reason.codes[order[mine & ~values]] + 1, minlength=len(reason.categories) + 1
        )[1:]
        # As value_counts: the most frequent first.
        by_count = np.argsort(-counts, kind="stable")
        found.append(
            ScorerStatus(
                str(named[0].categories[construct]),
                str(named[1].categories[scorer]),
                str(named[2].categories[kind]),
                int((mine & values).sum()),
                {str(reason.categories[i]): int(counts[i]) for i in by_count if counts[i]},
            )
        )
    return found
