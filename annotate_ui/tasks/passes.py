"""Steps of a rater's work, the pages that show them, and the passes that group them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from annotate_ui.tasks.assignments import FEEDBACK, WITH_FEEDBACK, AssignedItem, Phase
from annotate_ui.tasks.stages import Stage
from study.types import Sees


@dataclass(frozen=True)
class Step:
    """One response at one stage."""

    item: AssignedItem
    stage: Stage
    construct_keys: tuple[str, ...]
    """Constructs that are rated here, in order."""
    query_number: int
    query_count: int
    """Of the training's attempt in training, else of everything but training."""
    response_number: int
    response_count: int
    part: int
    """Place of the stage among those of the pass, from 1."""
    part_count: int
    fields_before: tuple[Sees, ...]
    """Fields that the previous stage shows."""

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
        """Whether it is not done yet."""
        return not self.done and not self.item.replaced


@dataclass(frozen=True)
class TaskPage:
    """One page: a step, several steps side by side, or feedback."""

    steps: tuple[Step, ...]
    """Empty: the page shows the feedback on `item`."""
    item: AssignedItem
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
        """Whether the page shows expected values or the values of others, and asks for none."""
        return not self.steps

    @property
    def opened(self) -> bool:
        """Whether any of its content was sent to the rater."""
        return any(step.opened for step in self.steps) if self.steps else self.item.feedback_shown

    @property
    def unopened(self) -> tuple[Step, ...]:
        """The steps whose fields are still to be sent."""
        return tuple(s for s in self.steps if not s.opened and not s.item.replaced)

    @property
    def is_left(self) -> bool:
        """Whether it is not done, or its feedback not seen, yet."""
        if self.steps:
            return any(step.is_left for step in self.steps)
        return not self.item.feedback_shown and not self.item.replaced


@dataclass(frozen=True)
class Pass:
    """The responses to a query that are rated together, stage by stage."""

    phase: Phase
    round: int
    query_id: int
    repeat: int
    items: tuple[AssignedItem, ...]
    stages: tuple[Stage, ...]
    number: int
    count: int
    """Place among the passes that the rater sees counted together, from 1, and how many."""

    @cached_property
    def pages(self) -> tuple[TaskPage, ...]:
        """The pages in order, created on first access: a request needs only one or two passes."""
        return tuple(self._pages())

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is asked, in order."""
        return tuple(step for page in self.pages for step in page.steps)

    @property
    def is_left(self) -> bool:
        """Whether any of it is not done yet."""
        with_feedback = self.phase in WITH_FEEDBACK
        return any(
            not item.replaced and (not item.complete or (with_feedback and not item.feedback_shown))
            for item in self.items
        )

    @property
    def begun(self) -> bool:
        """Whether any of it was shown to the rater."""
        return any(item.opened for item in self.items)

    def _pages(self) -> Iterable[TaskPage]:
        before: tuple[Sees, ...] = ()
        for part, stage in enumerate(self.stages, start=1):
            steps = self._steps(stage, part, before)
            side_by_side = [step for step in steps if step.item.layout == "side_by_side"]
            if side_by_side:
                yield TaskPage(tuple(side_by_side), side_by_side[0].item)
            for step in steps:
                if step.item.layout != "side_by_side":
                    yield TaskPage((step,), step.item)
            before = stage.fields
        if self.phase in WITH_FEEDBACK:
            # After all steps of the query: feedback on one response must not precede values.
            yield from (TaskPage((), item) for item in self.items)

    def _steps(self, stage: Stage, part: int, before: tuple[Sees, ...]) -> list[Step]:
        items = [i for i in self.items if stage.construct_keys.intersection(i.construct_keys)]
        return [
            Step(
                item,
                stage,
                tuple(key for key in item.construct_keys if key in stage.construct_keys),
                self.number,
                self.count,
                place,
                len(items),
                part,
                len(self.stages),
                before,
            )
            for place, item in enumerate(items, start=1)
        ]
