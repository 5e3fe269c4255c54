"""How often somebody looked at interim figures while people were still rating."""

from sqlalchemy import Connection, func, select

from study.facts.ratings import MEASURING
from study.schema import Assignment, Look, Rating, table


def values_so_far(connection: Connection) -> int:
    """Return how many values people have given that measure something, changes not counted."""
    g, a = table(Rating), table(Assignment)
    given = (
        select(g.c.assignment_id, g.c.construct_key)
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .where(a.c.purpose.in_(MEASURING))
        .distinct()
        .subquery()
    )
    return int(connection.execute(select(func.count()).select_from(given)).scalar_one())


def interim_looks(connection: Connection) -> dict[str, int]:
    """Return by kind how often somebody looked before the last values were there."""
    t = table(Look)
    rows = connection.execute(
        select(t.c.kind, func.count())
        .where(t.c.ratings < values_so_far(connection))
        .group_by(t.c.kind)
        .order_by(t.c.kind)
    )
    return {kind: int(count) for kind, count in rows}
