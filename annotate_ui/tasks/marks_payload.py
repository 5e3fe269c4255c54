"""Marks as the payload of a save: the sentences of a response that carry a judgment."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Connection, Row, select

from annotate_ui.tasks.answers import MarksInput
from annotate_ui.tasks.rating_payload import OpenedStep, opened_step
from annotate_ui.tasks.refusals import InvalidError
from annotate_ui.tasks.save import AnswerTarget
from study.schema import RaterAnswerBase
from study.schema.human_ratings import AnswerKind
from study.schema.tables import responses
from study.sentences import range_problem
from study.settings.constructs import ConstructSpec
from study.study import Study


@dataclass(frozen=True)
class MarksPayload:
    """Marks at the step that an address names."""

    public_id: str
    """Of the assignment."""
    stage: int
    submission: MarksInput

    def find(self, connection: Connection, study: Study, rater_id: int) -> "MarksTarget":
        """Return the step, which this rater opened.

        Raises
        ------
        NotYoursError
            The step does not exist, or it was not opened by this rater.
        InvalidError
            The construct is not rated at this step, or it does not ask for marks.
        """
        address = self.public_id, self.stage
        opened = opened_step(connection, study, rater_id, address, self.submission)
        response = responses.c.id == opened.assignment.response_id
        text = connection.execute(select(responses.c.text).where(response)).scalar_one()
        return MarksTarget(self.submission, opened.construct, opened, text)


@dataclass(frozen=True)
class MarksTarget(AnswerTarget):
    """The marks of a construct in a response at a step."""

    KIND: ClassVar[AnswerKind] = "marks"
    CONTENT: ClassVar[tuple[str, ...]] = ("ranges",)

    submission: MarksInput
    construct: ConstructSpec
    opened: OpenedStep
    text: str
    """The response."""

    def check(self) -> None:
        """Refuse ranges that the response does not have."""
        if self.construct.mark_question is None:
            raise InvalidError(f"{self.construct.name} asks for no marks.", "construct")
        problem = range_problem(self.text, self.submission.ranges or ())
        if problem is not None:
            raise InvalidError(f"{problem}.", "ranges")

    @property
    def owner(self) -> int:
        """Database key of the assignment."""
        return int(self.opened.assignment.id)

    def circumstances(self, connection: Connection, previous: Row[Any] | None) -> dict[str, Any]:
        """Return what the rater had been shown, and whether the marks were taken back."""
        status = "withdrawn" if self.submission.ranges is None else "rated"
        return {"status": status, **self.opened.circumstances(connection, previous)}

    def written(self, connection: Connection, row: RaterAnswerBase) -> None:
        """Renew the lease."""
        self.opened.renew(connection, late=row.late)
