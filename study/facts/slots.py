"""Which assignments are live, defined once for all modules.

An assignment is a slot: a response that one person is to rate. It is live until it is released (its
rater left, or the owner took it back) or handed on (its lease expired, and the slot that replaces
it went to another rater). Values in a slot that is not live are kept, and count.

An open slot may be kept for some raters, see `Assignment.open_to`.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, and_, or_, select

from study.schema import now
from study.schema.tables import assignments, comparisons

OWN_CHANNEL = "own"
"""The channel of what is rated on the project's own pages."""

_SUCCESSOR = assignments.alias("successor")


def is_handed_on(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that another slot replaces this one.

    `slot` is the table of assignments, or an alias of it; default: the table itself.
    """
    slots = assignments if slot is None else slot
    return select(_SUCCESSOR.c.id).where(_SUCCESSOR.c.replaces_id == slots.c.id).exists()


def is_released(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot was released: taken back from its rater."""
    slots = assignments if slot is None else slot
    return slots.c.released_at.is_not(None)


def is_further(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot was not planned.

    In Label Studio a person may rate a response whose slots are all taken. The slot that holds
    these ratings is released when it is created, so that it is nobody's task: its values count,
    and no place is vacant where it has none.
    """
    slots = assignments if slot is None else slot
    return slots.c.released_at == slots.c.created_at


def is_live(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot is neither released nor handed on."""
    return ~is_released(slot) & ~is_handed_on(slot)


def is_open(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot is live and has no rater yet."""
    slots = assignments if slot is None else slot
    return and_(slots.c.rater_id.is_(None), is_live(slot))


def is_live_comparison() -> ColumnElement[bool]:
    """Return the condition that a comparison was not taken back from its rater."""
    return comparisons.c.released_at.is_(None)


EVERYONE = "everyone"
"""Kept for this, an open slot may also be taken by raters with assigned work of their own."""


def rater_taker(rater_id: int) -> str:
    """Return how `open_to` names a rater."""
    return f"rater:{rater_id}"


def link_taker(link_id: int) -> str:
    """Return how `open_to` names the raters who join by an enrolment link."""
    return f"link:{link_id}"


def lease_is_over(leased_until: datetime | None, at: datetime | None = None) -> bool:
    """Return whether a lease has expired, its last moment included. Null never expires."""
    return leased_until is not None and leased_until <= (at or now())


def has_lease(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot is assigned to its rater for a limited time."""
    slots = assignments if slot is None else slot
    return slots.c.leased_until.is_not(None)


def has_expired(slot: FromClause | None = None, at: datetime | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot's lease has expired, as in `lease_is_over`."""
    slots = assignments if slot is None else slot
    return slots.c.leased_until <= (at or now())


def may_be_handed_on(rater_id: int) -> ColumnElement[bool]:
    """Return the condition that a slot may be given to this rater in place of its own rater.

    These are main assignments of other raters that were released or have expired, and were not
    handed on. Finished slots have no lease, so expired slots are unfinished.
    """
    return and_(
        or_(has_expired(), is_released()),
        assignments.c.rater_id != rater_id,
        # A repeat, check or training item of another rater has no use for this one.
        assignments.c.purpose == "main",
        ~is_handed_on(),
    )
