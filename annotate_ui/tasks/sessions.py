"""Sessions: stretches of work, each ended by a pause between two saves.

The clock may jump. Set back, it ends no session; set forward, it ends a session early. No rating
depends on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Select, select

from annotate_ui.tasks.passes import TaskPage
from annotate_ui.tasks.steps import Work
from study.schema import now
from study.schema.tables import assignments, comparisons, decisions, ratings, responses
from study.settings.study_toml import StudyConfig

# More values than a rater enters in one session.
_MOST = 2000


@dataclass(frozen=True)
class Session:
    """The stretch of work that a rater is in."""

    active_seconds: float
    """Of the values saved in it."""
    last: datetime | None
    """When the last value was saved; None: none in this session."""

    def is_over(self, config: StudyConfig) -> bool:
        """Whether the rater has worked as long as a session may last."""
        most = config.rating.session_minutes
        return most is not None and self.active_seconds >= most * 60

    def next_from(self, config: StudyConfig) -> datetime:
        """Return when the next session may begin."""
        if self.last is None:
            return now()
        return self.last + timedelta(minutes=config.rating.break_minutes)


def session_of(connection: Connection, config: StudyConfig, rater_id: int) -> Session:
    """Return the session that a rater is in; a new one where the pause is long enough.

    Where sessions have no bound, none is read.
    """
    if config.rating.session_minutes is None:
        return Session(0.0, None)
    later, last, active = now(), None, 0.0
    for saved_at, seconds in _saves(connection, rater_id):
        if is_pause(config, saved_at, later):
            break
        last = last or saved_at
        active += seconds or 0.0
        later = saved_at
    return Session(active, last)


def is_pause(config: StudyConfig, earlier: datetime, later: datetime) -> bool:
    """Whether a session ends between two moments without a save between them."""
    return later - earlier >= timedelta(minutes=config.rating.break_minutes)


def session_ended_since(config: StudyConfig, saves: Sequence[datetime]) -> bool:
    """Whether a session ended between the first of these saves, in order, and now."""
    return any(is_pause(config, *two) for two in pairwise([*saves, now()]))


def _saves(connection: Connection, rater_id: int) -> Iterator[tuple[datetime, float | None]]:
    """Yield a rater's newest saves, the last one first."""
    newest: list[Select[Any]] = [
        select(ratings.c.created_at, ratings.c.active_seconds)
        .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
        .where(assignments.c.rater_id == rater_id)
        .order_by(ratings.c.id.desc())
        .limit(_MOST),
        select(decisions.c.created_at, decisions.c.active_seconds)
        .join_from(decisions, comparisons, decisions.c.comparison_id == comparisons.c.id)
        .where(comparisons.c.rater_id == rater_id)
        .order_by(decisions.c.id.desc())
        .limit(_MOST),
    ]
    rated, decided = [
        [(row[0], row[1]) for row in connection.execute(statement)] for statement in newest
    ]
    # Comparisons come after ratings, so the two are rarely mixed; within each the order is that
    # of saving.
    if not decided or not rated:
        yield from [*rated, *decided]
        return
    yield from sorted([*rated, *decided], key=lambda save: save[0], reverse=True)


@dataclass(frozen=True)
class Repeats:
    """The repeat that can be opened now, and when the others can."""

    page: TaskPage | None
    """The page of the repeat that is next; None: none is due."""
    due_from: datetime | None
    """When the first repeat that is not yet due will be due; None: there is none."""


def repeats(connection: Connection, config: StudyConfig, work: Work, rater_id: int) -> Repeats:
    """Return the repeat that is next.

    A pass that was begun is continued at any time. Others come in their order, those that
    are due before those that are not.
    """
    left = [pass_ for pass_ in work.passes if pass_.phase == "repeats" and pass_.is_left]
    if not left:
        return Repeats(None, None)
    saves = _saves_by_query(connection, rater_id)
    waiting = []
    for pass_ in left:
        page = next(page for page in pass_.pages if page.is_left)
        due = None if pass_.begun else _due(config, pass_.query_id, pass_.repeat, saves)
        if due is None:
            return Repeats(page, None)
        waiting.append(due)
    return Repeats(None, min(waiting))


_QuerySaves = list[tuple[int, int, datetime]]


def _saves_by_query(connection: Connection, rater_id: int) -> _QuerySaves:
    """Return query, repeat and time of each value of a rater, in the order of saving."""
    rows = connection.execute(
        select(responses.c.query_id, assignments.c.repeat, ratings.c.created_at)
        .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
        .join(responses, responses.c.id == assignments.c.response_id)
        .where(assignments.c.rater_id == rater_id)
        .order_by(ratings.c.id)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _due(config: StudyConfig, query_id: int, repeat: int, saves: _QuerySaves) -> datetime | None:
    """Return the time from which a repeat may be opened; None: now."""
    places = [
        place
        for place, (query, which, _) in enumerate(saves)
        if query == query_id and which < repeat
    ]
    if not places:
        return None
    since = [at for *_, at in saves[places[-1] :]]
    due = since[0] + timedelta(hours=config.design.repeat_after_hours)
    if not session_ended_since(config, since):
        due = max(due, since[-1] + timedelta(minutes=config.rating.break_minutes))
    return due if due > now() else None
