"""The steps of a rater's work: one response at one stage, in the order in which they are done.

A rater does a stage for all their responses to a query before the next stage opens; then comes
the next query. This is a pass; a query met again in another round, as a repeat, or in another
part of the work has its own pass. Responses are shown one at a time, or side by side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from annotate_ui.tasks.assignments import PHASES, AssignedItem, Phase, items_of
from annotate_ui.tasks.passes import Pass, Step, TaskPage
from annotate_ui.tasks.stages import Stage, stages_of
from study.settings.study_toml import StudyConfig


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
    """All passes of a rater, in order."""

    passes: tuple[Pass, ...]

    @cached_property
    def pages(self) -> tuple[TaskPage, ...]:
        """The pages of the work, in order."""
        return tuple(page for pass_ in self.passes for page in pass_.pages)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the work, in order."""
        return tuple(step for page in self.pages for step in page.steps)

    @property
    def frontier(self) -> Step | None:
        """The first step that is not done, due or not. None when all are."""
        left = (step for pass_ in self.passes if pass_.is_left for step in pass_.steps)
        return next((step for step in left if step.is_left), None)

    def turn(self, phase: Phase) -> TaskPage | None:
        """Return the first page of a part of the work that is still to do."""
        mine = (pass_ for pass_ in self.passes if pass_.phase == phase and pass_.is_left)
        return next((page for pass_ in mine for page in pass_.pages if page.is_left), None)

    def find(self, public_id: str, stage: int) -> Step | None:
        """Return the step at this address, if it is this rater's."""
        steps = (s for pass_ in self._with(public_id) for s in pass_.steps)
        at = (public_id, stage)
        return next((s for s in steps if (s.item.public_id, s.stage.number) == at), None)

    def page_of(self, step: Step) -> TaskPage:
        """Return the page that shows a step."""
        pages = (page for pass_ in self._with(step.item.public_id) for page in pass_.pages)
        return next(page for page in pages if step in page.steps)

    def feedback_of(self, public_id: str) -> TaskPage | None:
        """Return the feedback on a response, if it is this rater's."""
        pages = (page for pass_ in self._with(public_id) for page in pass_.pages)
        return next((p for p in pages if p.is_feedback and p.item.public_id == public_id), None)

    def before(self, page: TaskPage) -> TaskPage | None:
        """Return the opened page before this one; no way leads from a repeat to first values."""
        place = self._places[page.item.public_id]
        here = self.passes[place].pages
        begun = (pass_ for pass_ in reversed(self.passes[:place]) if pass_.begun)
        earlier: Iterator[TaskPage] = chain(
            reversed(here[: here.index(page)]),
            (p for pass_ in begun for p in reversed(pass_.pages)),
        )
        if page.phase == "repeats":
            earlier = (p for p in earlier if p.phase == "repeats")
        return next((p for p in earlier if p.opened), None)

    def after(self, page: TaskPage) -> TaskPage | None:
        """Return the opened page after this one."""
        place = self._places[page.item.public_id]
        here = self.passes[place].pages
        begun = (pass_ for pass_ in self.passes[place + 1 :] if pass_.begun)
        later = chain(here[here.index(page) + 1 :], (p for pass_ in begun for p in pass_.pages))
        return next((p for p in later if p.opened), None)

    def opens_next_stage(self, page: TaskPage) -> bool:
        """Whether the page after this one shows more of the query, and was not opened before."""
        pages = self.passes[self._places[page.item.public_id]].pages
        following = pages[pages.index(page) + 1 :][:1]
        return any(
            step.stage.number > page.steps[0].stage.number
            for later in following
            if not later.opened
            for step in later.steps
        )

    def earlier_in_stage(self, page: TaskPage) -> tuple[Step, ...]:
        """Return the steps on earlier pages of the same query and stage."""
        steps = self.passes[self._places[page.item.public_id]].steps
        before = steps[: steps.index(page.steps[0])]
        return tuple(step for step in before if step.stage == page.steps[0].stage)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of each item's pass."""
        return {item.public_id: n for n, pass_ in enumerate(self.passes) for item in pass_.items}

    def _with(self, public_id: str) -> tuple[Pass, ...]:
        """Return the pass of an item; none if the item is not this rater's."""
        place = self._places.get(public_id)
        return () if place is None else (self.passes[place],)

    @property
    def has_worked(self) -> bool:
        """Whether the rater has finished a response, training excepted.

        A value saved in a slot that went to another rater does not count as work.
        """
        return any(
            item.rated and item.complete
            for pass_ in self.passes
            if pass_.phase != "training"
            for item in pass_.items
        )

    def practice(self, item: AssignedItem) -> tuple[int, int] | None:
        """Return the number of a training response in its attempt, of how many; None of others."""
        if item.phase != "training":
            return None
        training = (pass_ for pass_ in self.passes if pass_.phase == "training")
        attempt = [
            other for pass_ in training for other in pass_.items if other.round == item.round
        ]
        return attempt.index(item) + 1, len(attempt)

    @property
    def progress(self) -> Progress:
        """Count the values that are done; slots that were handed on count with their values."""
        queries: dict[tuple[int, int], bool] = {}
        done = total = 0
        for pass_ in self.passes:
            if pass_.phase == "training":
                continue
            key = pass_.query_id, pass_.repeat
            for item in pass_.items:
                rated = len(item.rated.intersection(item.construct_keys))
                done += rated
                total += rated if item.replaced else len(item.construct_keys)
                queries[key] = queries.get(key, True) and (item.complete or item.replaced)
        return Progress(done, total, sum(queries.values()), len(queries))


def rater_work(connection: Connection, config: StudyConfig, rater_id: int) -> Work:
    """Return the steps of a rater, in order."""
    together: dict[tuple[int, int, int, int], list[AssignedItem]] = {}
    for item in sorted(items_of(connection, config, rater_id), key=_order):
        key = PHASES.index(item.phase), item.round, item.query_id, item.repeat
        together.setdefault(key, []).append(item)
    passes = []
    # Most passes ask for the same constructs.
    known: dict[frozenset[str], tuple[Stage, ...]] = {}
    for items, (number, count) in zip(together.values(), _numbers(together.values()), strict=True):
        first = items[0]
        keys = frozenset(key for item in items for key in item.construct_keys)
        if keys not in known:
            known[keys] = stages_of(config, keys)
        passes.append(
            Pass(
                first.phase,
                first.round,
                first.query_id,
                first.repeat,
                tuple(items),
                known[keys],
                number,
                count,
            )
        )
    return Work(tuple(passes))


def _order(item: AssignedItem) -> tuple[int, int]:
    # Items come by position; sorting keeps that order within a round.
    return PHASES.index(item.phase), item.round


def _numbers(passes: Iterable[list[AssignedItem]]) -> list[tuple[int, int]]:
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
