"""The slots that are reserved for Label Studio: one for each stage of each rater of a response."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from annotate_ui.label_studio import CHANNEL
from annotate_ui.tasks.stages import Stage, stages_of
from study.facts.slots import is_live
from study.schema import Assignment, Response, random_id, table
from study.study import Study


@dataclass(frozen=True)
class Slot:
    """An assignment of this channel that was not handed on or taken back."""

    id: int
    rater_id: int | None
    response_id: int
    query_id: int
    construct_keys: tuple[str, ...]
    """As they were assigned; study.toml may have fewer by now."""
    asked: tuple[str, ...]
    """Those of them that study.toml still has; only they are asked of anybody new."""
    stage: Stage
    repeat: int

    @property
    def wanted(self) -> tuple[int, frozenset[str]]:
        """The response, and the constructs that are asked for."""
        return self.response_id, frozenset(self.construct_keys)


_NOTHING = Stage(1, frozenset(), ())
"""Of a slot of which study.toml has no construct any more."""


def split_by_stage(
    connection: Connection,
    study: Study,
    held: Mapping[tuple[int, frozenset[str]], int],
    settled: Collection[int],
) -> int:
    """Give each stage a slot of its own, so that each may be rated by another; return how many.

    Label Studio hands tasks to whoever comes, so the rater of one stage may not be that of the
    next. A slot that is split keeps the first stage's constructs; those that study.toml no longer
    has go. `held` holds for how many slots there are tasks over there, by response and
    constructs: these slots stay as they are, since annotations are matched by their constructs.
    `settled` are slots that were rated at places that are not over there any more.
    """
    a = table(Assignment)
    made = 0
    rows = connection.execute(
        select(a).where(a.c.channel == CHANNEL, a.c.rater_id.is_(None)).order_by(a.c.id)
    ).all()
    kept = Counter(held)
    claimed = select(a.c.id, a.c.response_id, a.c.construct_keys).where(
        a.c.channel == CHANNEL, a.c.rater_id.is_not(None)
    )
    for slot, response, claimed_keys in connection.execute(claimed):
        if slot not in settled:
            kept[response, frozenset(claimed_keys)] -= 1
    known: dict[tuple[str, ...], list[list[str]]] = {}
    more: list[dict[str, Any]] = []
    for row in rows:
        keys = tuple(row.construct_keys)
        if kept[row.response_id, frozenset(keys)] > 0:
            kept[row.response_id, frozenset(keys)] -= 1
            continue
        if keys not in known:
            known[keys] = [
                [key for key in keys if key in stage.construct_keys]
                for stage in stages_of(study.config, keys)
            ]
        first, *others = known[keys] or [list(keys)]
        if tuple(first) == keys:
            continue
        connection.execute(update(a).where(a.c.id == row.id).values(construct_keys=first))
        for part in others:
            copy = {name: value for name, value in row._mapping.items() if name != "id"}
            copy |= {"construct_keys": part, "public_id": random_id(), "replaces_id": None}
            more.append(copy)
            made += 1
    if more:
        connection.execute(insert(a), more)
    return made


def slots(connection: Connection, study: Study, *, gone: bool = False) -> list[Slot]:
    """Return the slots of this channel in the order of work; `gone`: those handed on instead."""
    a, r = table(Assignment), table(Response)
    rows = connection.execute(
        select(a.c.id, a.c.rater_id, a.c.response_id, r.c.query_id, a.c.construct_keys, a.c.repeat)
        .join_from(a, r, a.c.response_id == r.c.id)
        .where(a.c.channel == CHANNEL, ~is_live() if gone else is_live())
        .order_by(a.c.position, a.c.id)
    )
    together: dict[int, set[str]] = defaultdict(set)
    taken = rows.all()
    for row in taken:
        together[row.response_id].update(row.construct_keys)
    known: dict[frozenset[str], dict[str, Stage]] = {}
    found = []
    for row in taken:
        whole = frozenset(together[row.response_id])
        if whole not in known:
            # The fields are those that the project's own pages would show by then.
            known[whole] = {
                key: stage
                for stage in stages_of(study.config, whole)
                for key in stage.construct_keys
            }
        by_key = known[whole]
        keys = tuple(row.construct_keys)
        asked = tuple(key for key in keys if key in by_key)
        found.append(
            Slot(
                row.id,
                row.rater_id,
                row.response_id,
                row.query_id,
                keys,
                asked,
                by_key[asked[0]] if asked else _NOTHING,
                row.repeat,
            )
        )
    return found


def ready(found: Sequence[Slot], done: set[int]) -> list[Slot]:
    """Return the slots whose query is finished in every earlier stage.

    `done` holds the slots that somebody has rated. Only those of this channel are waited for: who
    rates on the project's own pages is shown stages by themselves.
    """
    waiting: Mapping[int, set[int]] = defaultdict(set)
    for slot in found:
        if slot.id not in done:
            waiting[slot.query_id].add(slot.stage.number)
    return [
        slot
        for slot in found
        if min(waiting[slot.query_id], default=slot.stage.number) >= slot.stage.number
    ]
