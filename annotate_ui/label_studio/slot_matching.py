"""Matching annotations to slots: those that their rater has, or open ones of the same task."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from annotate_ui.label_studio import CHANNEL, FOLLOWED
from annotate_ui.label_studio.annotations import Annotation
from annotate_ui.label_studio.projects import StoredProject, TaskKey
from annotate_ui.label_studio.reserved_slots import Slot, slots
from annotate_ui.label_studio.task_data import Shown
from annotate_ui.tasks.stages import Stage
from study.facts.ratings import MEASURING
from study.facts.slots import is_live
from study.importing.bulk_insert import Batch
from study.schema import now, random_id
from study.schema.tables import assignments, responses
from study.study import Study


class LocatedAnnotation(NamedTuple):
    """An annotation with its response and its rater."""

    project: StoredProject
    annotation: Annotation
    shown: Shown
    """What its task shows; empty: the task does not belong to the study."""
    rater_id: int | None
    """None: erased from the study, or the account was deleted in Label Studio."""

    @property
    def response_id(self) -> int | None:
        """The response that is rated; None: there is none."""
        return self.shown[0] if len(self.shown) == 1 else None

    @property
    def task_key(self) -> TaskKey:
        """What the task shows and asks for."""
        return self.shown, self.project.construct_keys

    @property
    def rating_key(self) -> tuple[Any, ...]:
        """Equal for annotations of which only one can count; several users may be one rater."""
        task = None if self.shown else self.annotation.task
        return self.rater_id, self.task_key, task

    @property
    def recency(self) -> tuple[Any, int]:
        """Greater for a later annotation."""
        return self.annotation.updated, self.annotation.number


def latest(annotations: Sequence[LocatedAnnotation]) -> dict[Any, LocatedAnnotation]:
    """Return the annotations that count: the latest of each rater and task, by `rating_key`."""
    newest: dict[Any, LocatedAnnotation] = {}
    for located in annotations:
        previous = newest.get(located.rating_key)
        if previous is None or previous.recency < located.recency:
            newest[located.rating_key] = located
    return newest


def blocked_places(
    project: StoredProject, occupants: Iterable[tuple[Shown, Hashable, bool]]
) -> dict[Shown, int]:
    """Return how many places of a project's tasks are occupied without a value.

    In Label Studio a user occupies one place of a task, whatever number of annotations they made.

    Parameters
    ----------
    occupants
        Of each annotation what its task shows, its user, and whether the study has its value.
    """
    users: dict[Shown, set[Hashable]] = defaultdict(set)
    with_value: dict[Shown, set[Hashable]] = defaultdict(set)
    for shown, user, has_value in occupants:
        users[shown].add(user)
        if has_value:
            with_value[shown].add(user)
    counts = {
        shown: min(len(some), project.overlap) - min(len(with_value[shown]), project.overlap)
        for shown, some in users.items()
    }
    return {shown: places for shown, places in counts.items() if places}


class SlotClaims:
    """The slots of this channel; a rater who annotated a task claims one of its open slots."""

    def __init__(self, connection: Connection, study: Study, channel: str) -> None:
        self._connection = connection
        self._followed = channel == FOLLOWED
        self._study = study
        self._by_rater: dict[tuple[int, TaskKey], Slot] = {}
        self._open: dict[TaskKey, list[Slot]] = defaultdict(list)
        self._vacated: dict[TaskKey, list[Slot]] = defaultdict(list)
        self._new: list[dict[str, int]] = []
        live = slots(connection, study, channel)
        self._live = {slot.id for slot in live}
        self._planned: dict[TaskKey, Slot] = {}
        # Live slots come first. A rater whose slot was handed on still has that one.
        for slot in [*live, *slots(connection, study, channel, handed_on=True)]:
            self._planned.setdefault(slot.task_key, slot)
            if slot.rater_id is not None:
                self._by_rater.setdefault((slot.rater_id, slot.task_key), slot)
            else:
                self._open[slot.task_key].append(slot)
        self._other_channels = self._constructs_on_other_channels()

    def slots(self) -> list[Slot]:
        """Return every slot that has a rater."""
        return list(self._by_rater.values())

    def vacate(self, slots: Iterable[Slot]) -> None:
        """Record slots of which every value was withdrawn: another rater may take their place."""
        for slot in slots:
            if slot.id in self._live:
                self._vacated[slot.task_key].append(slot)

    def slot_of(self, rater_id: int, task_key: TaskKey) -> Slot | None:
        """Return the slot that the rater already has."""
        return self._by_rater.get((rater_id, task_key))

    def on_other_channels(self, rater_id: int, task_key: TaskKey) -> set[str]:
        """Return the constructs of this response that the rater has on another channel."""
        (response,), keys = task_key
        return {key for key in keys if (rater_id, response, key) in self._other_channels}

    def claim(self, rater_id: int, task_key: TaskKey, *, has_values: bool) -> Slot | None:
        """Return the rater's slot, an open one, or a further one; None: none was ever planned.

        A rater whose slot was handed on gets an open slot, unless their slot still `has_values`;
        without an open slot they continue in their own. A further slot takes the place of one that
        was vacated.
        """
        slot = self._by_rater.get((rater_id, task_key))
        if slot is not None and slot.further and has_values and self._vacated[task_key]:
            slot = self._replacing(self._vacated[task_key].pop(0), slot)
            self._by_rater[rater_id, task_key] = slot
        if slot is not None and (has_values or slot.id in self._live):
            return slot
        if not self._open[task_key] and self._vacated[task_key]:
            self._open[task_key].append(self._hand_on(self._vacated[task_key].pop(0)))
        if self._open[task_key]:
            slot = replace(self._open[task_key].pop(0), rater_id=rater_id)
            self._new.append({"slot": slot.id, "rater": rater_id})
        elif slot is None and self._followed:
            slot = self._of_followed(task_key, rater_id)
        elif slot is None and task_key in self._planned:
            slot = self._further(self._planned[task_key], rater_id)
        if slot is not None:
            self._by_rater[rater_id, task_key] = slot
        return slot

    def store(self) -> None:
        """Store the raters of the slots that were claimed."""
        if self._new:
            claimed = update(assignments).where(assignments.c.id == bindparam("slot"))
            self._connection.execute(claimed.values(rater_id=bindparam("rater")), self._new)
            self._new = []
        if self._followed:
            self._made.finish()

    def _hand_on(self, slot: Slot) -> Slot:
        """Replace a vacated slot by an open one; the vacated slot stays its rater's."""
        key = self._copy(slot, rater_id=None, replaces_id=slot.id, released_at=None)
        self._set(slot, released_at=now())
        return replace(slot, id=key, rater_id=None)

    def _further(self, slot: Slot, rater_id: int) -> Slot:
        """Return a slot for a rater whom the study did not plan, with what `slot` asks for."""
        at = now()
        key = self._copy(slot, rater_id=rater_id, replaces_id=None, released_at=at, created_at=at)
        return replace(slot, id=key, rater_id=rater_id, further=True)

    def _of_followed(self, task_key: TaskKey, rater_id: int) -> Slot:
        """Return a slot for an annotation of a project that was not pushed."""
        (response,), keys = task_key
        at = now()
        in_order = [spec.key for spec in self._study.config.constructs if spec.key in keys]
        values: dict[str, Any] = {
            "construct_keys": [*in_order, *sorted(keys - {*in_order})],
            "purpose": "main",
            "position": 0,
            "round": 0,
            "repeat": 0,
            "layout": "single",
            "channel": FOLLOWED,
            "inclusion_prob": 1.0,
            "stratum": None,
            "public_id": random_id(),
            "rater_id": rater_id,
            "response_id": response,
            "leased_until": None,
            "replaces_id": None,
            "released_at": at,
            "config_hash": self._study.config_hash,
            "created_at": at,
        }
        asked = tuple(values["construct_keys"])
        stage = Stage(1, keys, ())
        query = self._query_of[response]
        key = self._made.add(**values)
        return Slot(key, rater_id, response, query, asked, asked, stage, 0, further=True)

    @cached_property
    def _made(self) -> Batch:
        return Batch(self._connection, assignments)

    @cached_property
    def _query_of(self) -> dict[int, int]:
        rows = self._connection.execute(select(responses.c.id, responses.c.query_id))
        return {row.id: row.query_id for row in rows}

    def _replacing(self, vacated: Slot, further: Slot) -> Slot:
        """Return a further slot as the planned one that replaces a vacated slot."""
        self._set(vacated, released_at=now())
        self._set(further, released_at=None, replaces_id=vacated.id)
        self._live.add(further.id)
        return replace(further, further=False)

    def _copy(self, slot: Slot, **other: Any) -> int:
        row = self._connection.execute(select(assignments).where(assignments.c.id == slot.id)).one()
        copy = {name: value for name, value in row._mapping.items() if name != "id"}
        copy |= {
            "public_id": random_id(),
            "leased_until": None,
            "config_hash": self._study.config_hash,
            "created_at": now(),
            **other,
        }
        made = insert(assignments).values(**copy).returning(assignments.c.id)
        return int(self._connection.execute(made).scalar_one())

    def _set(self, slot: Slot, **values: Any) -> None:
        row = update(assignments).where(assignments.c.id == slot.id).values(**values)
        self._connection.execute(row)

    def _constructs_on_other_channels(self) -> set[tuple[int, int, str]]:
        # What was pushed goes before what was not.
        here = (FOLLOWED,) if self._followed else (CHANNEL, FOLLOWED)
        rows = self._connection.execute(
            select(
                assignments.c.rater_id, assignments.c.response_id, assignments.c.construct_keys
            ).where(
                assignments.c.channel.not_in(here),
                assignments.c.rater_id.is_not(None),
                assignments.c.purpose.in_(MEASURING),
                is_live(),
            )
        )
        return {(row.rater_id, row.response_id, key) for row in rows for key in row.construct_keys}
