"""The steps of a rater's work: one response at one stage, in the order in which they are done.

A rater does a stage for all their responses to a query before the next stage opens; then comes
the next query. This is a pass; a query met again in another round, as a repeat, or in another
part of the work has a pass of its own. Responses come one at a time, or beside each other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from annotate_ui.stages import Stage, stages
from annotate_ui.work.phases import FEEDBACK, PHASES, WITH_FEEDBACK, Phase, phase_of
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
    purpose: str
    round: int
    repeat: int
    layout: str
    construct_keys: tuple[str, ...]
    """In the order to rate; constructs that study.toml no longer has are left out."""
    leased_until: datetime | None
    replaced: bool
    """It was handed on or taken back unfinished; what was saved counts nonetheless."""
    rated: frozenset[str]
    """Constructs that have a rating of any status."""
    opened: Mapping[int, tuple[Sees, ...]]
    """Stages that were sent to the rater, with the fields that were shown."""

    @property
    def phase(self) -> Phase:
        """The part of the work to which it belongs."""
        return phase_of(self.purpose)

    @property
    def complete(self) -> bool:
        """Whether every construct has a rating."""
        return self.rated.issuperset(self.construct_keys)

    @property
    def told(self) -> bool:
        """Whether its feedback was shown."""
        return FEEDBACK in self.opened


@dataclass(frozen=True)
class Step:
    """One response at one stage."""

    item: Item
    stage: Stage
    construct_keys: tuple[str, ...]
    """What is rated here, in order."""
    query_number: int
    query_count: int
    """Of the training's attempt in training, else of everything but training."""
    response_number: int
    response_count: int
    part: int
    """Place of the stage among those of the pass, from 1."""
    part_count: int
    fields_before: tuple[Sees, ...]
    """What the stage before shows."""

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

    @property
    def is_left(self) -> bool:
        """Whether the rater has still to do it."""
        return not self.done and not self.item.replaced


@dataclass(frozen=True)
class Page:
    """What the rater sees at once: a step, several beside each other, or feedback."""

    steps: tuple[Step, ...]
    """Without any: the feedback on `item`."""
    item: Item
    """The first response of the page."""

    @property
    def address(self) -> tuple[str, int]:
        """The public id and the stage by which the page is asked for."""
        first = next((step for step in self.steps if step.opened), None)
        if first is None and self.steps:
            first = self.steps[0]
        if first is None:
            return self.item.public_id, FEEDBACK
        return first.item.public_id, first.stage.number

    @property
    def phase(self) -> Phase:
        """The part of the work to which the page belongs."""
        return self.item.phase

    @property
    def is_feedback(self) -> bool:
        """Whether the page shows what is expected, or what others said, rather than asks."""
        return not self.steps

    @property
    def opened(self) -> bool:
        """Whether something that it shows was sent to the rater."""
        return any(step.opened for step in self.steps) if self.steps else self.item.told

    @property
    def unopened(self) -> tuple[Step, ...]:
        """The steps whose fields are still to be sent."""
        return tuple(s for s in self.steps if not s.opened and not s.item.replaced)

    @property
    def is_left(self) -> bool:
        """Whether the rater has still to do it, or to see it."""
        if self.steps:
            return any(step.is_left for step in self.steps)
        return not self.item.told and not self.item.replaced


@dataclass(frozen=True)
class Pass:
    """The responses to a query that are rated together, stage by stage."""

    phase: Phase
    round: int
    query_id: int
    repeat: int
    items: tuple[Item, ...]
    pages: tuple[Page, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is asked, in order."""
        return tuple(step for page in self.pages for step in page.steps)

    @property
    def is_left(self) -> bool:
        """Whether something of it is still to do."""
        return any(page.is_left for page in self.pages)

    @property
    def begun(self) -> bool:
        """Whether something of it was shown to the rater."""
        return any(item.opened for item in self.items)


@dataclass(frozen=True)
class Progress:
    """Counts of values: a construct of a response that was rated, skipped or cannot be judged.

    What is rated in training is not counted.
    """

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

    passes: tuple[Pass, ...]

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """What the rater sees, in order."""
        return tuple(page for one in self.passes for page in one.pages)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What is asked, in order."""
        return tuple(step for page in self.pages for step in page.steps)

    @property
    def frontier(self) -> Step | None:
        """The first step that is not done, due or not. None when all are."""
        return next((step for step in self.steps if step.is_left), None)

    def turn(self, phase: Phase) -> Page | None:
        """Return the first page of a part of the work that is still to do."""
        return next((p for p in self.pages if p.phase == phase and p.is_left), None)

    def find(self, public_id: str, stage: int) -> Step | None:
        """Return the step at this address, if it is this rater's."""
        return next(
            (s for s in self.steps if s.item.public_id == public_id and s.stage.number == stage),
            None,
        )

    def page_of(self, step: Step) -> Page:
        """Return the page that shows a step."""
        return next(page for page in self.pages if step in page.steps)

    def feedback_of(self, public_id: str) -> Page | None:
        """Return the feedback on a response, if it is this rater's."""
        return next(
            (p for p in self.pages if p.is_feedback and p.item.public_id == public_id), None
        )

    def before(self, page: Page) -> Page | None:
        """Return the opened page before this one."""
        earlier = self.pages[: self.pages.index(page)]
        return next((p for p in reversed(earlier) if p.opened), None)

    def after(self, page: Page) -> Page | None:
        """Return the opened page after this one."""
        later = self.pages[self.pages.index(page) + 1 :]
        return next((p for p in later if p.opened), None)

    @property
    def has_worked(self) -> bool:
        """Whether the rater has rated anything but training."""
        return any(i.rated for one in self.passes if one.phase != "training" for i in one.items)

    @property
    def progress(self) -> Progress:
        """Count what is done; slots that were handed on count with what they hold."""
        queries: dict[tuple[int, int], bool] = {}
        done = total = 0
        for one in self.passes:
            if one.phase == "training":
                continue
            key = one.query_id, one.repeat
            for item in one.items:
                rated = len(item.rated.intersection(item.construct_keys))
                done += rated
                total += rated if item.replaced else len(item.construct_keys)
                queries[key] = queries.get(key, True) and (item.complete or item.replaced)
        return Progress(done, total, sum(queries.values()), len(queries))


def rater_work(connection: Connection, config: StudyConfig, rater_id: int) -> Work:
    """Return the steps of a rater, in order."""
    together: dict[tuple[int, int, int, int], list[Item]] = {}
    for item in sorted(_items(connection, config, rater_id), key=_order):
        key = PHASES.index(item.phase), item.round, item.query_id, item.repeat
        together.setdefault(key, []).append(item)
    numbers = _numbers(together.values())
    passes = []
    for items, (number, count) in zip(together.values(), numbers, strict=True):
        first = items[0]
        pages = tuple(_pages(config, items, number, count))
        one = Pass(first.phase, first.round, first.query_id, first.repeat, tuple(items), pages)
        passes.append(one)
    return Work(tuple(passes))


def progress_of(connection: Connection, config: StudyConfig, rater_id: int) -> Progress:
    """Count what a rater has done and what is left, without making the steps."""
    a, r, g = table(Assignment), table(Response), table(Rating)
    successor = aliased(a)
    mine = (a.c.rater_id == rater_id) & (a.c.channel == OWN_CHANNEL) & (a.c.purpose != "training")
    known = {construct.key for construct in config.constructs}
    counts = connection.execute(
        select(g.c.assignment_id, func.count(g.c.construct_key.distinct()))
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .where(mine, g.c.construct_key.in_(known))
        .group_by(g.c.assignment_id)
    )
    rated: dict[int, int] = {row[0]: row[1] for row in counts}
    queries: dict[tuple[int, int], bool] = {}
    done = total = 0
    for assignment, query, repeat, keys, released_at, later in connection.execute(
        select(
            a.c.id, r.c.query_id, a.c.repeat, a.c.construct_keys, a.c.released_at, successor.c.id
        )
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(successor, successor.c.replaces_id == a.c.id, isouter=True)
        .where(mine)
    ):
        own = rated.get(assignment, 0)
        asked = len(known.intersection(keys))
        replaced = released_at is not None or later is not None
        done += own
        total += own if replaced else asked
        key = query, repeat
        queries[key] = queries.get(key, True) and (replaced or own >= asked)
    return Progress(done, total, sum(queries.values()), len(queries))


def stages_of(config: StudyConfig, construct_keys: Iterable[str]) -> tuple[Stage, ...]:
    """Return the stages in which these constructs of the study are rated."""
    wanted = set(construct_keys)
    return stages(
        (construct for construct in config.constructs if construct.key in wanted),
        staged=config.rating.disclosure == "staged",
    )


def _order(item: Item) -> tuple[int, int]:
    # Items come by position; sorting keeps that order within a round.
    return PHASES.index(item.phase), item.round


def _numbers(passes: Iterable[list[Item]]) -> list[tuple[int, int]]:
    """Return for each pass its number and of how many: an attempt at training by itself."""
    groups = [
        (item.phase, item.round) if (item := items[0]).phase == "training" else None
        for items in passes
    ]
    so_far: dict[Any, int] = {}
    numbers = []
    for group in groups:
        so_far[group] = so_far.get(group, 0) + 1
        numbers.append(so_far[group])
    return [(number, so_far[group]) for number, group in zip(numbers, groups, strict=True)]


def _pages(config: StudyConfig, items: list[Item], number: int, count: int) -> Iterable[Page]:
    found = stages_of(config, (key for item in items for key in item.construct_keys))
    before: tuple[Sees, ...] = ()
    for part, stage in enumerate(found, start=1):
        taking_part = [i for i in items if stage.construct_keys.intersection(i.construct_keys)]
        steps = [
            Step(
                item,
                stage,
                tuple(key for key in item.construct_keys if key in stage.construct_keys),
                number,
                count,
                place,
                len(taking_part),
                part,
                len(found),
                before,
            )
            for place, item in enumerate(taking_part, start=1)
        ]
        beside = [step for step in steps if step.item.layout == "side_by_side"]
        if beside:
            yield Page(tuple(beside), beside[0].item)
        for step in steps:
            if step.item.layout != "side_by_side":
                yield Page((step,), step.item)
        before = stage.fields
    if items[0].phase in WITH_FEEDBACK:
        # Once a query is done with, so that no value is given after feedback on another's.
        yield from (Page((), item) for item in items)


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
            a.c.purpose,
            a.c.round,
            a.c.repeat,
            a.c.layout,
            a.c.construct_keys,
            a.c.leased_until,
            a.c.released_at,
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
            purpose=row.purpose,
            round=row.round,
            repeat=row.repeat,
            layout=row.layout,
            construct_keys=tuple(key for key in row.construct_keys if key in known),
            leased_until=row.leased_until,
            replaced=row.successor is not None or row.released_at is not None,
            rated=frozenset(rated.get(row.id, ())),
            opened=opened.get(row.id, {}),
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Any]) -> dict[int, list[Any]]:
    return {key: [row[1] for row in group] for key, group in groupby(rows, itemgetter(0))}
