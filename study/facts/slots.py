"""Which assignments are live: the one definition, from which every other module selects.

An assignment is a slot: a response that somebody is to rate. It is live until it is released (its
rater left, or the owner took it back) or handed on (its lease ran out, and the slot that replaces
it went to another rater). Values in a slot that is not live are kept, and count.
"""

from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, and_, or_, select

from study.schema import Assignment, Comparison, now, table

OWN_CHANNEL = "own"
"""The channel of what is rated on the project's own pages."""

_SUCCESSOR = table(Assignment).alias("successor")


def is_handed_on(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that another slot replaces this one.

    `slot` is the table of assignments, or an alias of it; default: the table itself.
    """
    a = table(Assignment) if slot is None else slot
    return select(_SUCCESSOR.c.id).where(_SUCCESSOR.c.replaces_id == a.c.id).exists()


def is_released(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot was taken back from its rater."""
    a = table(Assignment) if slot is None else slot
    return a.c.released_at.is_not(None)


def is_live(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot is neither released nor handed on."""
    return ~is_released(slot) & ~is_handed_on(slot)


def is_live_comparison() -> ColumnElement[bool]:
    """Return the condition that a comparison was not taken back from its rater."""
    return table(Comparison).c.released_at.is_(None)


def lease_is_over(leased_until: datetime | None, at: datetime | None = None) -> bool:
    """Return whether a lease has run out: at its end it has. Null is held for good."""
    return leased_until is not None and leased_until <= (at or now())


def has_lease(slot: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot is its rater's for a time only."""
    a = table(Assignment) if slot is None else slot
    return a.c.leased_until.is_not(None)


def has_expired(slot: FromClause | None = None, at: datetime | None = None) -> ColumnElement[bool]:
    """Return the condition that a slot's lease has run out, as `lease_is_over` has it."""
    a = table(Assignment) if slot is None else slot
    return a.c.leased_until <= (at or now())


def may_be_handed_on(rater_id: int) -> ColumnElement[bool]:
    """Return the condition that a slot may be given to this rater in place of its own rater.

    That is main work of another rater that was released or has run out, and was not handed on.
    Finished slots have no lease, so what has run out is unfinished.
    """
    a = table(Assignment)
    return and_(
        or_(has_expired(), is_released()),
        a.c.rater_id != rater_id,
        # Nobody else's repeat, check or training is worth anything.
        a.c.purpose == "main",
        ~is_handed_on(),
    )
