"""The number of interim analyses that were made while people were still rating."""

from sqlalchemy import Connection, func, select

from study.facts.ratings import MEASURING, counted_ratings
from study.schema import Assignment, InterimAnalysis, table


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


def interim_analysis_counts(connection: Connection) -> dict[str, int]:
    """Return by kind the number of interim analyses before the last value was entered."""
    t = table(InterimAnalysis)
    rows = connection.execute(
        select(t.c.kind, func.count())
        .where(t.c.ratings < values_so_far(connection))
        .group_by(t.c.kind)
        .order_by(t.c.kind)
    )
    return {kind: int(count) for kind, count in rows}
