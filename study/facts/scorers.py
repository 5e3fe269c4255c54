"""Names that scorers have: another of the same name would be mixed with them."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from study.schema import JudgeRun, Preference, Rater, Score, table

ADJUDICATED = " (adjudicated)"
"""What follows a rater's code where their values as an adjudicator stand in tables."""


def scorer_names(connection: Connection, juries: Iterable[str] = ()) -> set[str]:
    """Return the names of raters, imported scorers (people included), judge runs and `juries`."""
    statements = (
        select(table(Rater).c.code),
        select(table(Score).c.scorer).distinct(),
        select(table(Preference).c.scorer).distinct(),
        select(table(JudgeRun).c.name),
    )
    names = {
        str(name) for statement in statements for name in connection.execute(statement).scalars()
    }
    return names | set(juries)


def machine_names(connection: Connection) -> set[str]:
    """Return the names of judges and metrics, imported or run here."""
    score = table(Score)
    imported = select(score.c.scorer).where(score.c.scorer_kind.in_(("judge", "metric")))
    return {
        *connection.execute(imported.distinct()).scalars(),
        *connection.execute(select(table(JudgeRun).c.name)).scalars(),
    }
