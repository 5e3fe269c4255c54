"""How often somebody looked at interim figures while people were still rating."""

from sqlalchemy import Connection, func, select

from study.facts.ratings import MEASURING, counted_ratings
from study.schema import Assignment, Look, table


def values_so_far(connection: Connection) -> int:
    """Return how many ratings that measure something people have entered, revisions not counted.

    Those first entered after the reveal are in no interim figure and are not counted.
    """
    g, a = counted_ratings(), table(Assignment)
    counted = (
        select(func.count())
        .select_from(g)
        .join(a, g.c.assignment_id == a.c.id)
        .where(a.c.purpose.in_(MEASURING), ~g.c.entered_after_reveal)
    )
    return int(connection.execute(counted).scalar_one())


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
