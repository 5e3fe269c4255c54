"""Slots that are reserved for Label Studio: one for each stage of a response and each rater."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.projects import TaskKey, stored_projects
from annotate_ui.tasks.stages import Stage, stages_of
from study.facts.slots import is_further, is_live
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
