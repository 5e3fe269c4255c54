"""The last page: did the rater recognize a system? And the completion code."""

from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import Connection, insert, select

from study.errors import StudyError
from study.schema import ClosingAnswerBase
from study.schema.tables import closing_answers
from study.settings.rating import RatingSpec
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


_PLACE = "{code}"


@dataclass(frozen=True)
class Completion:
    """The completion code and link of the last page."""

    code: str | None
    url: str | None
    """A link; no request is sent there unless the rater follows it."""


def completion(rating: RatingSpec) -> Completion | None:
    """Return the code and address of study.toml; None: it has neither.

    Raises
    ------
    StudyError
        The address has a placeholder for a code, but no code is set.
    """
    code, url = rating.completion_code, rating.completion_url
    if code is None and url is None:
        return None
    if url is not None and _PLACE in url:
        if code is None:
            raise StudyError(
                f"rating.completion_url in study.toml contains {_PLACE}; set "
                "rating.completion_code, or remove the placeholder."
            )
        url = url.replace(_PLACE, quote(code, safe=""))
    return Completion(code, url)
