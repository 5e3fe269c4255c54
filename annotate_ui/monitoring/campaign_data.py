"""What is read from the study to watch a campaign: who was given what, and what they said."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pandas as pd
from sqlalchemy import Connection, and_, case, exists, func, null, select
from sqlalchemy.orm import aliased

from study.facts.frames import selected
from study.schema import Assignment, Comparison, Decision, Rater, Rating, Response, Reveal, table


def assignments(connection: Connection, constructs: Mapping[str, int]) -> pd.DataFrame:
    """Return every assignment, with the constructs of study.toml that it asks for.

    `replaced`: it was handed on after its lease had run out, and another row stands for its slot.
    """
    a, r, w = table(Assignment), table(Response), table(Rater)
    successor = aliased(a)
    found = selected(
        connection,
        select(
            a.c.id.label("assignment"),
            a.c.rater_id,
            w.c.code.label("rater"),
            a.c.response_id.label("response"),
            r.c.query_id.label("query"),
            a.c.construct_keys,
            a.c.purpose,
            a.c.round,
            a.c.repeat,
            a.c.channel,
            a.c.released_at,
            a.c.created_at,
            exists().where(successor.c.replaces_id == a.c.id).label("replaced"),
        )
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(w, a.c.rater_id == w.c.id, isouter=True)
        .order_by(a.c.id),
    )
    found["replaced"] = found["replaced"].astype(bool)
    found["released"] = found["released_at"].notna()
    found["construct_keys"] = [
        tuple(key for key in keys if key in constructs) for keys in found["construct_keys"]
    ]
    return found


def values(connection: Connection, constructs: Mapping[str, int]) -> pd.DataFrame:
    """Return for each construct of each assignment the value that counts.

    That is the last one committed before more was shown; the last of all where there is none, or
    where the rater took the value back. `order` rises as values were first given,
    `active_seconds` is the sum over all revisions. Values on earlier versions of a construct are
    left out.
    """
    g, a, r, w = table(Rating), table(Assignment), table(Response), table(Rater)
    keys = g.c.assignment_id, g.c.construct_key
    before = func.max(case((g.c.after_reveal, null()), else_=g.c.revision))
    ends = (
        select(
            *keys,
            func.max(g.c.revision).label("last"),
            before.label("before"),
            func.min(g.c.id).label("order"),
            func.sum(g.c.active_seconds).label("active_seconds"),
        )
        .group_by(*keys)
        .subquery()
    )
    newest = aliased(g)

    def of_rating(revisions: object, revision: object) -> object:
        return and_(
            revisions.c.assignment_id == ends.c.assignment_id,  # type: ignore[attr-defined]
            revisions.c.construct_key == ends.c.construct_key,  # type: ignore[attr-defined]
            revisions.c.revision == revision,  # type: ignore[attr-defined]
        )

    counting = case(
        (newest.c.status == "withdrawn", ends.c.last),
        else_=func.coalesce(ends.c.before, ends.c.last),
    )
    found = selected(
        connection,
        select(
            g.c.assignment_id.label("assignment"),
            g.c.construct_key.label("construct"),
            g.c.construct_version,
            g.c.value,
            g.c.status,
            ends.c.order,
            ends.c.active_seconds,
            newest.c.created_at.label("saved_at"),
            a.c.rater_id,
            w.c.code.label("rater"),
            a.c.response_id.label("response"),
            r.c.query_id.label("query"),
            a.c.purpose,
            a.c.round,
            a.c.repeat,
        )
        .select_from(ends)
        .join(newest, of_rating(newest, ends.c.last))  # type: ignore[arg-type]
        .join(g, of_rating(g, counting))  # type: ignore[arg-type]
        .join(a, a.c.id == g.c.assignment_id)
        .join(r, r.c.id == a.c.response_id)
        .join(w, w.c.id == a.c.rater_id)
        .order_by(ends.c.order),
    )
    current = found["construct_version"] == found["construct"].map(constructs)
    return found[current].astype({"value": "float64", "active_seconds": "float64"})


def last_activity(connection: Connection) -> dict[int, datetime]:
    """Return when each rater was last shown or saved something."""
    a, c = table(Assignment), table(Comparison)
    found: dict[int, datetime] = {}
    for noun, owner, key in (
        (table(Rating), a, "assignment_id"),
        (table(Reveal), a, "assignment_id"),
        (table(Decision), c, "comparison_id"),
    ):
        latest = func.max(noun.c.created_at, type_=noun.c.created_at.type)
        rows = connection.execute(
            select(owner.c.rater_id, latest)
            .join_from(noun, owner, noun.c[key] == owner.c.id)
            .group_by(owner.c.rater_id)
        )
        for rater, moment in rows:
            found[rater] = max(moment, found.get(rater, datetime.min.replace(tzinfo=UTC)))
    return found


def comparisons(connection: Connection) -> dict[int, tuple[int, int, float]]:
    """Return for each rater how many comparisons are decided, of how many, in what seconds."""
    c, d = table(Comparison), table(Decision)
    decided = (
        select(d.c.comparison_id, func.sum(d.c.active_seconds).label("seconds"))
        .group_by(d.c.comparison_id)
        .subquery()
    )
    rows = connection.execute(
        select(
            c.c.rater_id,
            func.count(decided.c.comparison_id),
            # What was taken back undecided is nobody's work any more.
            func.count(
                case((decided.c.comparison_id.is_not(None), 1), (c.c.released_at.is_(None), 1))
            ),
            func.sum(decided.c.seconds),
        )
        .join_from(c, decided, decided.c.comparison_id == c.c.id, isouter=True)
        .group_by(c.c.rater_id)
    )
    return {rater: (int(done), int(all_), float(secs or 0)) for rater, done, all_, secs in rows}
