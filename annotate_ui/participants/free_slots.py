"""Which open slots a rater may take: all, those kept for them, or none.

A rater with assigned work of their own stops at its end, unless slots are kept for them or for
everyone. A slot that is kept for others is theirs alone as long as one of them can come: until the
link ends, or the raters have left.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, or_, select

from annotate_ui.participants.languages import can_read
from study.facts.departures import departures
from study.facts.links import has_ended
from study.facts.slots import (
    EVERYONE,
    OWN_CHANNEL,
    is_live,
    link_taker,
    may_be_handed_on,
    rater_taker,
)
from study.schema.tables import assignments, enrolment_links, enrolments, queries, responses

# No rater has this key: the conditions for any rater are those for somebody who has yet to join.
_NOBODY = 0


@dataclass(frozen=True)
class Taker:
    """Somebody who may be given open slots."""

    names: frozenset[str]
    """How `open_to` may name them."""
    has_own_work: bool
    void: frozenset[str]
    """Names for which no slot is kept any more."""

    def may_take(self, slot: Row[Any]) -> bool:
        """Whether a free slot may be given to them."""
        kept_for = set(slot.open_to or ()) - self.void
        return bool(kept_for & self.names) if kept_for else not self.has_own_work


def rater_as_taker(connection: Connection, rater_id: int) -> Taker:
    """Return a rater as one who takes slots."""
    link = connection.execute(
        select(enrolments.c.link_id).where(enrolments.c.rater_id == rater_id)
    ).scalar()
    own = select(assignments.c.id).where(
        assignments.c.rater_id == rater_id,
        assignments.c.purpose == "main",
        assignments.c.channel == OWN_CHANNEL,
        assignments.c.open_to.is_(None),
        is_live(),
    )
    has_own_work = link is None and connection.execute(own.limit(1)).first() is not None
    names = {EVERYONE, rater_taker(rater_id)} | (set() if link is None else {link_taker(link)})
    return Taker(frozenset(names), has_own_work, _void(connection))


def free_slots(rater_id: int | None = None) -> Select[Any]:
    """Select the slots that nobody has, or that others left unfinished; None: for a new rater.

    Whom they are kept for is not looked at. Further columns: `query_id`, `query_attributes`.
    """
    handed_on = may_be_handed_on(_NOBODY if rater_id is None else rater_id)
    return (
        select(assignments, responses.c.query_id, queries.c.attributes.label("query_attributes"))
        .join_from(assignments, responses, responses.c.id == assignments.c.response_id)
        .join(queries, queries.c.id == responses.c.query_id)
        .where(
            assignments.c.channel == OWN_CHANNEL, or_(assignments.c.rater_id.is_(None), handed_on)
        )
    )


def free_by_link(connection: Connection) -> dict[int, int | None]:
    """Return how many slots the raters of each enrolment link can still take.

    None: no slot was ever created that they might have taken, so that none is missing either.
    """
    open_now = connection.execute(free_slots()).all()
    void = _void(connection)
    ever = connection.execute(
        select(assignments.c.open_to).where(
            assignments.c.channel == OWN_CHANNEL, assignments.c.open_to.is_not(None)
        )
    ).all()
    counts: dict[int, int | None] = {}
    for link in connection.execute(select(enrolment_links.c.id, enrolment_links.c.attributes)):
        taker = Taker(frozenset({EVERYONE, link_taker(link.id)}), False, void)
        languages = link.attributes.get("languages")
        reads = frozenset(map(str, languages)) if languages else None
        free = sum(
            taker.may_take(slot) and can_read(reads, slot.query_attributes) for slot in open_now
        )
        existed = bool(open_now) or any(map(taker.may_take, ever))
        counts[link.id] = free if free or existed else None
    return counts


def _void(connection: Connection) -> frozenset[str]:
    """Return the names of those who cannot come any more: ended links, and raters who left."""
    return frozenset(_ended(connection)) | {rater_taker(id_) for id_ in departures(connection)}


def _ended(connection: Connection) -> Iterator[str]:
    for link in connection.execute(select(enrolment_links.c.id, enrolment_links.c.closed_at)):
        if has_ended(link.closed_at):
            yield link_taker(link.id)
