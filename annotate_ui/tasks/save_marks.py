"""Marks as the payload of a save: the sentences of a response that carry a judgment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Connection, Row, insert, select

from annotate_ui.tasks.answers import MarksInput
from annotate_ui.tasks.refusals import InvalidError
from annotate_ui.tasks.save import AnswerTarget, Revision
from annotate_ui.tasks.save_rating import OpenedStep, opened_step
from study.schema import SentenceMarksBase
from study.schema.tables import responses, sentence_marks
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

    def stored(self, connection: Connection) -> Sequence[Row[Any]]:
        """Return the revisions of these marks and the row under the key."""
        marks = sentence_marks.c
        return connection.execute(
            select(sentence_marks)
            .where(
                marks.assignment_id == self.opened.assignment.id,
                (marks.construct_key == self.submission.construct_key)
                | (marks.idempotency_key == self.submission.key),
            )
            .order_by(marks.revision)
        ).all()

    def insert(self, connection: Connection, revision: Revision) -> Row[Any]:
        """Write the marks with the fields that their rater had been shown; renew the lease."""
        columns = revision.columns
        seen = self.opened.circumstances(connection, revision.previous)
        known = {name: columns[name] for name in SentenceMarksBase.model_fields if name in columns}
        row = SentenceMarksBase.model_validate({**known, **seen})
        written = connection.execute(
            insert(sentence_marks)
            .values(**{**columns, **row.model_dump()}, assignment_id=self.opened.assignment.id)
            .returning(sentence_marks)
        ).one()
        self.opened.renew(connection, late=row.late)
        return written
