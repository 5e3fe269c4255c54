"""Which output of a system is current: the one definition, from which every other module selects.

A system's answer to a query is an output. A changed answer is the next revision; the highest is
current.
"""

from sqlalchemy import Subquery, and_, func, select

from study.schema import Output, table


def all_outputs() -> Subquery:
    """Return every output with all columns of its table.

    Further columns: `current`, and `first_id`, the id of the system's first output to the query.
    """
    o = table(Output)
    last = (
        select(
            o.c.query_id,
            o.c.system,
            func.max(o.c.revision).label("revision"),
            func.min(o.c.id).label("first_id"),
        )
        .group_by(o.c.query_id, o.c.system)
        .subquery()
    )
    same = and_(last.c.query_id == o.c.query_id, last.c.system == o.c.system)
    return (
        select(o, (o.c.revision == last.c.revision).label("current"), last.c.first_id)
        .join(last, same)
        .subquery("every_output")
    )


def current_outputs() -> Subquery:
    """Return the current output of each system to each query, with the columns of `all_outputs`."""
    every = all_outputs()
    return select(every).where(every.c.current).subquery("current_output")
