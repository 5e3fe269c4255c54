"""The newest revision of a rating or comparison, as pages show it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from study.facts import ratings as facts
from study.facts.comparison_decisions import newest_decisions
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


# Made once: every page and many a save run these.
_RATINGS = select(facts.newest_ratings(table(Rating).c.assignment_id == bindparam("assignment")))
_DECISION = select(newest_decisions(table(Decision).c.comparison_id == bindparam("comparison")))


def newest_ratings(connection: Connection, assignment_id: int) -> dict[str, StoredAnswer]:
    """Return the newest rating of each construct of an assignment."""
    rows = connection.execute(_RATINGS, {"assignment": assignment_id})
    return {row.construct_key: as_stored(row) for row in rows}


def newest_decision(connection: Connection, comparison_id: int) -> StoredAnswer | None:
    """Return the newest decision of a comparison; None where there is none."""
    row = connection.execute(_DECISION, {"comparison": comparison_id}).one_or_none()
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
