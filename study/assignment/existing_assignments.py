"""Existing assignments: rater, response, constructs and purpose."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from study.facts.ratings import finished_assignments
from study.facts.slots import is_further, is_handed_on, is_released
from study.schema.tables import assignments, responses, reveals
from study.settings.study_toml import StudyConfig
from study.text import shell_word

Pass = tuple[str, int, int]
"""A pass of a rater through a query: phase, round, repeat."""
MAIN_PHASE = "main"
"""The main rating, including its checks."""

WorkByRater = dict[int, dict[Pass, dict[int, dict[int, frozenset[str]]]]]
"""Rater to pass to query to response to the constructs it is rated on."""


class ExistingAssignment(NamedTuple):
    """One assignment."""

    id: int
    rater: int | None
    """Null for an open slot."""
    query: int
    response: int
    construct_keys: frozenset[str]
    purpose: str
    round: int
    repeat: int
    layout: str
    position: int
    inclusion_prob: float
    stratum: str | None
    inactive: bool
    """It was replaced after its lease expired, or taken back unfinished."""
    counts: bool
    """Whether it is one of the ratings that a response needs."""
    vacant: bool
    """It was one of them, was taken back unfinished, and has not been replaced."""

    @property
    def rating_pass(self) -> Pass:
        """Its pass; a check belongs to that of the main work."""
        phase = MAIN_PHASE if self.purpose in {"main", "check"} else self.purpose
        return phase, self.round, self.repeat


def existing_assignments(connection: Connection, config: StudyConfig) -> list[ExistingAssignment]:
    """Return all assignments, of whatever purpose."""
    finished = finished_assignments(connection, config, is_released())
    rows: Any = connection.execute(
        select(
            assignments.c.id,
            assignments.c.rater_id,
            responses.c.query_id,
            assignments.c.response_id,
            assignments.c.construct_keys,
            assignments.c.purpose,
            assignments.c.round,
            assignments.c.repeat,
            assignments.c.layout,
            assignments.c.position,
            assignments.c.inclusion_prob,
            assignments.c.stratum,
            is_released().label("released"),
            is_handed_on().label("handed_on"),
            is_further().label("further"),
        )
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .order_by(assignments.c.id)
    )
    keys: dict[tuple[str, ...], frozenset[str]] = {}
    existing = []
    for row in rows:
        construct_keys = keys.setdefault(tuple(row.construct_keys), frozenset(row.construct_keys))
        first = row.purpose == "main" and row.repeat == 0
        unfinished = row.released and row.id not in finished
        existing.append(
            ExistingAssignment(
                id=row.id,
                rater=row.rater_id,
                query=row.query_id,
                response=row.response_id,
                construct_keys=construct_keys,
                purpose=row.purpose,
                round=row.round,
                repeat=row.repeat,
                layout=row.layout,
                position=row.position,
                inclusion_prob=row.inclusion_prob,
                stratum=row.stratum,
                inactive=row.handed_on or unfinished,
                counts=first and not row.handed_on and not unfinished,
                vacant=first and not row.handed_on and unfinished and not row.further,
            )
        )
    return existing


def further_slots(folder: Path, existing: Iterable[ExistingAssignment]) -> str:
    """Return the command that creates an open slot more for each response."""
    raters = Counter(
        (assignment.response, key)
        for assignment in existing
        if assignment.counts
        for key in assignment.construct_keys
    )
    each = f" --per-item {max(raters.values()) + 1}" if raters else ""
    return f"ccrs assign {shell_word(folder)} --open{each}"


def work_by_rater(existing: Iterable[ExistingAssignment]) -> WorkByRater:
    """Return the work of each rater, without assignments that were handed on or taken back."""
    work: WorkByRater = {}
    for assignment in existing:
        if assignment.rater is not None and not assignment.inactive:
            add_work(
                work,
                assignment.rater,
                assignment.rating_pass,
                assignment.query,
                assignment.response,
                assignment.construct_keys,
            )
    return work


def add_work(
    work: WorkByRater, rater: int, rating_pass: Pass, query: int, response: int, keys: Iterable[str]
) -> None:
    """Add a response to a rater's pass."""
    mine = work.setdefault(rater, {}).setdefault(rating_pass, {}).setdefault(query, {})
    before = mine.get(response)
    mine[response] = frozenset(keys) if before is None else before.union(keys)


def shown_later_stages(connection: Connection) -> dict[int, set[int]]:
    """Return the queries of which each rater has seen more than the first stage.

    They know fields that raters should not know when they give their first values.
    """
    return _shown(connection, 1)


def begun_queries(connection: Connection) -> dict[int, set[int]]:
    """Return the queries that each rater has begun."""
    return _shown(connection, 0)


def _shown(connection: Connection, beyond: int) -> dict[int, set[int]]:
    rows = connection.execute(
        select(assignments.c.rater_id, responses.c.query_id)
        .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
        .join(responses, assignments.c.response_id == responses.c.id)
        .where(reveals.c.stage > beyond)
        .distinct()
    )
    queries: dict[int, set[int]] = {}
    for rater, query in rows:
        queries.setdefault(rater, set()).add(query)
    return queries


def last_positions(connection: Connection) -> dict[int | None, int]:
    """Return the last position in each rater's order of work; None: open slots."""
    rows = connection.execute(
        select(assignments.c.rater_id, func.max(assignments.c.position)).group_by(
            assignments.c.rater_id
        )
    )
    return {rater: int(position) for rater, position in rows}
