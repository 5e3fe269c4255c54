"""Which links to the rating pages are live, defined once for all modules.

The end of a link is the moment from which it lets nobody in: in the past if it was revoked or
closed, in the future if the owner let it end by itself. Null never ends.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, or_, select

from study.schema import now
from study.schema.tables import enrolment_links, enrolments, invitations


def is_live_link(at: Any = None) -> ColumnElement[bool]:
    """Return the condition that a personal link lets its rater in at a moment; default: now."""
    end = invitations.c.revoked_at
    return or_(end.is_(None), end > (now() if at is None else at))


def has_ended(end: datetime | None) -> bool:
    """Return whether the end of a link is reached, its moment included."""
    return end is not None and end <= now()


def open_enrolment_links(connection: Connection) -> list[str]:
    """Return the names of the links by which fewer people joined than their quota, oldest first."""
    joined = (
        select(func.count())
        .select_from(enrolments)
        .where(enrolments.c.link_id == enrolment_links.c.id)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(enrolment_links.c.name, enrolment_links.c.closed_at)
        .where(joined < enrolment_links.c.quota)
        .order_by(enrolment_links.c.id)
    )
    return [row.name for row in rows if not has_ended(row.closed_at)]
