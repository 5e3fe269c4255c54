"""The steps of a rater's work: one response at one stage, in the order in which they are done.

A rater does a stage for all their responses to a query before the next stage opens; then comes
the next query. This is a pass; a query met again in another round, as a repeat, or in another
part of the work has a pass of its own. Responses come one at a time, or beside each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from annotate_ui.stages import Stage, stages
from annotate_ui.work.items import OWN_CHANNEL, Item, items_of
from annotate_ui.work.passes import Page, Pass, Step
from annotate_ui.work.phases import PHASES, WITH_FEEDBACK, Phase
from study.config import StudyConfig
from study.nouns import Assignment, Rating, Response, table
from study.words import Sees

__all__ = [
    "OWN_CHANNEL",
    "Item",
    "Page",
    "Pass",
    "Progress",
    "Step",
    "Work",
    "progress_of",
    "rater_work",
    "stages_of",
]


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
        """Return the opened page before this one; no way leads from a repeat to first values."""
        earlier = self.pages[: self.pages.index(page)]
        if page.phase == "repeats":
            earlier = tuple(p for p in earlier if p.phase == "repeats")
        return next((p for p in reversed(earlier) if p.opened), None)

    def after(self, page: Page) -> Page | None:
        """Return the opened page after this one."""
        later = self.pages[self.pages.index(page) + 1 :]
        return next((p for p in later if p.opened), None)

    @property
    def has_worked(self) -> bool:
        """Whether the rater has finished a response, training excepted.

        A value saved in a slot that went to somebody else is no work to be thanked for.
        """
        return any(
            item.rated and item.complete
            for one in self.passes
            if one.phase != "training"
            for item in one.items
        )

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
    for item in sorted(items_of(connection, config, rater_id), key=_order):
        key = PHASES.index(item.phase), item.round, item.query_id, item.repeat
        together.setdefault(key, []).append(item)
    numbers = _numbers(together.values())
    passes = []
    # Most passes ask for the same constructs.
    known: dict[frozenset[str], tuple[Stage, ...]] = {}
    for items, (number, count) in zip(together.values(), numbers, strict=True):
        first = items[0]
        keys = frozenset(key for item in items for key in item.construct_keys)
        if keys not in known:
            known[keys] = stages_of(config, keys)
        pages = tuple(_pages(known[keys], items, number, count))
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


def _pages(
    found: Sequence[Stage], items: Sequence[Item], number: int, count: int
) -> Iterable[Page]:
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
