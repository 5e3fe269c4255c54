"""The content of the database, for comparison with the page."""

from typing import Any, NamedTuple

from sqlalchemy import select

from study import Study
from study.schema import Assignment, Query, Rater, RaterAnswer, Response, table
from study.schema.tables import raters


class Rated(NamedTuple):
    """One revision, with the place it belongs to."""

    rater: str
    query: str
    response: str
    construct: str
    revision: int
    value: float | None
    status: str
    reason: str | None
    comment: str | None
    flags: tuple[str, ...]
    input_kind: str | None
    after_reveal: bool
    purpose: str
    repeat: int


def ratings(study: Study, construct: str | None = None) -> list[Rated]:
    """Return every revision in the order of storing, of one construct if it is named."""
    g, a, w, r, q = map(table, (RaterAnswer, Assignment, Rater, Response, Query))
    chosen: Any = (
        select(
            w.c.code,
            q.c.key.label("query"),
            r.c.key.label("response"),
            g.c.construct_key,
            g.c.revision,
            g.c.value,
            g.c.status,
            g.c.reason,
            g.c.comment,
            g.c.flags,
            g.c.input_kind,
            g.c.after_reveal,
            a.c.purpose,
            a.c.repeat,
        )
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .join(w, w.c.id == a.c.rater_id)
        .join(r, r.c.id == a.c.response_id)
        .join(q, q.c.id == r.c.query_id)
        .order_by(g.c.id)
    )
    with study.read() as connection:
        rows = [Rated(*row[:9], tuple(row.flags), *row[10:]) for row in connection.execute(chosen)]
    return [row for row in rows if construct in {None, row.construct}]


def rater_id(study: Study, code: str) -> int:
    """Return a rater's key in the database."""
    with study.read() as connection:
        rater: int = connection.execute(
            select(raters.c.id).where(raters.c.code == code)
        ).scalar_one()
        return rater
