"""Slots that are reserved for Label Studio, and the annotations that take them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.projects import TaskKey, stored_projects
from annotate_ui.tasks.slot_queue import HANDED_ON_WITH
from annotate_ui.tasks.stages import Stage, stages_of
from study.facts.ratings import MEASURING
from study.facts.slots import is_further, is_live
from study.schema import now
from study.schema.tables import assignments, responses
from study.study import Study


@dataclass(frozen=True)
class Slot:
    """An assignment of this channel, or the part of an open one that one task asks for."""

    id: int
    rater_id: int | None
    response_id: int
    query_id: int
    construct_keys: tuple[str, ...]
    """As they were assigned; study.toml may have fewer now."""
    repeat: int
    live: bool
    further: bool
    """It was not planned: its rater annotated a task whose slots were taken."""
    stage: Stage | None = None
    """None: study.toml has none of its constructs any more."""

    @property
    def task_key(self) -> TaskKey:
        """The response and the constructs to rate."""
        return self.response_id, frozenset(self.construct_keys)


def _slots(connection: Connection, *conditions: ColumnElement[bool]) -> list[Slot]:
    """Return slots of this channel in their order."""
    t = assignments
    rows: Any = connection.execute(
        select(
            *(t.c.id, t.c.rater_id, t.c.response_id, responses.c.query_id, t.c.construct_keys),
            *(t.c.repeat, is_live().label("live"), is_further().label("further")),
        )
        .join_from(t, responses, t.c.response_id == responses.c.id)
        .where(t.c.channel == CHANNEL, *conditions)
        .order_by(t.c.position, t.c.id)
    )
    return [
        Slot(slot, rater, response, query, tuple(keys), repeat, bool(live), bool(further))
        for slot, rater, response, query, keys, repeat, live, further in rows
    ]


def slots(connection: Connection, study: Study) -> list[Slot]:
    """Return the live slots of this channel in their order, open ones in the parts of tasks.

    Label Studio gives a task to any user, so an open slot is one for each task that asks for some
    of its constructs, and for each stage of the others. The fields of a stage are those that the
    project's own pages would show.
    """
    assigned = _slots(connection, is_live())
    together: dict[int, frozenset[str]] = defaultdict(frozenset)
    for row in assigned:
        together[row.response_id] |= {*row.construct_keys}
    pushed: dict[int, list[frozenset[str]]] = defaultdict(list)
    for project in stored_projects(connection):
        for response in project.tasks:
            pushed[response].append(project.construct_keys)

    result = []
    for row in assigned:
        stages = stages_of(study.config, together[row.response_id])
        by_key = {key: stage for stage in stages for key in stage.construct_keys}
        keys = frozenset(row.construct_keys)
        asked = () if row.rater_id is not None else _parts(keys, pushed[row.response_id], by_key)
        for part in [*asked] or [keys]:
            stage = next((by_key[key] for key in part if key in by_key), None)
            own = tuple(key for key in row.construct_keys if key in part)
            result.append(replace(row, stage=stage, construct_keys=own))
    return result


def _parts(
    keys: frozenset[str], pushed: Sequence[frozenset[str]], by_key: Mapping[str, Stage]
) -> Iterator[frozenset[str]]:
    """Yield the constructs of an open slot by the task that asks for them, then by stage."""
    for asked in pushed:
        if asked <= keys:
            yield asked
            keys -= asked
    for stage in sorted({by_key[key] for key in keys & {*by_key}}, key=lambda stage: stage.number):
        yield stage.construct_keys & keys


def ready(slots: Sequence[Slot], rated: set[int]) -> list[tuple[Slot, Stage]]:
    """Return the slots whose query is rated in every earlier stage, with their stage.

    `rated` are the slots of this channel that were rated; slots of other channels do not matter,
    since the project's own pages show the stages to each rater separately.
    """
    staged = [(slot, slot.stage) for slot in slots if slot.stage is not None]
    # The later stages of a query wait for the earliest one that has an unrated slot.
    open_stages = {(slot.query_id, stage.number) for slot, stage in staged if slot.id not in rated}
    first = dict(sorted(open_stages, reverse=True))
    return [(slot, stage) for slot, stage in staged if stage.number <= first.get(slot.query_id, 99)]


class SlotClaims:
    """The slots of this channel; a rater who annotated a task claims one of its open slots."""

    def __init__(self, connection: Connection, study: Study) -> None:
        self._connection, self._study = connection, study
        self._by_response: dict[int, list[Slot]] = defaultdict(list)
        self.own: dict[tuple[int | None, TaskKey], Slot] = {}
        """The slots that have a rater, by rater and task."""
        # Live slots come first. A rater whose slot was replaced still has that one, or a further.
        for slot in sorted(_slots(connection), key=lambda slot: (not slot.live, not slot.further)):
            self._by_response[slot.response_id].append(slot)
            if slot.rater_id is not None:
                self.own.setdefault((slot.rater_id, slot.task_key), slot)
        t = assignments
        elsewhere = t.c.channel != CHANNEL, t.c.rater_id.is_not(None), t.c.purpose.in_(MEASURING)
        columns = select(t.c.rater_id, t.c.response_id, t.c.construct_keys)
        rows = connection.execute(columns.where(*elsewhere, is_live()))
        self._other_channels = {(*place, key) for *place, keys in rows for key in keys}

    def on_other_channels(self, rater_id: int | None, task_key: TaskKey) -> set[str]:
        """Return the constructs of this response that the rater has on another channel."""
        response, keys = task_key
        return {key for key in keys if (rater_id, response, key) in self._other_channels}

    def reopen(self, slot: Slot, has_values: Callable[[Slot], bool]) -> None:
        """Make the place of a slot open again, all of whose values are withdrawn.

        The slot stays its rater's, and another one replaces it: a further one that `has_values`, or
        an open one.
        """
        if not slot.live:
            return
        self.own[slot.rater_id, slot.task_key] = self._set(slot, live=False, released_at=now())
        for other in list(self.own.values()):
            if other.further and other.task_key == slot.task_key and has_values(other):
                taken = self._set(other, live=True, released_at=None, replaces_id=slot.id)
                self.own[other.rater_id, other.task_key] = replace(taken, further=False)
                return
        self._copy(slot, slot.construct_keys, None, replaces_id=slot.id)

    def claim(self, rater_id: int, task_key: TaskKey, *, has_values: bool) -> Slot | None:
        """Return the rater's slot, an open one, or a further one; None: none was ever planned.

        A rater whose slot was replaced gets an open one or a further one, unless their slot still
        `has_values`.
        """
        own = self.own.get((rater_id, task_key))
        if own is not None and (own.live or has_values):
            return own
        response, keys = task_key
        planned = [s for s in self._by_response[response] if keys.issubset(s.construct_keys)]
        vacant = next((slot for slot in planned if slot.live and slot.rater_id is None), None)
        if vacant is not None:
            own = self._take(vacant, rater_id, keys)
        elif planned and not (own and own.further):
            at = now()
            own = self._copy(planned[0], keys, rater_id, released_at=at, created_at=at)
            own = replace(own, live=False, further=True)
        if own is not None:
            self.own[rater_id, task_key] = own
        return own

    def _take(self, slot: Slot, rater_id: int, keys: frozenset[str]) -> Slot:
        """Give an open slot to a rater; the constructs of other tasks remain open."""
        own = tuple(key for key in slot.construct_keys if key in keys)
        left = tuple(key for key in slot.construct_keys if key not in keys)
        others = self._by_response[slot.response_id]
        others.remove(slot)
        # Constructs that study.toml no longer has are dropped.
        if any(self._study.config.construct_spec(key) for key in left):
            others.append(self._set(slot, construct_keys=left))
            return self._copy(slot, own, rater_id)
        others.append(self._set(slot, construct_keys=own, rater_id=rater_id))
        return others[-1]

    def _copy(self, slot: Slot, keys: Collection[str], rater_id: int | None, **other: Any) -> Slot:
        """Store a slot of these constructs that is otherwise like another one."""
        row = self._connection.execute(select(assignments).where(assignments.c.id == slot.id)).one()
        own = tuple(key for key in slot.construct_keys if key in keys)
        copied = {name: row._mapping[name] for name in (*HANDED_ON_WITH, "position", "open_to")}
        copied |= {"construct_keys": list(own), "rater_id": rater_id, **other}
        made = insert(assignments).values(**copied, config_hash=self._study.config_hash)
        key = int(self._connection.execute(made.returning(assignments.c.id)).scalar_one())
        new = replace(slot, id=key, rater_id=rater_id, construct_keys=own)
        self._by_response[slot.response_id].append(new)
        return new

    def _set(self, slot: Slot, *, live: bool = True, **values: Any) -> Slot:
        """Change a slot; return it as it is now."""
        row = update(assignments).where(assignments.c.id == slot.id).values(**values)
        self._connection.execute(row)
        known = {name: value for name, value in values.items() if hasattr(slot, name)}
        return replace(slot, live=live, **known)
