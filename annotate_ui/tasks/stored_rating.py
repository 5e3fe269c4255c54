"""The rating as it stands, for whoever saved or shows it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from study.schema import Rating, table


@dataclass(frozen=True)
class StoredAnswer:
    """The rating as it stands."""

    construct: str
    revision: int
    value: float | None
    status: str
    reason: str | None
    comment: str | None
    flags: tuple[str, ...]
    input_kind: str | None
    saved_at: datetime
    late: bool
    unchanged: bool = False
    """Nothing was written: this very content was stored already."""


def newest_ratings(connection: Connection, assignment_id: int) -> dict[str, StoredAnswer]:
    """Return the newest rating of each construct of an assignment."""
    g = table(Rating)
    rows = connection.execute(
        select(g).where(g.c.assignment_id == assignment_id).order_by(g.c.revision)
    )
    return {row.construct_key: as_stored(row) for row in rows}


def as_stored(row: Row[Any], *, unchanged: bool = False) -> StoredAnswer:
    """Return a row of the table of ratings as what stands."""
    return StoredAnswer(
        construct=row.construct_key,
        revision=row.revision,
        value=row.value,
        status=row.status,
        reason=row.reason,
        comment=row.comment,
        flags=tuple(row.flags),
        input_kind=row.input_kind,
        saved_at=row.created_at,
        late=bool(row.late),
        unchanged=unchanged,
    )
