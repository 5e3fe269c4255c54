"""Slots that are reserved for Label Studio, and the annotations that take them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, insert, select, update

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.projects import TaskKey, stored_projects
from annotate_ui.tasks.stages import Stage, stages_of
from study.facts.ratings import MEASURING
from study.facts.slots import is_further, is_live
from study.schema import now
from study.schema.tables import assignments, responses
from study.study import Study


@dataclass(frozen=True)
class Slot:
    """An assignment of this channel."""

    id: int
    rater_id: int | None
    response_id: int
    query_id: int
    construct_keys: tuple[str, ...]
    """As they were assigned; study.toml may have fewer now."""
    current_keys: tuple[str, ...]
    """Those of them that study.toml still has; only these are put into new tasks."""
    stage: Stage
    repeat: int
    further: bool = False
    """It was not planned: its rater annotated a task whose slots were taken."""

    @property
    def task_key(self) -> TaskKey:
        """The response and the constructs to rate."""
        return self.response_id, frozenset(self.construct_keys)


_NO_STAGE = Stage(1, frozenset(), ())
"""The stage of a slot none of whose constructs is in study.toml any more."""


def slots(connection: Connection, study: Study, *, handed_on: bool = False) -> list[Slot]:
    """Return the live slots of this channel in their order, or those that are not (`handed_on`)."""
    rows = connection.execute(
        select(
            assignments.c.id,
            assignments.c.rater_id,
            assignments.c.response_id,
            responses.c.query_id,
            assignments.c.construct_keys,
            assignments.c.repeat,
            is_further().label("further"),
        )
        .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
        .where(assignments.c.channel == CHANNEL, ~is_live() if handed_on else is_live())
        .order_by(assignments.c.position, assignments.c.id)
    )
    assigned = rows.all()
    together: dict[int, set[str]] = defaultdict(set)
    for row in assigned:
        together[row.response_id].update(row.construct_keys)
    known = _StagesByConstruct(study, _pushed(connection))
    result = []
    for row in assigned:
        by_key = known.of(frozenset(together[row.response_id]))
        for keys in known.parts(row, by_key):
            current = tuple(key for key in keys if key in by_key)
            result.append(
                Slot(
                    row.id,
                    row.rater_id,
                    row.response_id,
                    row.query_id,
                    keys,
                    current,
                    by_key[current[0]] if current else _NO_STAGE,
                    row.repeat,
                    bool(row.further),
                )
            )
    return result


def _pushed(connection: Connection) -> dict[int, list[frozenset[str]]]:
    """Return what the tasks of each response ask for."""
    pushed: dict[int, list[frozenset[str]]] = defaultdict(list)
    for project in stored_projects(connection):
        for response in project.tasks:
            pushed[response].append(project.construct_keys)
    return pushed


class _StagesByConstruct:
    """The stages in which constructs are rated, and the parts of slots for each."""

    def __init__(self, study: Study, pushed: Mapping[int, Sequence[frozenset[str]]]) -> None:
        self._study, self._pushed = study, pushed
        self._known: dict[frozenset[str], dict[str, Stage]] = {}

    def of(self, together: frozenset[str]) -> dict[str, Stage]:
        """Return the stage of each construct that is rated of a response.

        The fields are those that the project's own pages would show at this stage.
        """
        if together not in self._known:
            self._known[together] = {
                key: stage
                for stage in stages_of(self._study.config, together)
                for key in stage.construct_keys
            }
        return self._known[together]

    def parts(self, row: Any, by_key: Mapping[str, Stage]) -> Iterator[tuple[str, ...]]:
        """Yield the constructs of a slot that are rated by one person.

        Label Studio gives a task to any user, so an open slot is one for each task that asks for
        some of its constructs, and for each stage of the others. One that a rater has stays whole.
        """
        keys = tuple(row.construct_keys)
        if row.rater_id is not None:
            yield keys
            return
        by_place: dict[Any, list[str]] = defaultdict(list)
        tasks = [asked for asked in self._pushed.get(row.response_id, ()) if asked.issubset(keys)]
        for key in keys:
            task = next((number for number, asked in enumerate(tasks) if key in asked), None)
            if task is not None:
                by_place[-1, task].append(key)
            elif key in by_key:
                by_place[0, by_key[key].number].append(key)
        yield from (tuple(some) for _, some in sorted(by_place.items()))
        if not by_place:
            yield keys


def ready(slots: Sequence[Slot], rated: set[int]) -> list[Slot]:
    """Return the slots whose query is rated in every earlier stage.

    `rated` are the slots of this channel that were rated; slots of other channels do not matter,
    since the project's own pages show the stages to each rater separately.
    """
    waiting: Mapping[int, set[int]] = defaultdict(set)
    for slot in slots:
        if slot.id not in rated:
            waiting[slot.query_id].add(slot.stage.number)
    return [
        slot
        for slot in slots
        if min(waiting[slot.query_id], default=slot.stage.number) >= slot.stage.number
    ]


class SlotClaims:
    """The slots of this channel; a rater who annotated a task claims one of its open slots."""

    def __init__(self, connection: Connection, study: Study) -> None:
        self._connection = connection
        self._study = study
        self._by_rater: dict[tuple[int, TaskKey], Slot] = {}
        self._open: dict[TaskKey, list[Slot]] = defaultdict(list)
        self._vacated: dict[TaskKey, list[Slot]] = defaultdict(list)
        self._left: dict[int, list[str]] = defaultdict(list)
        """Constructs of each open slot that nobody has taken."""
        live = slots(connection, study)
        self._live = {slot.id for slot in live}
        self._planned: dict[TaskKey, Slot] = {}
        # Live slots come first. A rater whose slot was handed on still has that one.
        for slot in [*live, *slots(connection, study, handed_on=True)]:
            self._planned.setdefault(slot.task_key, slot)
            if slot.rater_id is not None:
                self._by_rater.setdefault((slot.rater_id, slot.task_key), slot)
            else:
                self._open[slot.task_key].append(slot)
                self._left[slot.id] += slot.construct_keys
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
        response, keys = task_key
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
            slot = self._take(self._open[task_key].pop(0), rater_id)
        elif slot is None and task_key in self._planned:
            slot = self._further(self._planned[task_key], rater_id)
        if slot is not None:
            self._by_rater[rater_id, task_key] = slot
        return slot

    def _take(self, slot: Slot, rater_id: int) -> Slot:
        """Give an open slot to a rater; other stages of it remain open."""
        left = [key for key in self._left[slot.id] if key not in slot.construct_keys]
        if left:
            # The rest becomes a new slot, also for the other stages that wait here.
            self._left[slot.id] = left
            asked = {"construct_keys": list(slot.construct_keys), "replaces_id": None}
            key = self._copy(slot, rater_id=rater_id, **asked)
            self._set(slot, construct_keys=left)
            self._live.add(key)
        else:
            key = slot.id
            # Constructs that study.toml no longer has are dropped.
            self._set(slot, rater_id=rater_id, construct_keys=list(slot.construct_keys))
        return replace(slot, id=key, rater_id=rater_id)

    def _hand_on(self, slot: Slot) -> Slot:
        """Replace a vacated slot by an open one; the vacated slot stays its rater's."""
        key = self._copy(slot, rater_id=None, replaces_id=slot.id, released_at=None)
        self._set(slot, released_at=now())
        return replace(slot, id=key, rater_id=None)

    def _further(self, slot: Slot, rater_id: int) -> Slot:
        """Return a slot for a rater whom the study did not plan, with what `slot` asks for."""
        at = now()
        asked = {"construct_keys": list(slot.construct_keys), "replaces_id": None}
        key = self._copy(slot, rater_id=rater_id, **asked, released_at=at, created_at=at)
        return replace(slot, id=key, rater_id=rater_id, further=True)

    def _replacing(self, vacated: Slot, further: Slot) -> Slot:
        """Return a further slot as the planned one that replaces a vacated slot."""
        self._set(vacated, released_at=now())
        self._set(further, released_at=None, replaces_id=vacated.id)
        self._live.add(further.id)
        return replace(further, further=False)

    def _copy(self, slot: Slot, **other: Any) -> int:
        row = self._connection.execute(select(assignments).where(assignments.c.id == slot.id)).one()
        own = {"id", "public_id", "leased_until", "created_at"}
        copy = {name: value for name, value in row._mapping.items() if name not in own}
        return self._insert(**{**copy, "config_hash": self._study.config_hash, **other})

    def _insert(self, **values: Any) -> int:
        made = insert(assignments).values(**values).returning(assignments.c.id)
        return int(self._connection.execute(made).scalar_one())

    def _set(self, slot: Slot, **values: Any) -> None:
        row = update(assignments).where(assignments.c.id == slot.id).values(**values)
        self._connection.execute(row)

    def _constructs_on_other_channels(self) -> set[tuple[int, int, str]]:
        rows = self._connection.execute(
            select(
                assignments.c.rater_id, assignments.c.response_id, assignments.c.construct_keys
            ).where(
                assignments.c.channel != CHANNEL,
                assignments.c.rater_id.is_not(None),
                assignments.c.purpose.in_(MEASURING),
                is_live(),
            )
        )
        return {(row.rater_id, row.response_id, key) for row in rows for key in row.construct_keys}
