"""The rules that raters were given on the project's own pages."""

from collections.abc import Mapping

from sqlalchemy import Connection, and_, select, tuple_

from study.facts.ratings import MEASURING
from study.schema import Assignment, Construct, Rating, table


def rules_of_raters(
    connection: Connection, versions: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Return the rules of each construct that was rated with the rules in view.

    `versions` holds the current version of each construct; ratings of others do not count.
    Constructs without rules are left out.
    """
    c, g, a = table(Construct), table(Rating), table(Assignment)
    rows = connection.execute(
        select(c.c.key, c.c.rules).where(
            tuple_(c.c.key, c.c.version).in_(list(versions.items())),
            select(g.c.id)
            .join_from(g, a, g.c.assignment_id == a.c.id)
            .where(
                and_(
                    g.c.construct_key == c.c.key,
                    g.c.construct_version == c.c.version,
                    g.c.rules_hash.is_not(None),
                    a.c.purpose.in_(MEASURING),
                )
            )
            .exists(),
        )
    )
    found = {row.key: tuple(row.rules) for row in rows if row.rules}
    return {key: found[key] for key in versions if key in found}
