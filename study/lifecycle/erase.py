"""Erasure of a person: their data is removed, or kept without a link to them."""

import secrets
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from study.facts.comparison_decisions import is_decided
from study.facts.ratings import finished_assignments, unfinished_slots
from study.facts.slots import OWN_CHANNEL, is_live_comparison
from study.lifecycle.personal_data import (
    Person,
    count_rows,
    names,
    person,
    remove_mentions,
    rows_of,
)
from study.lifecycle.secure_delete import exclusive_write, rewrite_database
from study.progress_bar import Advance
from study.schema import (
    Assignment,
    Comparison,
    Consent,
    Enrolment,
    Erasure,
    ImportedFile,
    InterimAnalysis,
    Invitation,
    Noun,
    Pause,
    RejectedValue,
    now,
    random_id,
    table,
)
from study.schema.creation import append_only_suspended
from study.schema.tables import (
    assignments,
    closing_answers,
    comparisons,
    departures,
    erasures,
    external_raters,
    rater_answers,
    raters,
)
from study.settings.study_toml import StudyConfig
from study.study import Study

ErasureKind = Literal["removed", "severed"]

_TOUCHED_BESIDE: tuple[type[Noun], ...] = (InterimAnalysis, ImportedFile, Pause, Erasure)
# Not a name from which `ccrs invite` continues to count.
_SEVERED = "severed-"


@dataclass(frozen=True)
class Erased:
    """Result of an erasure. It names no person."""

    kind: ErasureKind
    rows: dict[str, int]
    """Rows by table that were removed or changed."""
    reopened: int
    """Unfinished responses that are open to other raters again."""
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return asdict(self)


def stored_about(study: Study, code: str) -> dict[str, int]:
    """Return how many rows of each table are about a person.

    Raises
    ------
    StudyError
        The study stores nothing about a person with this code.
    """
    with study.read() as connection:
        return count_rows(connection, person(connection, study, code))


def erase(
    study: Study, code: str, *, sever: bool = False, progress: Advance | None = None
) -> Erased:
    """Remove everything that the study stores about a person, or sever it from them.

    Severing keeps values under a new random code, which is not shown; comments, reasons in their
    own words, consents, links, ids and attributes go. Imported values of the same name are
    included. A row without a name records the erasure. Then the database file is rewritten, so
    that it contains no deleted bytes. Copies of the study, such as backups, are not changed.
    Erasing is safe while `ccrs serve` runs: the person's sessions end at the next request.

    Raises
    ------
    StudyError
        The study stores nothing about this code (nothing is changed); or the file could not be
        rewritten (the data is gone from the tables).
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    kind: ErasureKind = "severed" if sever else "removed"
    with exclusive_write(study, _tables()) as connection:
        rater = person(connection, study, code)
        with append_only_suspended(connection, _tables()):
            rows, reopened = (_sever if sever else _remove)(connection, study, rater)
        connection.execute(insert(erasures).values(kind=kind, created_at=now()))
    advance(1, 2)
    notes = rewrite_database(study, rows)
    advance(2, 2)
    return Erased(kind, rows, reopened, notes)


def _tables() -> list[str]:
    whole = rows_of(Person("", 0))
    return [t.name for t, _ in whole] + [table(noun).name for noun in _TOUCHED_BESIDE]


def _remove(connection: Connection, study: Study, rater: Person) -> tuple[dict[str, int], int]:
    counts = count_rows(connection, rater)
    slots = []
    if rater.rater_id is not None:
        slots = take_out_of_chains(connection, study.config, rater.rater_id)
        _disown(connection, rater.rater_id)
    for t, where in rows_of(rater):
        if counts.get(t.name):
            connection.execute(delete(t).where(where))
    opened = reopen(connection, study, slots)
    return counts | remove_mentions(connection, rater.code), opened


def _sever(connection: Connection, study: Study, rater: Person) -> tuple[dict[str, int], int]:
    counts = count_rows(connection, rater)
    alias = f"{_SEVERED}{secrets.token_hex(4)}"
    for t, where in rows_of(rater):
        if t.name == "scorer_answer":
            for name, other in zip(names(rater.code), names(alias), strict=True):
                theirs = where & (t.c.scorer == name)
                connection.execute(update(t).where(theirs).values(scorer=other))
    released = 0
    if rater.rater_id is not None:
        released = _sever_rater(connection, study.config, rater.rater_id, alias)
    return counts | remove_mentions(connection, rater.code), released


def _disown(connection: Connection, rater_id: int) -> None:
    """Keep the user's number of another server only to ignore their annotations from now on."""
    connection.execute(
        update(external_raters).where(external_raters.c.rater_id == rater_id).values(rater_id=None)
    )


def _sever_rater(connection: Connection, config: StudyConfig, rater_id: int, alias: str) -> int:
    _disown(connection, rater_id)
    gone: tuple[type[Noun], ...] = (Consent, Enrolment, Invitation, RejectedValue)
    for noun in gone:
        connection.execute(delete(table(noun)).where(table(noun).c.rater_id == rater_id))
    emptied = {"comment": None, "reason": None, "idempotency_key": None}
    where = {t.name: condition for t, condition in rows_of(Person("", rater_id))}
    connection.execute(
        update(rater_answers).where(where["rater_answer"]).values(**emptied, external_id=None)
    )
    connection.execute(update(closing_answers).where(where["closing_answer"]).values(comment=None))
    in_addresses: tuple[type[Noun], ...] = (Assignment, Comparison)
    for noun in in_addresses:
        # The person's browser knows these identifiers from addresses.
        noun_table = table(noun)
        for row in connection.execute(
            select(noun_table.c.id).where(noun_table.c.rater_id == rater_id)
        ).all():
            connection.execute(
                update(noun_table).where(noun_table.c.id == row.id).values(public_id=random_id())
            )
    connection.execute(
        update(raters)
        .where(raters.c.id == rater_id)
        .values(code=alias, public_id=random_id(), attributes={})
    )
    released = release_unfinished(connection, config, rater_id)
    connection.execute(delete(departures).where(departures.c.rater_id == rater_id))
    # No person has the new code, so nothing new is assigned to it.
    connection.execute(
        insert(departures).values(rater_id=rater_id, kind="removed", created_at=now())
    )
    return released


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
    "open_to",
)


def take_out_of_chains(
    connection: Connection, config: StudyConfig, rater_id: int
) -> list[dict[str, Any]]:
    """Prepare a rater's assignments to be deleted; return the slots that are to be opened.

    A slot handed on from theirs names the one before theirs from now on, so that no slot is
    handed on twice. What they left unfinished is opened for others, if no rater has it yet.
    """
    rows = {
        row.id: row for row in connection.execute(select(assignments).order_by(assignments.c.id))
    }
    theirs = {id_ for id_, row in rows.items() if row.rater_id == rater_id}
    finished = finished_assignments(connection, config, assignments.c.rater_id == rater_id)
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
        connection.execute(
            update(assignments).where(assignments.c.id == id_).values(replaces_id=None)
        )
    for id_, earlier in joined.items():
        connection.execute(
            update(assignments).where(assignments.c.id == id_).values(replaces_id=earlier)
        )
    return [
        {**{name: rows[id_]._mapping[name] for name in _SLOT}, "replaces_id": before(id_)}
        for id_ in sorted(theirs)
        if id_ not in finished
        and id_ not in successors
        and (rows[id_].purpose, rows[id_].channel) == ("main", OWN_CHANNEL)
    ]


def reopen(connection: Connection, study: Study, slots: list[dict[str, Any]]) -> int:
    """Make open slots; return how many."""
    for slot in slots:
        row = {
            **slot,
            "rater_id": None,
            "public_id": random_id(),
            "config_hash": study.config_hash,
            "created_at": now(),
        }
        connection.execute(insert(assignments).values(**row))
    return len(slots)


def release_unfinished(connection: Connection, config: StudyConfig, rater_id: int) -> int:
    """Take unfinished assignments and undecided comparisons back; return how many responses."""
    unfinished = unfinished_slots(connection, config, rater_id)
    connection.execute(
        update(assignments).where(assignments.c.id.in_(unfinished)).values(released_at=now())
    )
    connection.execute(
        update(comparisons)
        .where(comparisons.c.rater_id == rater_id, is_live_comparison(), ~is_decided())
        .values(released_at=now())
    )
    return len(unfinished)
