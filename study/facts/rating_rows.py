"""Every rating with what its rater said and how long it took, a row each."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from study.facts.active_time import active_seconds
from study.facts.current_responses import response_versions
from study.facts.departures import departures
from study.facts.ratings import REJECTED, counted_ratings, newest_ratings
from study.facts.replies import newest_replies, said
from study.facts.slots import OWN_CHANNEL
from study.schema.tables import assignments, queries, raters, ratings, responses
from study.settings.study_toml import StudyConfig

AFTER_REVEAL = "after the reveal"
WITHDRAWN = "withdrawn"


class RatingRow(NamedTuple):
    """A rating: the revision that counts, with the newest words; of a rejected one, the newest."""

    rater: str
    response_id: str
    query_id: str
    construct: str
    purpose: str
    repeat: int
    value: float | None
    missing_reason: str | None
    revision: int
    """Number of the newest revision."""
    not_counted: str | None
    """Why it is in no figure: `AFTER_REVEAL`, or the reason of a withdrawal; null: it may be."""
    seconds: float | None
    """Active seconds of all its revisions, see `study.facts.active_time`."""
    comment: str | None
    remarks: str | None
    reply: str | None
    """The owner's newest words on the comment, or on an earlier one."""
    replied_to: str | None
    """The earlier comment and remarks that the reply is about; null: it is about these."""
    first_saved_at: datetime
    last_saved_at: datetime
    response: int
    """The response's database key, for links."""
    assignment: str
    """The assignment's public id."""
    reply_read: bool
    may_reply: bool
    """Whether the rater takes part on the project's own pages, where they read a reply."""

    @property
    def has_words(self) -> bool:
        """Whether the rater wrote or ticked something."""
        return bool(self.comment or self.remarks)


RATING_COLUMNS = RatingRow._fields[: RatingRow._fields.index("response")]
"""Names of the cells that an export has."""


def rating_rows(connection: Connection, config: StudyConfig) -> Iterator[RatingRow]:
    """Yield the ratings of all raters, in the order in which they were first saved."""
    versions = connection.execute(
        select(responses.c.id, responses.c.key, responses.c.version).order_by(responses.c.id)
    ).all()
    ids = response_versions([(row[0], row[1], row[2]) for row in versions], []).ids
    seconds = active_seconds(connection).by_rating
    replies, gone = newest_replies(connection), departures(connection)
    known = [construct.key for construct in config.constructs]
    counted, newest = counted_ratings(), newest_ratings()
    # What a rejection, the newest revision, has rejected.
    before = ratings.alias("before")
    first = ratings.alias("first")
    rows = connection.execute(
        select(
            *(raters.c.code, responses.c.key, queries.c.key.label("query")),
            *(assignments.c.response_id, assignments.c.purpose, assignments.c.repeat),
            *(assignments.c.public_id, assignments.c.rater_id, assignments.c.channel),
            *(counted.c.assignment_id, counted.c.construct_key, counted.c.value, counted.c.status),
            *(counted.c.answered, counted.c.entered_after_reveal, counted.c.saved_at),
            *(newest.c.revision, newest.c.comment, newest.c.flags, newest.c.reason),
            *(before.c.value.label("rejected_value"), before.c.status.label("rejected_status")),
            *(before.c.comment.label("rejected_comment"), before.c.flags.label("rejected_flags")),
            first.c.created_at.label("first_saved_at"),
        )
        .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
        .join(
            newest,
            (newest.c.assignment_id == counted.c.assignment_id)
            & (newest.c.construct_key == counted.c.construct_key),
        )
        .join(
            before,
            (before.c.assignment_id == newest.c.assignment_id)
            & (before.c.construct_key == newest.c.construct_key)
            & (before.c.revision == newest.c.revision - 1)
            & (newest.c.status == "withdrawn")
            & (newest.c.reason == REJECTED),
            isouter=True,
        )
        .join(first, first.c.id == counted.c.first_id)
        .join(raters, raters.c.id == assignments.c.rater_id)
        .join(responses, responses.c.id == assignments.c.response_id)
        .join(queries, queries.c.id == responses.c.query_id)
        .where(counted.c.construct_key.in_(known))
        .order_by(counted.c.first_id)
    )
    for row in rows:
        withdrawn = (row.reason or WITHDRAWN) if not row.answered else None
        late = AFTER_REVEAL if row.entered_after_reveal else None
        rejected = row.rejected_status is not None
        value, status, comment, flags = (
            (row.rejected_value, row.rejected_status, row.rejected_comment, row.rejected_flags)
            if rejected
            else (row.value, row.status, row.comment, row.flags)
        )
        reply = replies.get((row.assignment_id, row.construct_key))
        yield RatingRow(
            row.code,
            ids.get(row.response_id, row.key),
            row.query,
            row.construct_key,
            row.purpose,
            row.repeat,
            value,
            None if status == "rated" else status,
            row.revision,
            withdrawn or late,
            seconds.get((row.assignment_id, row.construct_key)),
            comment,
            "; ".join(flags) or None,
            None if reply is None else reply.words,
            None if reply is None or reply.said == said(comment, flags) else reply.said,
            row.first_saved_at,
            row.saved_at,
            row.response_id,
            row.public_id,
            reply is not None and reply.read,
            row.channel == OWN_CHANNEL and row.rater_id not in gone,
        )
