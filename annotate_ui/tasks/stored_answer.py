"""The newest revision of a rating or comparison, as pages show it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from study.schema import Decision, Rating, table


@dataclass(frozen=True)
class StoredAnswer:
    """A stored revision of a rating or a comparison."""

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
    """Nothing was written: the same content was stored already."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script needs to know, as values that JSON can hold."""
        return {
            "construct": self.construct,
            "revision": self.revision,
            "value": self.value,
            "status": self.status,
            "reason": self.reason,
            "comment": self.comment,
            "flags": list(self.flags),
            "saved_at": self.saved_at.isoformat(),
            "unchanged": self.unchanged,
            "late": self.late,
        }


def newest_ratings(connection: Connection, assignment_id: int) -> dict[str, StoredAnswer]:
    """Return the newest rating of each construct of an assignment."""
    g = table(Rating)
    rows = connection.execute(
        select(g).where(g.c.assignment_id == assignment_id).order_by(g.c.revision)
    )
    return {row.construct_key: as_stored(row) for row in rows}


def newest_decision(connection: Connection, comparison_id: int) -> StoredAnswer | None:
    """Return the newest decision of a comparison; None where there is none."""
    d = table(Decision)
    row = connection.execute(
        select(d).where(d.c.comparison_id == comparison_id).order_by(d.c.revision.desc()).limit(1)
    ).one_or_none()
    return None if row is None else as_stored(row)


def as_stored(row: Row[Any], *, unchanged: bool = False) -> StoredAnswer:
    """Return a row of ratings or decisions as an answer; decisions have no flags and no lease."""
    return StoredAnswer(
        construct=row.construct_key,
        revision=row.revision,
        value=row.value,
        status=row.status,
        reason=row.reason,
        comment=row.comment,
        flags=tuple(getattr(row, "flags", ())),
        input_kind=row.input_kind,
        saved_at=row.created_at,
        late=bool(getattr(row, "late", False)),
        unchanged=unchanged,
    )
