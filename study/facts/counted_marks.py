"""Which marks count: the newest set, and the last one before the reveal, as for ratings."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    null,
    select,
)

from study.schema.tables import assignments, raters, sentence_marks


def newest_marks(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the newest revision of each set of marks, with all columns of the table.

    `conditions` refer to the table of marks and select all revisions of a set or none.
    """
    keys = sentence_marks.c.assignment_id, sentence_marks.c.construct_key
    last = (
        select(*keys, func.max(sentence_marks.c.revision).label("revision"))
        .where(*conditions)
        .group_by(*keys)
        .subquery()
    )
    is_last = _is_revision(sentence_marks, last, last.c.revision)
    return select(sentence_marks).join(last, is_last).subquery("newest_marks")


def counted_marks(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the revision that counts of each set of marks, with all columns of the table.

    It is the last one that was entered before the reveal; a set that was taken back or withdrawn
    is missing, whenever that happened. Sets that were first entered after the reveal are left out.
    A further column is `edited`: whether a later set was entered after the reveal. `conditions`
    are as in `newest_marks`.
    """
    newest, counting = sentence_marks.alias("newest"), sentence_marks.alias("counting")
    keys = sentence_marks.c.assignment_id, sentence_marks.c.construct_key
    before = case((sentence_marks.c.after_reveal, null()), else_=sentence_marks.c.revision)
    ends = (
        select(
            *keys,
            func.max(sentence_marks.c.revision).label("newest"),
            func.max(before).label("before"),
        )
        .where(*conditions)
        .group_by(*keys)
        .subquery("revisions_of_marks")
    )
    return (
        select(counting, (ends.c.newest != ends.c.before).label("edited"))
        .select_from(ends)
        .join(newest, _is_revision(newest, ends, ends.c.newest))
        .join(counting, _is_revision(counting, ends, ends.c.before))
        .where(newest.c.ranges.is_not(None), counting.c.ranges.is_not(None))
        .subquery("counted_marks")
    )


def marks_kept(connection: Connection, public_id: str) -> set[str]:
    """Return the constructs of an assignment, by its public id, whose newest marks don't count."""
    assignment = select(assignments.c.id).where(assignments.c.public_id == public_id)
    newest = newest_marks(sentence_marks.c.assignment_id == assignment.scalar_subquery())
    rows = connection.execute(
        select(newest.c.construct_key).where(newest.c.after_reveal, newest.c.ranges.is_not(None))
    )
    return set(rows.scalars())


def marks_of_response(connection: Connection, response_id: int) -> list[Row[Any]]:
    """Return the marks of raters on a response that count: `construct_key`, `code`, `ranges`."""
    main = select(assignments.c.id).where(
        assignments.c.response_id == response_id, assignments.c.purpose == "main"
    )
    counted = counted_marks(sentence_marks.c.assignment_id.in_(main))
    return list(
        connection.execute(
            select(counted.c.construct_key, raters.c.code, counted.c.ranges)
            .join_from(counted, assignments, counted.c.assignment_id == assignments.c.id)
            .join(raters, assignments.c.rater_id == raters.c.id)
            .order_by(counted.c.id)
        )
    )


def newest_marks_of(connection: Connection, assignment_id: int) -> dict[str, Row[Any]]:
    """Return the newest marks of an assignment, by construct."""
    rows: Any = connection.execute(_OF_ASSIGNMENT, {"assignment": assignment_id})
    return {row.construct_key: row for row in rows}


def _is_revision(marks: Any, of: Any, revision: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(
        marks.c.assignment_id == of.c.assignment_id,
        marks.c.construct_key == of.c.construct_key,
        marks.c.revision == revision,
    )


# Built once: building a statement takes longer than running it.
_OF_ASSIGNMENT = select(newest_marks(sentence_marks.c.assignment_id == bindparam("assignment")))
