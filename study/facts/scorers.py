"""Names of scorers. Serving the rating pages reads them, so this loads no table of scores."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from study.schema.tables import judge_runs, preferences, raters, scores

ADJUDICATED = " (adjudicated)"
"""Suffix of a rater's code in tables, for the values that they gave as adjudicator."""


def scorer_names(connection: Connection, combined: Iterable[str] = ()) -> set[str]:
    """Return the names of raters, imported scorers (people included), judge runs and `combined`."""
    statements = (
        select(raters.c.code),
        select(scores.c.scorer).distinct(),
        select(preferences.c.scorer).distinct(),
        select(judge_runs.c.name),
    )
    names = {
        str(name) for statement in statements for name in connection.execute(statement).scalars()
    }
    return names | set(combined)


def machine_names(connection: Connection) -> set[str]:
    """Return the names of judges and metrics, imported or run here."""
    imported = select(scores.c.scorer).where(scores.c.scorer_kind.in_(("judge", "metric")))
    return {
        *connection.execute(imported.distinct()).scalars(),
        *connection.execute(select(judge_runs.c.name)).scalars(),
    }
