"""Seconds of work by the page's clock, and never more than the server's own clock allows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import Connection, select

from study.facts.slots import OWN_CHANNEL
from study.schema.tables import assignments, comparisons, decisions, ratings, reveals


@dataclass(frozen=True)
class ActiveSeconds:
    """Active seconds of what people saved, over all revisions; nothing where none is known."""

    by_rating: Mapping[tuple[int, str], float]
    """By assignment and construct."""
    comparing: Mapping[int, float]
    """Of all comparisons of a rater, by database key."""


@dataclass(frozen=True)
class _Save:
    rater_id: int
    at: datetime
    seconds: float
    channel: str
    task: tuple[int, str] | None
    """Assignment and construct of a rating; null for a decision on a comparison."""


@dataclass(frozen=True)
class _Shown:
    rater_id: int
    at: datetime


def active_seconds(connection: Connection) -> ActiveSeconds:
    """Return the active seconds of every rating and of each rater's comparisons.

    A page measures them in the browser, which may send any number. What was saved since the
    server last showed the rater something new has together at most the seconds that have passed
    since then. The time between two saves is no bound, since values that waited for a connection
    are saved in one moment. Revisions from other places than the project's own pages are taken
    as they are.
    """
    events: list[_Save | _Shown] = [*_shown(connection), *_saves(connection)]
    # What is shown in answer to a save is shown after it.
    events.sort(key=lambda event: (event.rater_id, event.at, isinstance(event, _Shown)))
    by_rating: defaultdict[tuple[int, str], float] = defaultdict(float)
    comparing: defaultdict[int, float] = defaultdict(float)
    for rater, rater_events in groupby(events, key=lambda event: event.rater_id):
        for save, seconds in _bounded(rater_events):
            if save.task is None:
                comparing[rater] += seconds
            else:
                by_rating[save.task] += seconds
    return ActiveSeconds(dict(by_rating), dict(comparing))


def _bounded(events: Iterable[_Save | _Shown]) -> Iterator[tuple[_Save, float]]:
    shown: datetime | None = None
    counted = 0.0
    for event in events:
        if isinstance(event, _Shown):
            shown, counted = event.at, 0.0
        elif shown is None or event.channel != OWN_CHANNEL:
            yield event, event.seconds
        else:
            left = (event.at - shown).total_seconds() - counted
            seconds = min(event.seconds, max(0.0, left))
            counted += seconds
            yield event, seconds


def _shown(connection: Connection) -> Iterator[_Shown]:
    responses = (
        select(assignments.c.rater_id, reveals.c.created_at)
        .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
        .where(assignments.c.rater_id.is_not(None))
    )
    pairs = select(comparisons.c.rater_id, comparisons.c.opened_at).where(
        comparisons.c.opened_at.is_not(None)
    )
    for statement in (responses, pairs):
        for rater, at in connection.execute(statement):
            yield _Shown(rater, at)


def _saves(connection: Connection) -> Iterator[_Save]:
    rated = connection.execute(
        select(
            *(assignments.c.rater_id, ratings.c.created_at, ratings.c.active_seconds),
            *(ratings.c.channel, ratings.c.assignment_id, ratings.c.construct_key),
        )
        .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
        .where(ratings.c.active_seconds.is_not(None))
        .order_by(ratings.c.id)
    )
    for rater, at, seconds, channel, assignment, construct in rated:
        yield _Save(rater, at, seconds, channel, (assignment, construct))
    decided = connection.execute(
        select(
            *(comparisons.c.rater_id, decisions.c.created_at),
            *(decisions.c.active_seconds, decisions.c.channel),
        )
        .join_from(decisions, comparisons, decisions.c.comparison_id == comparisons.c.id)
        .where(decisions.c.active_seconds.is_not(None))
        .order_by(decisions.c.id)
    )
    for rater, at, seconds, channel in decided:
        yield _Save(rater, at, seconds, channel, None)
