"""How far raters have come with what was assigned to them."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, and_, func, select

from study.schema import Assignment, ClosingAnswer, Invitation, Rater, Rating, Reveal, table

OWN_CHANNEL = "own"
"""What is rated on the project's own pages, where raters need links."""

Link = Literal["none", "live", "revoked"]


@dataclass(frozen=True)
class RaterProgress:
    """Counts of one rater. A value is one construct of one response, given or declined."""

    rater: str
    responses: int
    """Assigned, each repeat once more. A slot that was handed on is there if it holds a value."""
    responses_done: int
    """Those with a value of every construct."""
    values: int
    values_expected: int
    cannot_judge: int
    skipped: int
    late: int
    """Values that were saved after the lease had run out."""
    last_activity: str | None
    """UTC, as in ISO 8601: when something was saved or shown last."""
    link: Link
    own_left: int
    """Values left to give on the project's own pages."""


@dataclass(frozen=True)
class RatingProgress:
    """Everything that was assigned, and how much of it is done."""

    raters: list[RaterProgress]
    values: int
    values_expected: int
    """Those of open slots included."""
    open_slots: int
    """Responses that wait for a rater who is not known yet, on the project's own pages."""
    open_elsewhere: int = 0
    """Those that wait for one in another place, such as Label Studio."""
    seen_more: int = 0
    """Values that count and were given by raters who had been shown more of the query before."""
    recognized: dict[str, int] = field(default_factory=dict)
    """Raters by their last word on whether they recognized a system: yes, no or unsure."""


@dataclass
class _Counted:
    responses: int = 0
    done: int = 0
    values: int = 0
    expected: int = 0
    own_left: int = 0
    late: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    moments: list[datetime] = field(default_factory=list)


def rating_progress(connection: Connection, constructs: Iterable[str]) -> RatingProgress | None:
    """Count what was assigned and what is done; None where nothing was assigned.

    `constructs` are those of study.toml; others are not asked for any more.
    """
    known = set(constructs)
    a, w = table(Assignment), table(Rater)
    assignments = connection.execute(
        select(a.c.id, a.c.rater_id, a.c.construct_keys, a.c.channel, a.c.replaces_id)
    ).all()
    if not assignments:
        return None
    handed_on = {row.replaces_id for row in assignments}
    ratings, shown = _ratings(connection, known), _last_shown(connection)
    links = _links(connection)
    people = {row.id: row.code for row in connection.execute(select(w.c.id, w.c.code))}
    elsewhere = _Counted()
    by_rater: dict[int | None, _Counted] = {None: _Counted(), **{id_: _Counted() for id_ in people}}
    for row in assignments:
        count, given = by_rater[row.rater_id], ratings.get(row.id, [])
        if row.rater_id is None and row.channel != OWN_CHANNEL:
            count = elsewhere
        count.moments += [rating.created_at for rating in given]
        count.moments += [shown[row.id]] if row.id in shown else []
        wanted = known.intersection(row.construct_keys)
        expected = len(given) if row.id in handed_on else len(wanted)
        if not expected:
            continue
        count.responses += 1
        count.done += len(given) >= expected
        count.values += len(given)
        count.expected += expected
        count.own_left += max(expected - len(given), 0) if row.channel == OWN_CHANNEL else 0
        count.late += sum(rating.late for rating in given)
        count.statuses.update(rating.status for rating in given)
    raters = [
        _progress(people[id_], by_rater[id_], links.get(id_, "none"))
        for id_ in sorted(people, key=lambda id_: _by_number(people[id_]))
    ]
    return RatingProgress(
        raters,
        sum(count.values for count in by_rater.values()),
        sum(count.expected for count in by_rater.values()) + elsewhere.expected,
        by_rater[None].responses,
        elsewhere.responses,
        _seen_more(connection),
        _recognized(connection),
    )


def _seen_more(connection: Connection) -> int:
    g = table(Rating)
    values = select(g.c.assignment_id, g.c.construct_key).where(g.c.seen_more, ~g.c.after_reveal)
    return int(
        connection.execute(
            select(func.count()).select_from(values.distinct().subquery())
        ).scalar_one()
    )


def _recognized(connection: Connection) -> dict[str, int]:
    c = table(ClosingAnswer)
    rows = connection.execute(select(c.c.rater_id, c.c.recognized).order_by(c.c.id))
    last = {row.rater_id: str(row.recognized) for row in rows}
    return dict(sorted(Counter(last.values()).items()))


def _progress(code: str, count: _Counted, link: Link) -> RaterProgress:
    return RaterProgress(
        rater=code,
        responses=count.responses,
        responses_done=count.done,
        values=count.values,
        values_expected=count.expected,
        cannot_judge=count.statuses["cannot_judge"],
        skipped=count.statuses["skipped"],
        late=count.late,
        last_activity=max(count.moments).isoformat(timespec="seconds") if count.moments else None,
        link=link,
        own_left=count.own_left,
    )


def _ratings(connection: Connection, known: set[str]) -> dict[int, list[Any]]:
    """Return the newest revision of each rating, by assignment."""
    g = table(Rating)
    keys = g.c.assignment_id, g.c.construct_key
    last = select(*keys, func.max(g.c.revision).label("revision")).group_by(*keys).subquery()
    rows = connection.execute(
        select(*keys, g.c.status, g.c.late, g.c.created_at).join(
            last,
            and_(
                last.c.assignment_id == g.c.assignment_id,
                last.c.construct_key == g.c.construct_key,
                last.c.revision == g.c.revision,
            ),
        )
    )
    found: dict[int, list[Any]] = {}
    for row in rows:
        if row.construct_key in known:
            found.setdefault(row.assignment_id, []).append(row)
    return found


def _last_shown(connection: Connection) -> dict[int, datetime]:
    v = table(Reveal)
    latest = func.max(v.c.created_at, type_=v.c.created_at.type)
    rows = connection.execute(select(v.c.assignment_id, latest).group_by(v.c.assignment_id))
    return {row[0]: row[1] for row in rows}


def _links(connection: Connection) -> dict[int, Link]:
    i = table(Invitation)
    live = func.count().filter(i.c.revoked_at.is_(None))
    rows = connection.execute(select(i.c.rater_id, live).group_by(i.c.rater_id))
    return {rater: "live" if count else "revoked" for rater, count in rows}


def _by_number(code: str) -> tuple[tuple[str, int], ...]:
    """Return a key that puts rater-2 before rater-10."""
    pieces = re.findall(r"(\D*)(\d*)", code)
    return tuple((text, int(number or 0)) for text, number in pieces)
