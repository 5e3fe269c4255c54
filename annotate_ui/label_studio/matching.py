"""Whose slot an annotation fills: reserved for the channel, and without a rater until now."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.projects import StoredProject
from annotate_ui.label_studio.reserved_slots import Slot, slots
from study.facts.ratings import MEASURING
from study.facts.slots import is_live
from study.schema import Assignment, now, random_id, table
from study.study import Study

Wanted = tuple[int, frozenset[str]]
"""A response, and the constructs that a project asks for."""


class Placed(NamedTuple):
    """An annotation, with the response that it is of and the rater who gave it."""

    project: StoredProject
    annotation: Annotation
    response_id: int | None
    """None: of a task that is none of the study's."""
    rater_id: int | None
    """None: erased from the study, or an account that is deleted over there."""

    @property
    def wanted(self) -> Wanted:
        """What the task asks for."""
        return self.response_id or 0, self.project.construct_keys

    @property
    def same(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count."""
        task = self.annotation.task if self.response_id is None else None
        # Several accounts may be one rater.
        return self.rater_id, self.wanted, task

    @property
    def age(self) -> tuple[Any, int]:
        """Later is greater."""
        return self.annotation.updated, self.annotation.number


def latest(placed: Sequence[Placed]) -> dict[Any, Placed]:
    """Return the annotations that count: of a rater and what is asked of them, the latest."""
    newest: dict[Any, Placed] = {}
    for one in placed:
        before = newest.get(one.same)
        if before is None or before.age < one.age:
            newest[one.same] = one
    return newest


def lost_places(
    project: StoredProject, held: Iterable[tuple[int, Hashable, bool]]
) -> dict[int, int]:
    """Return how many places of a project's tasks are held and fill nothing, by response.

    Over there a user holds one place of a task, however many annotations are theirs.

    Parameters
    ----------
    held
        Of each annotation its response, its user, and whether a value stands for it.
    """
    holders: dict[int, set[Hashable]] = defaultdict(set)
    fillers: dict[int, set[Hashable]] = defaultdict(set)
    for response, user, fills in held:
        holders[response].add(user)
        if fills:
            fillers[response].add(user)
    found = {
        response: min(len(users), project.overlap) - min(len(fillers[response]), project.overlap)
        for response, users in holders.items()
    }
    return {response: places for response, places in found.items() if places}


class Claims:
    """The slots of this channel by rater; open ones are given to whoever rated."""

    def __init__(self, connection: Connection, study: Study) -> None:
        self._connection = connection
        self._study = study
        self._mine: dict[tuple[int, Wanted], Slot] = {}
        self._open: dict[Wanted, list[Slot]] = defaultdict(list)
        self._abandoned: dict[Wanted, list[Slot]] = defaultdict(list)
        self._new: list[dict[str, int]] = []
        # Who took everything back and rates again goes on where they were: first those handed on.
        live = slots(connection, study)
        self._live = {slot.id for slot in live}
        for slot in [*live, *slots(connection, study, gone=True)]:
            if slot.rater_id is not None:
                self._mine.setdefault((slot.rater_id, slot.wanted), slot)
            else:
                self._open[slot.wanted].append(slot)
        self._elsewhere = self._assigned_elsewhere()

    def slots(self) -> list[Slot]:
        """Return every slot that has a rater."""
        return list(self._mine.values())

    def abandon(self, slots: Iterable[Slot]) -> None:
        """Say whose every value is taken back, so that others may come in their place."""
        for slot in slots:
            if slot.id in self._live:
                self._abandoned[slot.wanted].append(slot)

    def mine(self, rater_id: int, wanted: Wanted) -> Slot | None:
        """Return the slot that the rater has already."""
        return self._mine.get((rater_id, wanted))

    def assigned_elsewhere(self, rater_id: int, wanted: Wanted) -> set[str]:
        """Return the constructs that the rater has of this response on another channel."""
        response, keys = wanted
        return {key for key in keys if (rater_id, response, key) in self._elsewhere}

    def claim(self, rater_id: int, wanted: Wanted, *, stands: bool) -> Slot | None:
        """Return the rater's slot, an open one if need be; None: all are taken.

        Whose slot was handed on gets an open one, unless a value of theirs `stands` in it; where
        there is none they go on where they were.
        """
        mine = self._mine.get((rater_id, wanted))
        if mine is not None and (stands or mine.id in self._live):
            return mine
        if not self._open[wanted] and self._abandoned[wanted]:
            self._open[wanted].append(self._handed_on(self._abandoned[wanted].pop(0)))
        if not self._open[wanted]:
            return mine
        mine = replace(self._open[wanted].pop(0), rater_id=rater_id)
        self._new.append({"slot": mine.id, "rater": rater_id})
        self._mine[rater_id, wanted] = mine
        return mine

    def store(self) -> None:
        """Store whose the slots are that were claimed."""
        if self._new:
            a = table(Assignment)
            given = update(a).where(a.c.id == bindparam("slot"))
            self._connection.execute(given.values(rater_id=bindparam("rater")), self._new)
            self._new = []

    def _handed_on(self, slot: Slot) -> Slot:
        """Open the place of a rater who took everything back; their slot stays theirs."""
        a = table(Assignment)
        row = self._connection.execute(select(a).where(a.c.id == slot.id)).one()
        self._connection.execute(update(a).where(a.c.id == slot.id).values(released_at=now()))
        copy = {name: value for name, value in row._mapping.items() if name != "id"}
        copy |= {
            "rater_id": None,
            "public_id": random_id(),
            "replaces_id": slot.id,
            "config_hash": self._study.config_hash,
            "created_at": now(),
        }
        made = insert(a).values(**copy).returning(a.c.id)
        return replace(slot, id=int(self._connection.execute(made).scalar_one()), rater_id=None)

    def _assigned_elsewhere(self) -> set[tuple[int, int, str]]:
        a = table(Assignment)
        rows = self._connection.execute(
            select(a.c.rater_id, a.c.response_id, a.c.construct_keys).where(
                a.c.channel != CHANNEL,
                a.c.rater_id.is_not(None),
                a.c.purpose.in_(MEASURING),
                is_live(),
            )
        )
        return {(row.rater_id, row.response_id, key) for row in rows for key in row.construct_keys}
