"""Who has left the study, defined once for all modules.

A rater leaves by withdrawing or by being removed, and has left until the owner readmits them. The
newest row decides. A readmission of a rater who had not left waives the training.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, bindparam, select

from study.schema.tables import departures as departure_table

DepartureKind = Literal["withdrew", "removed"]

_READMITTED = "readmitted"
_NEWEST = (
    select(departure_table.c.kind, departure_table.c.created_at)
    .where(departure_table.c.rater_id == bindparam("rater"))
    .order_by(departure_table.c.id.desc())
    .limit(1)
)


def left_at(connection: Connection, rater_id: int) -> datetime | None:
    """Return when a rater left; None: they take part."""
    newest = connection.execute(_NEWEST, {"rater": rater_id}).one_or_none()
    if newest is None or newest.kind == _READMITTED:
        return None
    at: datetime = newest.created_at
    return at


def has_left(connection: Connection, rater_id: int) -> bool:
    """Whether a rater withdrew or was removed, and was not readmitted since."""
    return left_at(connection, rater_id) is not None


def departures(
    connection: Connection, rater_ids: Iterable[int] | None = None
) -> dict[int, DepartureKind]:
    """Return the raters who have left and how; `rater_ids` restricts the query to these raters."""
    rows = select(departure_table.c.rater_id, departure_table.c.kind).order_by(departure_table.c.id)
    if rater_ids is not None:
        rows = rows.where(departure_table.c.rater_id.in_(list(rater_ids)))
    newest = {row.rater_id: row.kind for row in connection.execute(rows)}
    return {rater: kind for rater, kind in newest.items() if kind != _READMITTED}


def readmitted_without_leaving(connection: Connection, rater_id: int) -> bool:
    """Whether the owner readmitted a rater who had not left at that time."""
    kinds = connection.execute(
        select(departure_table.c.kind)
        .where(departure_table.c.rater_id == rater_id)
        .order_by(departure_table.c.id)
    ).scalars()
    away = False
    for kind in kinds:
        if kind == _READMITTED and not away:
            return True
        away = kind != _READMITTED
    return False
