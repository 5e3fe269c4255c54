"""The owner's replies to raters' comments: written by the owner, read by the rater.

A reply is stored beside the rating whose comment it is about. Further words on the same comment,
and that the rater has read them, are its next revisions.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select

from annotate_ui.participation import lock_rater
from annotate_ui.tasks.settlement import CHANNEL, LONGEST_COMMENT
from annotate_ui.tasks.steps import rater_work
from study.errors import StudyError
from study.facts.departures import has_left
from study.facts.ratings import AS_ENTERED, newest_ratings
from study.facts.replies import newest_replies, said
from study.facts.slots import OWN_CHANNEL
from study.schema import RaterAnswerBase
from study.schema.human_ratings import Status
from study.schema.tables import assignments, rater_answers, raters, replies
from study.settings.study_toml import StudyConfig
from study.study import Study
from study.types import storable


class NoSuchCommentError(StudyError):
    """There is no comment on this construct of this assignment."""


@dataclass(frozen=True)
class ReadableReply:
    """A reply, beside the comment that it is about."""

    construct: str
    language: str
    """Of the construct's name."""
    address: str | None
    """The page with the comment; null: it is not among the rater's work any more."""
    said: str
    """The comment and remarks, as they were when the owner replied."""
    is_changed: bool
    """Whether the rater has changed them since."""
    words: str
    at: datetime
    is_new: bool
    id: int


def reply(study: Study, assignment: str, construct: str, words: str) -> None:
    """Store the owner's words on a comment.

    Parameters
    ----------
    assignment
        Public id of the assignment with the comment.
    construct
        Key of the construct.
    words
        At most 5,000 characters.

    Raises
    ------
    NoSuchCommentError
        There is no such comment.
    StudyError
        There are no words, or too many, or ones that can't be stored; or the rater can't read
        them, because they have left or rate in another place.
    """
    try:
        text = storable(words.replace("\r\n", "\n").strip())
    except ValueError as error:
        raise StudyError(f"The answer {error}. Nothing was stored.") from None
    if not text:
        raise StudyError("The answer has no words. Nothing was stored.")
    if len(text) > LONGEST_COMMENT:
        raise StudyError(
            f"The answer has {len(text)} characters; the maximum is {LONGEST_COMMENT}. "
            "Nothing was stored."
        )
    with study.write() as connection:
        one = _comments().where(
            assignments.c.public_id == assignment, _NEWEST.c.construct_key == construct
        )
        row = connection.execute(one).one_or_none()
        if row is None or not said(row.comment, row.flags):
            raise NoSuchCommentError("There is no such comment.")
        if row.channel != OWN_CHANNEL or has_left(connection, row.rater_id):
            why = "rates in another place" if row.channel != OWN_CHANNEL else "has left"
            raise StudyError(f"{row.code} {why}, and could not read it. Nothing was stored.")
        lock_rater(connection, row.rater_id)
        _store(connection, study, [row], "replied", text)


def readable_replies(
    connection: Connection, config: StudyConfig, rater_id: int
) -> list[ReadableReply]:
    """Return the replies to a rater's comments, the newest first."""
    found = newest_replies(connection, replies.c.assignment_id.in_(_of(rater_id)))
    if not found:
        return []
    addresses = {
        (step.item.id, key): f"/rate/{step.item.public_id}/{step.stage.number}"
        for step in rater_work(connection, config, rater_id).steps
        if step.opened
        for key in step.construct_keys
    }
    readable = []
    for row in connection.execute(_comments().where(assignments.c.rater_id == rater_id)):
        place = row.assignment_id, row.construct_key
        spec = config.construct_spec(row.construct_key)
        if place not in found or spec is None:
            continue
        stored_reply = found[place]
        readable.append(
            ReadableReply(
                spec.name,
                config.rating.language,
                addresses.get(place),
                stored_reply.said,
                stored_reply.said != said(row.comment, row.flags),
                stored_reply.words,
                stored_reply.at,
                not stored_reply.read,
                stored_reply.id,
            )
        )
    return sorted(readable, key=lambda one: one.id, reverse=True)


def mark_read(study: Study, rater_id: int, until: int) -> None:
    """Store that a rater has read the replies up to one; later ones stay new."""
    with study.write() as connection:
        lock_rater(connection, rater_id)
        found = newest_replies(connection, replies.c.assignment_id.in_(_of(rater_id)))
        new = {place for place, one in found.items() if not one.read and one.id <= until}
        rows = connection.execute(_comments().where(assignments.c.rater_id == rater_id)).all()
        chosen = [row for row in rows if (row.assignment_id, row.construct_key) in new]
        _store(connection, study, chosen, "read", None)


# What the owner withdrew by a rejection keeps its words.
_NEWEST = newest_ratings(AS_ENTERED)


def _comments() -> Select[Any]:
    """Return the newest words of each rating, as if none was rejected."""
    return (
        select(
            _NEWEST.c.assignment_id,
            _NEWEST.c.construct_key,
            _NEWEST.c.construct_version,
            _NEWEST.c.comment,
            _NEWEST.c.flags,
            assignments.c.rater_id,
            assignments.c.channel,
            raters.c.code,
        )
        .join_from(_NEWEST, assignments, _NEWEST.c.assignment_id == assignments.c.id)
        .join(raters, raters.c.id == assignments.c.rater_id)
    )


def _of(rater_id: int) -> Select[Any]:
    return select(assignments.c.id).where(assignments.c.rater_id == rater_id)


def _store(
    connection: Connection, study: Study, rows: list[Row[Any]], status: Status, words: str | None
) -> None:
    last = func.max(replies.c.revision)
    for row in rows:
        here = (replies.c.assignment_id == row.assignment_id) & (
            replies.c.construct_key == row.construct_key
        )
        revision = connection.execute(select(last).where(here)).scalar_one() or 0
        answer = RaterAnswerBase(
            construct_key=row.construct_key,
            construct_version=row.construct_version,
            kind="reply",
            revision=revision + 1,
            status=status,
            comment=words,
            channel=CHANNEL if status == "replied" else OWN_CHANNEL,
        )
        beside = {"config_hash": study.config_hash, "assignment_id": row.assignment_id}
        connection.execute(insert(rater_answers).values(**answer.model_dump(), **beside))
