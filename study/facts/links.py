"""Which links to the rating pages are live, defined once for all modules.

The end of a link is the moment from which it lets nobody in: in the past if it was revoked or
closed, in the future if the owner let it end by itself. Null never ends.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, or_

from study.schema import now
from study.schema.tables import invitations


def is_live_link(at: Any = None) -> ColumnElement[bool]:
    """Return the condition that a personal link lets its rater in at a moment; default: now."""
    end = invitations.c.revoked_at
    return or_(end.is_(None), end > (now() if at is None else at))


def has_ended(end: datetime | None) -> bool:
    """Return whether the end of a link is reached, its moment included."""
    return end is not None and end <= now()
