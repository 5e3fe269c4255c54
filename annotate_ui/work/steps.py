"""The steps of a rater's work: one response at one stage, in the order in which they are done.

A rater does a stage for all their responses to a query, one at a time, before the next stage
opens; then comes the next query. A repeat of a query is a pass of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import aliased

from annotate_ui.stages import Stage, stages
from study.config import StudyConfig
from study.nouns import Assignment, Rating, Response, Reveal, table
from study.words import Sees

OWN_CHANNEL = "own"
"""Assignments of other channels are rated elsewhere."""


@dataclass(frozen=True)
class Item:
    """An assignment of a rater, with what has been done of it."""

    id: int
    public_id: str
    response_id: int
    query_id: int
    repeat: int
    construct_keys: tuple[str, ...]
    """In the order to rate; constructs that study.toml no longer has are left out."""
    leased_until: datetime | None
    replaced: bool
    """The lease ran out and the slot was handed on; what was saved counts nonetheless."""
    rated: frozenset[str]
    """Constructs that have a rating of any status."""
    opened: Mapping[int, tuple[Sees, ...]]
    """Stages that were sent to the rater, with the fields that were shown."""


@dataclass(frozen=True)
class Step:
    """One response at one stage."""

    item: Item
    stage: Stage
    construct_keys: tuple[str, ...]
    """What is rated here, in order."""
    query_number: int
    response_number: int
    response_count: int
    part: int
    """Place of the stage among those of the pass, from 1."""
    part_count: int

    @property
    def done(self) -> bool:
        """Whether every construct of the step has a rating."""
        return self.item.rated.issuperset(self.construct_keys)

    @property
    def opened(self) -> bool:
        """Whether the step's fields were sent to the rater."""
        return self.stage.number in self.item.opened

    @property
    def shown(self) -> tuple[Sees, ...]:
        """The fields that the rater was shown when the step was opened, and no others."""
        return self.item.opened.get(self.stage.number, ())


@dataclass(frozen=True)
class Progress:
    """Counts of values: a construct of a response that was rated, skipped or cannot be judged."""

    done: int
    total: int
    queries_done: int
    queries_total: int

    @property
    def left(self) -> int:
        """How many values are still to be given."""
        return self.total - self.done


@dataclass(frozen=True)
class Work:
    """Everything that a rater was given, in order."""

    steps: tuple[Step, ...]

    @property
    def frontier(self) -> Step | None:
        """The step whose turn it is: the first that is not done. None when all are."""
        return next((s for s in self.steps if not s.done and not s.item.replaced), None)

    def find(self, public_id: str, stage: int) -> Step | None:
        """Return the step at this address, if it is this rater's."""
        return next(
            (s for s in self.steps if s.item.public_id == public_id and s.stage.number == stage),
            None,
        )

    def before(self, step: Step) -> Step | None:
        """Return the opened step before this one."""
        earlier = self.steps[: self.steps.index(step)]
        return next((s for s in reversed(earlier) if s.opened), None)

    def after(self, step: Step) -> Step | None:
        """Return the opened step after this one."""
        later = self.steps[self.steps.index(step) + 1 :]
        return next((s for s in later if s.opened), None)

    @property
    def progress(self) -> Progress:
        """Count what is done; slots that were handed on count with what they hold."""
        queries: dict[tuple[int, int], bool] = {}
        done = total = 0
        for step in self.steps:
            rated = len(step.item.rated.intersection(step.construct_keys))
            done += rated
            total += rated if step.item.replaced else len(step.construct_keys)
            key = (step.item.query_id, step.item.repeat)
            queries[key] = queries.get(key, True) and (step.done or step.item.replaced)
        return Progress(done, total, sum(queries.values()), len(queries))


def rater_work(connection: Connection, config: StudyConfig, rater_id: int) -> Work:
    """Return the steps of a rater, in order."""
    steps: list[Step] = []
    passes: dict[tuple[int, int], list[Item]] = {}
    for item in _items(connection, config, rater_id):
        passes.setdefault((item.query_id, item.repeat), []).append(item)
    for number, items in enumerate(passes.values(), start=1):
        steps += _steps_of_a_pass(config, items, number)
    return Work(tuple(steps))


def progress_of(connection: Connection, config: StudyConfig, rater_id: int) -> Progress:
    """Count what a rater has done and what is left."""
    return rater_work(connection, config, rater_id).progress


def stages_of(config: StudyConfig, construct_keys: Iterable[str]) -> tuple[Stage, ...]:
    """Return the stages in which these constructs of the study are rated."""
    wanted = set(construct_keys)
    return stages(
        (construct for construct in config.constructs if construct.key in wanted),
        staged=config.rating.disclosure == "staged",
    )


def _steps_of_a_pass(config: StudyConfig, items: list[Item], number: int) -> list[Step]:
    found = stages_of(config, (key for item in items for key in item.construct_keys))
    steps = []
    for part, stage in enumerate(found, start=1):
        taking_part = [i for i in items if stage.construct_keys.intersection(i.construct_keys)]
        for place, item in enumerate(taking_part, start=1):
            keys = tuple(key for key in item.construct_keys if key in stage.construct_keys)
            steps.append(Step(item, stage, keys, number, place, len(taking_part), part, len(found)))
    return steps


def _items(connection: Connection, config: StudyConfig, rater_id: int) -> list[Item]:
    a, r, g, v = table(Assignment), table(Response), table(Rating), table(Reveal)
    successor = aliased(a)
    mine = (a.c.rater_id == rater_id) & (a.c.channel == OWN_CHANNEL)
    rated = _grouped(
        connection.execute(
            select(g.c.assignment_id, g.c.construct_key)
            .join_from(g, a, g.c.assignment_id == a.c.id)
            .where(mine)
            .distinct()
            .order_by(g.c.assignment_id)
        )
    )
    opened: dict[int, dict[int, tuple[Sees, ...]]] = {}
    for shown in connection.execute(
        select(v.c.assignment_id, v.c.stage, v.c.fields)
        .join_from(v, a, v.c.assignment_id == a.c.id)
        .where(mine)
    ):
        opened.setdefault(shown.assignment_id, {})[shown.stage] = tuple(shown.fields)
    known = {construct.key for construct in config.constructs}
    rows = connection.execute(
        select(
            a.c.id,
            a.c.public_id,
            a.c.response_id,
            r.c.query_id,
            a.c.repeat,
            a.c.construct_keys,
            a.c.leased_until,
            successor.c.id.label("successor"),
        )
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(successor, successor.c.replaces_id == a.c.id, isouter=True)
        .where(mine)
        .order_by(a.c.position, a.c.id)
    )
    return [
        Item(
            id=row.id,
            public_id=row.public_id,
            response_id=row.response_id,
            query_id=row.query_id,
            repeat=row.repeat,
            construct_keys=tuple(key for key in row.construct_keys if key in known),
            leased_until=row.leased_until,
            replaced=row.successor is not None,
            rated=frozenset(rated.get(row.id, ())),
            opened=opened.get(row.id, {}),
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Any]) -> dict[int, list[Any]]:
    return {key: [row[1] for row in group] for key, group in groupby(rows, itemgetter(0))}
