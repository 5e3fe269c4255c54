"""The last page: did the rater recognize a system?"""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from study.schema import ClosingAnswerBase
from study.schema.tables import closing_answers
from study.study import Study


@dataclass(frozen=True)
class Closing:
    """A rater's answer to the closing question."""

    recognized: str
    comment: str | None


def closing_answer(connection: Connection, rater_id: int) -> Closing | None:
    """Return the rater's newest answer."""
    row = connection.execute(
        select(closing_answers.c.recognized, closing_answers.c.comment)
        .where(closing_answers.c.rater_id == rater_id)
        .order_by(closing_answers.c.id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else Closing(row.recognized, row.comment)


def answer_closing(study: Study, rater_id: int, answer: ClosingAnswerBase) -> None:
    """Store the rater's answer; a changed one is a further row, the same one none."""
    new = Closing(answer.recognized, answer.comment)
    with study.write() as connection:
        if closing_answer(connection, rater_id) != new:
            connection.execute(
                insert(closing_answers).values(**answer.model_dump(), rater_id=rater_id)
            )
