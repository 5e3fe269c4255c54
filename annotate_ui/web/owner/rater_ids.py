"""A rater as the owner's pages name them: by a random id, since a code may be any text."""

from dataclasses import dataclass

from flask import abort
from sqlalchemy import Connection, select

from study.schema import Rater, table


@dataclass(frozen=True)
class RaterIdentity:
    """A rater, and whether they take part."""

    id: int
    code: str
    public_id: str
    left: str | None
    """How they left, `withdrew` or `removed`; null: they take part."""


def everybody(connection: Connection) -> dict[str, RaterIdentity]:
    """Return every rater by code."""
    from annotate_ui.participation import departures

    w = table(Rater)
    left = departures(connection)
    rows = connection.execute(select(w.c.id, w.c.code, w.c.public_id))
    return {
        row.code: RaterIdentity(row.id, row.code, row.public_id, left.get(row.id)) for row in rows
    }


def person(connection: Connection, public_id: str) -> RaterIdentity:
    """Return the rater of this id; there is no page for others."""
    found = {one.public_id: one for one in everybody(connection).values()}
    if public_id not in found:
        abort(404)
    return found[public_id]
