"""Names that scorers have: a rater of the same name would be mixed with them."""

from sqlalchemy import Connection, select

from study.nouns import JudgeRun, Preference, Score, table


def scorer_names(connection: Connection) -> set[str]:
    """Return the names of imported scorers, people included, and of judge runs."""
    statements = (
        select(table(Score).c.scorer).distinct(),
        select(table(Preference).c.scorer).distinct(),
        select(table(JudgeRun).c.name),
    )
    return {str(name) for one in statements for name in connection.execute(one).scalars()}
