"""Open slots: handed out under a lease, and never to more raters than there are slots.

A slot is an assignment without a rater. A rater who takes it has it until the lease expires; each
save renews the lease, and a finished assignment has no lease any more. A slot whose lease expired
may be handed on: the next rater gets a new row that names the expired one, so values that the
first rater saved, or still saves, stay theirs.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, insert, or_, select, update

from annotate_ui.participants.free_slots import free_slots, rater_as_taker
from annotate_ui.participants.languages import can_read, languages_of
from study.facts.slots import has_expired, has_lease, is_live
from study.schema import (
    now,
)
from study.schema.tables import (
    assignments,
    enrolment_links,
    enrolments,
    responses,
    reveals,
)
from study.study import Study

# A lease is renewed once this share of it has passed, so that most saves write one row.
_RENEWED_AFTER = 0.1


def lease_end(study: Study) -> datetime:
    """Return when a lease that is given or renewed now runs out."""
    return now() + timedelta(minutes=study.config.rating.lease_minutes)


def renewed_by_now(study: Study, leased_until: datetime) -> bool:
    """Whether a save need not renew a lease: little of it has passed.

    A lease that ends later than one that is given now was given before the clock was set back.
    """
    whole = timedelta(minutes=study.config.rating.lease_minutes)
    return whole * (1 - _RENEWED_AFTER) <= leased_until - now() <= whole


def free_query(connection: Connection, study: Study, rater_id: int) -> Row[Any] | None:
    """Return the first slot of the query from which the rater would be handed slots next.

    In the order of rounds and slots it is the first query with a free slot for constructs of a
    response which this rater was never given, in a language of theirs. Queries of which the rater
    was shown no later stage and no check come first; a rater with as many queries as they may have
    gets further responses to those only. Adjudicators get no slots, since they see the values of
    others.
    """
    adjudicates = select(assignments.c.id).where(
        assignments.c.rater_id == rater_id, assignments.c.purpose == "adjudication"
    )
    if connection.execute(adjudicates.limit(1)).first() is not None:
        return None
    taker = rater_as_taker(connection, rater_id)
    had = _had(connection, rater_id)
    languages = languages_of(connection, study.config, rater_id)
    queries = main_queries(connection, rater_id)
    most = most_queries(connection, rater_id)
    only = queries if most is not None and len(queries) >= most else None
    shown = _shown_later_stages(connection, rater_id)
    fallback = None
    in_order = connection.execute(
        free_slots(rater_id).order_by(assignments.c.round, assignments.c.position, assignments.c.id)
    )
    for slot in in_order:
        if only is not None and slot.query_id not in only:
            continue
        if not (taker.may_take(slot) and _is_new(slot, had)):
            continue
        if not can_read(languages, slot.query_attributes):
            continue
        if slot.query_id not in shown:
            in_order.close()
            return slot
        fallback = fallback or slot
    return fallback


def slots_to_take(connection: Connection, study: Study, rater_id: int) -> list[Row[Any]]:
    """Return one free slot for each response of the query that the rater would be handed next."""
    first = free_query(connection, study, rater_id)
    if first is None:
        return []
    taker = rater_as_taker(connection, rater_id)
    had = _had(connection, rater_id)
    rows = connection.execute(
        free_slots(rater_id)
        .where(
            responses.c.query_id == first.query_id,
            assignments.c.repeat == first.repeat,
            assignments.c.round == first.round,
        )
        # Slots that were never taken come before those whose lease expired.
        .order_by(assignments.c.rater_id.is_not(None), assignments.c.position, assignments.c.id)
    )
    chosen = []
    for row in rows.all():
        if taker.may_take(row) and _is_new(row, had):
            had.setdefault((row.response_id, row.repeat), set()).update(row.construct_keys)
            chosen.append(row)
    return sorted(chosen, key=lambda slot: (slot.response_id, slot.id))


def take_slots(connection: Connection, study: Study, rater_id: int) -> int:
    """Give the rater the slots of `slots_to_take`; return how many.

    The caller has called `lock_slots`.
    """
    chosen = slots_to_take(connection, study, rater_id)
    if not chosen:
        return 0
    first = chosen[0]
    order = np.random.default_rng([study.config.seed, rater_id, first.query_id, first.repeat])
    place = next_position(connection, rater_id)
    until = lease_end(study)
    for offset, index in enumerate(order.permutation(len(chosen))):
        slot = chosen[index]
        values = {
            "rater_id": rater_id,
            "leased_until": until,
            "position": place + offset,
            "open_to": slot.open_to or [],
        }
        if slot.rater_id is None:
            connection.execute(
                update(assignments).where(assignments.c.id == slot.id).values(**values)
            )
            continue
        copied = {name: slot._mapping[name] for name in HANDED_ON_WITH}
        connection.execute(
            insert(assignments).values(
                **copied, **values, replaces_id=slot.id, config_hash=study.config_hash
            )
        )
    _release_checks(connection, rater_id)
    return len(chosen)


HANDED_ON_WITH = (
    "response_id",
    "construct_keys",
    "purpose",
    "round",
    "repeat",
    "layout",
    "channel",
    "inclusion_prob",
    "stratum",
)


def renew(connection: Connection, study: Study, rater_id: int, query_id: int) -> None:
    """Renew the leases of the rater's unfinished slots of a query, unless handed on.

    The caller has called `lock_slots` if one of them may have run out.
    """
    connection.execute(
        update(assignments)
        .where(
            assignments.c.rater_id == rater_id,
            has_lease(),
            assignments.c.response_id.in_(
                select(responses.c.id).where(responses.c.query_id == query_id)
            ),
            is_live(),
        )
        .values(leased_until=lease_end(study))
    )


def end_lease(connection: Connection, assignment_id: int) -> None:
    """End the lease of a finished assignment: it is never handed on.

    One that was released and not handed on, but is finished nonetheless, is its rater's again.
    """
    whole = {"leased_until": None, "released_at": None}
    connection.execute(update(assignments).where(assignments.c.id == assignment_id).values(**whole))


def next_position(connection: Connection, rater_id: int) -> int:
    """Return the position after all assignments of the rater."""
    last = connection.execute(
        select(assignments.c.position)
        .where(assignments.c.rater_id == rater_id)
        .order_by(assignments.c.position.desc())
        .limit(1)
    ).scalar()
    return 0 if last is None else int(last) + 1


def _had(connection: Connection, rater_id: int) -> dict[tuple[int, int], set[str]]:
    """Return the constructs that a rater was ever given, by response and repeat."""
    constructs: dict[tuple[int, int], set[str]] = {}
    for row in connection.execute(
        select(assignments.c.response_id, assignments.c.repeat, assignments.c.construct_keys).where(
            assignments.c.rater_id == rater_id
        )
    ):
        constructs.setdefault((row.response_id, row.repeat), set()).update(row.construct_keys)
    return constructs


def _is_new(slot: Row[Any], had: Mapping[tuple[int, int], set[str]]) -> bool:
    return had.get((slot.response_id, slot.repeat), set()).isdisjoint(slot.construct_keys)


def main_queries(connection: Connection, rater_id: int) -> set[int]:
    """Return the queries that a rater has in the main work, without those that went to others."""
    return set(
        connection.execute(
            select(responses.c.query_id)
            .join_from(assignments, responses, responses.c.id == assignments.c.response_id)
            .where(
                assignments.c.rater_id == rater_id,
                assignments.c.purpose == "main",
                is_live(),
            )
        ).scalars()
    )


def _shown_later_stages(connection: Connection, rater_id: int) -> set[int]:
    """Return the queries of which a rater was shown a check, or more than the first stage."""
    return set(
        connection.execute(
            select(responses.c.query_id)
            .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
            .join(responses, responses.c.id == assignments.c.response_id)
            .where(
                assignments.c.rater_id == rater_id,
                or_(reveals.c.stage > 1, assignments.c.purpose == "check"),
            )
        ).scalars()
    )


def _release_checks(connection: Connection, rater_id: int) -> None:
    """Release the unfinished checks of other raters whose lease has expired."""
    connection.execute(
        update(assignments)
        .where(
            assignments.c.rater_id != rater_id,
            assignments.c.purpose == "check",
            has_expired(),
            is_live(),
        )
        .values(released_at=now())
    )


def most_queries(connection: Connection, rater_id: int) -> int | None:
    """Return how many queries a rater who enrolled is handed at most; None: no bound."""
    most: int | None = connection.execute(
        select(enrolment_links.c.queries_each)
        .join_from(enrolments, enrolment_links, enrolments.c.link_id == enrolment_links.c.id)
        .where(enrolments.c.rater_id == rater_id)
    ).scalar()
    return most
