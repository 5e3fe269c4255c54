"""What becomes of the places in the design that an erased person held."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from study.facts.ratings import answered_constructs
from study.facts.slots import OWN_CHANNEL, is_handed_on, is_live_comparison, is_released
from study.schema import Assignment, Comparison, Decision, now, random_id, table
from study.study import Study

_SLOT = (
    "construct_keys",
    "purpose",
    "position",
    "round",
    "repeat",
    "layout",
    "channel",
    "inclusion_prob",
    "stratum",
    "response_id",
)


def take_out_of_chains(connection: Connection, rater_id: int) -> list[dict[str, Any]]:
    """Prepare a rater's assignments to be deleted; return the slots that are to be opened.

    A slot handed on from theirs names the one before theirs from now on, so that no slot is
    handed on twice. What they left unfinished is opened for others, where nobody has it yet.
    """
    a = table(Assignment)
    rows = {row.id: row for row in connection.execute(select(a).order_by(a.c.id))}
    theirs = {id_ for id_, row in rows.items() if row.rater_id == rater_id}
    unfinished = _unfinished(connection, [rows[id_] for id_ in sorted(theirs)])
    successors = {row.replaces_id: row.id for row in rows.values() if row.replaces_id is not None}

    def before(id_: int) -> int | None:
        id_before = rows[id_].replaces_id
        while id_before in theirs:
            id_before = rows[id_before].replaces_id
        return None if id_before is None else int(id_before)

    joined = {
        successors[id_]: before(id_)
        for id_ in theirs
        if id_ in successors and successors[id_] not in theirs
    }
    loose = [*theirs, *joined]
    for id_ in loose:
        connection.execute(update(a).where(a.c.id == id_).values(replaces_id=None))
    for id_, earlier in joined.items():
        connection.execute(update(a).where(a.c.id == id_).values(replaces_id=earlier))
    return [
        {**{name: rows[id_]._mapping[name] for name in _SLOT}, "replaces_id": before(id_)}
        for id_ in sorted(theirs)
        if id_ in unfinished and id_ not in successors and rows[id_].purpose == "main"
    ]


def reopen(connection: Connection, study: Study, slots: list[dict[str, Any]]) -> int:
    """Make open slots; return how many."""
    a = table(Assignment)
    for slot in slots:
        row = {
            **slot,
            "rater_id": None,
            "public_id": random_id(),
            "config_hash": study.config_hash,
            "created_at": now(),
        }
        connection.execute(insert(a).values(**row))
    return len(slots)


def release_unfinished(connection: Connection, rater_id: int) -> int:
    """Take unfinished assignments and undecided comparisons back; return how many responses."""
    a, c, d = table(Assignment), table(Comparison), table(Decision)
    # What was handed on has its place in the design elsewhere.
    mine = connection.execute(select(a).where(a.c.rater_id == rater_id, ~is_handed_on())).all()
    unfinished = _unfinished(connection, mine)
    for id_ in unfinished:
        connection.execute(update(a).where(a.c.id == id_, ~is_released()).values(released_at=now()))
    connection.execute(
        update(c)
        .where(
            c.c.rater_id == rater_id,
            is_live_comparison(),
            c.c.id.not_in(select(d.c.comparison_id)),
        )
        .values(released_at=now())
    )
    return len(unfinished)


def _unfinished(connection: Connection, rows: Iterable[Row[Any]]) -> set[int]:
    answered = answered_constructs()
    counted = select(answered.c.assignment_id, func.count()).group_by(answered.c.assignment_id)
    rated = {row[0]: int(row[1]) for row in connection.execute(counted)}
    return {
        row.id
        for row in rows
        if row.channel == OWN_CHANNEL and rated.get(row.id, 0) < len(row.construct_keys)
    }
