"""What a rater does and sees: steps, the pages that show them, and the passes that they make up."""

from dataclasses import dataclass

from annotate_ui.stages import Stage
from annotate_ui.work.items import Item
from annotate_ui.work.phases import FEEDBACK, Phase
from study.words import Sees


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
