"""When a rater's repeats are due: some time after the first rating, and in another session."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from annotate_ui.tasks.sessions import session_ended_since
from annotate_ui.tasks.steps import TaskPage, Work
from study.schema import Assignment, Rating, Response, now, table
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class Repeats:
    """What can be repeated now, and from when the rest."""

    page: TaskPage | None
    """Whose turn it is; None: nothing is due."""
    due_from: datetime | None
    """When the first repeat that is not due yet will be; None: none waits."""


def repeats(connection: Connection, config: StudyConfig, work: Work, rater_id: int) -> Repeats:
    """Return the repeat whose turn it is.

    A pass that was begun goes on whatever the clock says. Others come in their order, those that
    are due before those that are not.
    """
    left = [one for one in work.passes if one.phase == "repeats" and one.is_left]
    if not left:
        return Repeats(None, None)
    saves = _saves(connection, rater_id)
    waiting = []
    for one in left:
        page = next(page for page in one.pages if page.is_left)
        due = None if one.begun else _due(config, one.query_id, one.repeat, saves)
        if due is None:
            return Repeats(page, None)
        waiting.append(due)
    return Repeats(None, min(waiting))


_Saves = list[tuple[int, int, datetime]]


def _saves(connection: Connection, rater_id: int) -> _Saves:
    """Return query, repeat and time of each value of a rater, in the order of saving."""
    g, a, r = table(Rating), table(Assignment), table(Response)
    rows = connection.execute(
        select(r.c.query_id, a.c.repeat, g.c.created_at)
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .join(r, r.c.id == a.c.response_id)
        .where(a.c.rater_id == rater_id)
        .order_by(g.c.id)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _due(config: StudyConfig, query_id: int, repeat: int, saves: _Saves) -> datetime | None:
    """Return from when a repeat may be given; None: now."""
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
