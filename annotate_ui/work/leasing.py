"""Open slots: handed to whoever asks, under a lease, and never to more raters than there are slots.

A slot is an assignment without a rater. Whoever takes it holds it until the lease runs out; each
save renews the lease, and a finished assignment is held for good. A slot whose lease ran out may
be handed on: the next rater gets a row of their own that names the expired one, so what the first
rater saved, or still saves, stays theirs.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, Select, exists, insert, or_, select, text, update
from sqlalchemy.orm import aliased

from annotate_ui.work.steps import OWN_CHANNEL
from study.campaign import Study
from study.nouns import Assignment, Rater, Response, now, table

# Any number that no other program locks.
_HANDING_OUT = 0x63637274


def lock_rater(connection: Connection, rater_id: int) -> None:
    """Make other requests of this rater wait; SQLite has one writer anyway."""
    w = table(Rater)
    connection.execute(select(w.c.id).where(w.c.id == rater_id).with_for_update())


def lock_slots(connection: Connection) -> None:
    """Make everybody else who hands out or renews slots wait for this transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _HANDING_OUT})


def lease_end(study: Study) -> datetime:
    """Return when a lease that is given or renewed now runs out."""
    return now() + timedelta(minutes=study.config.rating.lease_minutes)


def take_slots(connection: Connection, study: Study, rater_id: int) -> int:
    """Give the rater one free slot for each response of a query; return how many.

    The query is the first, in the order of the slots, that has a free slot for constructs of a
    response which this rater was never given. The caller holds `lock_slots`.
    """
    a, r = table(Assignment), table(Response)
    had = _had(connection, rater_id)
    free = _free_for(rater_id).join(r, r.c.id == a.c.response_id).add_columns(r.c.query_id)
    in_order = connection.execute(free.order_by(a.c.position, a.c.id))
    first = next((slot for slot in in_order if _is_new(slot, had)), None)
    in_order.close()
    if first is None:
        return 0
    rows = connection.execute(
        free.where(r.c.query_id == first.query_id, a.c.repeat == first.repeat)
        # Slots that nobody has begun go before expired ones.
        .order_by(a.c.rater_id.is_not(None), a.c.position, a.c.id)
    )
    chosen = []
    for row in rows.all():
        if _is_new(row, had):
            had.setdefault((row.response_id, row.repeat), set()).update(row.construct_keys)
            chosen.append(row)
    chosen.sort(key=lambda slot: (slot.response_id, slot.id))
    order = np.random.default_rng([study.config.seed, rater_id, first.query_id, first.repeat])
    place = _next_position(connection, rater_id)
    until = lease_end(study)
    for offset, index in enumerate(order.permutation(len(chosen))):
        slot = chosen[index]
        held = {"rater_id": rater_id, "leased_until": until, "position": place + offset}
        if slot.rater_id is None:
            connection.execute(update(a).where(a.c.id == slot.id).values(**held))
            continue
        copied = {
            name: slot._mapping[name]
            for name in ("construct_keys", "purpose", "repeat", "channel", "inclusion_prob")
        }
        connection.execute(
            insert(a).values(
                **copied,
                **held,
                stratum=slot.stratum,
                response_id=slot.response_id,
                replaces_id=slot.id,
                config_hash=study.config_hash,
            )
        )
    return len(chosen)


def renew(connection: Connection, study: Study, rater_id: int, query_id: int) -> None:
    """Hold the rater's unfinished slots of a query anew, those handed on excepted.

    The caller holds `lock_slots` if one of them may have run out.
    """
    a, r = table(Assignment), table(Response)
    successor = aliased(a)
    connection.execute(
        update(a)
        .where(
            a.c.rater_id == rater_id,
            a.c.leased_until.is_not(None),
            a.c.response_id.in_(select(r.c.id).where(r.c.query_id == query_id)),
            ~exists().where(successor.c.replaces_id == a.c.id),
        )
        .values(leased_until=lease_end(study))
    )


def hold_for_good(connection: Connection, assignment_id: int) -> None:
    """End the lease of a finished assignment: it is never handed on."""
    a = table(Assignment)
    connection.execute(update(a).where(a.c.id == assignment_id).values(leased_until=None))


def _free_for(rater_id: int) -> Select[Any]:
    """Select the slots that may be given to this rater: open ones, and expired ones of others."""
    a = table(Assignment)
    successor = aliased(a)
    return select(a).where(
        a.c.channel == OWN_CHANNEL,
        or_(
            a.c.rater_id.is_(None),
            # Finished assignments have no lease, so what has run out is unfinished.
            (a.c.leased_until < now())
            & (a.c.rater_id != rater_id)
            & ~exists().where(successor.c.replaces_id == a.c.id),
        ),
    )


def _had(connection: Connection, rater_id: int) -> dict[tuple[int, int], set[str]]:
    """Return the constructs that a rater was ever given, by response and repeat."""
    a = table(Assignment)
    found: dict[tuple[int, int], set[str]] = {}
    for row in connection.execute(
        select(a.c.response_id, a.c.repeat, a.c.construct_keys).where(a.c.rater_id == rater_id)
    ):
        found.setdefault((row.response_id, row.repeat), set()).update(row.construct_keys)
    return found


def _is_new(slot: Row[Any], had: Mapping[tuple[int, int], set[str]]) -> bool:
    return had.get((slot.response_id, slot.repeat), set()).isdisjoint(slot.construct_keys)


def _next_position(connection: Connection, rater_id: int) -> int:
    a = table(Assignment)
    last = connection.execute(
        select(a.c.position).where(a.c.rater_id == rater_id).order_by(a.c.position.desc()).limit(1)
    ).scalar()
    return 0 if last is None else int(last) + 1
