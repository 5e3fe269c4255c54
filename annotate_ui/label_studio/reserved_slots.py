"""Slots that are reserved for Label Studio: one for each stage of a response and each rater."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.projects import TaskKey
from annotate_ui.tasks.stages import Stage, stages_of
from study.facts.slots import is_further, is_live
from study.schema import random_id
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


def split_by_stage(
    connection: Connection,
    study: Study,
    places: Mapping[TaskKey, int],
    detached: Collection[int],
) -> int:
    """Split open slots by stage, so that each stage may have another rater; return how many new.

    Label Studio gives a task to any user, so the rater of one stage may not be that of the next.
    A slot that is split keeps the constructs of the first stage; constructs that study.toml no
    longer has are dropped.

    Parameters
    ----------
    places
        Number of slots that have a task in Label Studio, by response and constructs. These slots
        are not split, since annotations are matched by their constructs.
    detached
        Slots that were rated in tasks that have since been deleted.
    """
    rows = connection.execute(
        select(assignments)
        .where(assignments.c.channel == CHANNEL, assignments.c.rater_id.is_(None))
        .order_by(assignments.c.id)
    ).all()
    unsplit = Counter(places)
    claimed = select(
        assignments.c.id, assignments.c.response_id, assignments.c.construct_keys
    ).where(assignments.c.channel == CHANNEL, assignments.c.rater_id.is_not(None))
    for slot, response, claimed_keys in connection.execute(claimed):
        if slot not in detached:
            unsplit[response, frozenset(claimed_keys)] -= 1
    by_stage: dict[tuple[str, ...], list[list[str]]] = {}
    more: list[dict[str, Any]] = []
    for row in rows:
        keys = tuple(row.construct_keys)
        task_key = row.response_id, frozenset(keys)
        if unsplit[task_key] > 0:
            unsplit[task_key] -= 1
            continue
        if keys not in by_stage:
            by_stage[keys] = [
                [key for key in keys if key in stage.construct_keys]
                for stage in stages_of(study.config, keys)
            ]
        first, *others = by_stage[keys] or [list(keys)]
        if tuple(first) == keys:
            continue
        connection.execute(
            update(assignments).where(assignments.c.id == row.id).values(construct_keys=first)
        )
        for part in others:
            copy = {name: value for name, value in row._mapping.items() if name != "id"}
            copy |= {"construct_keys": part, "public_id": random_id(), "replaces_id": None}
            more.append(copy)
    if more:
        connection.execute(insert(assignments), more)
    return len(more)


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
    together: dict[int, set[str]] = defaultdict(set)
    assigned = rows.all()
    for row in assigned:
        together[row.response_id].update(row.construct_keys)
    by_construct: dict[frozenset[str], dict[str, Stage]] = {}
    result = []
    for row in assigned:
        every = frozenset(together[row.response_id])
        if every not in by_construct:
            # The fields are those that the project's own pages would show at this stage.
            by_construct[every] = {
                key: stage
                for stage in stages_of(study.config, every)
                for key in stage.construct_keys
            }
        by_key = by_construct[every]
        keys = tuple(row.construct_keys)
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
