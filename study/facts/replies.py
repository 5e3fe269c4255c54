"""What the owner wrote on raters' comments, and whether the raters have read it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, select

from study.schema.tables import replies


@dataclass(frozen=True)
class CommentReply:
    """The newest words of the owner on one comment."""

    id: int
    """Database key of the words."""
    words: str
    at: datetime
    read: bool
    """Whether the rater has said that they read them."""


def newest_replies(
    connection: Connection, *conditions: ColumnElement[bool]
) -> dict[tuple[int, str], CommentReply]:
    """Return the replies by assignment and construct; `conditions` refer to `replies`."""
    found: dict[tuple[int, str], CommentReply] = {}
    rows = connection.execute(select(replies).where(*conditions).order_by(replies.c.revision))
    for row in rows:
        place = row.assignment_id, row.construct_key
        if row.status == "replied" and row.words is not None:
            found[place] = CommentReply(row.id, row.words, row.created_at, read=False)
        elif row.status == "read" and place in found:
            before = found[place]
            found[place] = CommentReply(before.id, before.words, before.at, read=True)
    return found
