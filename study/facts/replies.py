"""What the owner wrote on raters' comments, and whether the raters have read it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, select

from study.facts.ratings import AS_ENTERED
from study.schema.tables import ratings, replies


@dataclass(frozen=True)
class CommentReply:
    """The newest words of the owner on one comment."""

    id: int
    """Database key of the words."""
    words: str
    at: datetime
    read: bool
    """Whether the rater has said that they read them."""
    said: str
    """What the rater had written when the owner wrote them, see `said`."""


def said(comment: str | None, remarks: Sequence[str]) -> str:
    """Return the comment and the ticked remarks of a revision as one text."""
    return "\n".join([*([comment] if comment else []), *remarks])


def newest_replies(
    connection: Connection, *conditions: ColumnElement[bool]
) -> dict[tuple[int, str], CommentReply]:
    """Return the replies by assignment and construct; `conditions` refer to `replies`."""
    found: dict[tuple[int, str], CommentReply] = {}
    rows = connection.execute(select(replies).where(*conditions).order_by(replies.c.revision)).all()
    commented = _comments(connection, *conditions)
    for row in rows:
        place = row.assignment_id, row.construct_key
        if row.status == "replied" and row.words is not None:
            # Replies and ratings are rows of one table, whose ids rise in the order of writing.
            words = [text for key, text in commented.get(place, ()) if key < row.id]
            answered = words[-1] if words else ""
            found[place] = CommentReply(row.id, row.words, row.created_at, False, answered)
        elif row.status == "read" and place in found:
            found[place] = replace(found[place], read=True)
    return found


def _comments(
    connection: Connection, *conditions: ColumnElement[bool]
) -> dict[tuple[int, str], list[tuple[int, str]]]:
    """Return id and words of what raters entered where there are replies, the earliest first."""
    found = defaultdict[tuple[int, str], list[tuple[int, str]]](list)
    replied = select(replies.c.assignment_id).where(*conditions)
    rows = connection.execute(
        select(ratings)
        .where(AS_ENTERED, ratings.c.assignment_id.in_(replied))
        .order_by(ratings.c.revision)
    )
    for row in rows:
        place = row.assignment_id, row.construct_key
        found[place].append((row.id, said(row.comment, row.flags)))
    return found
