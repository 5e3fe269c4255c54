"""What a rater was shown of a query by comparing responses to it."""

from sqlalchemy import Connection, select

from annotate_ui.stages import FIELDS
from study.config import StudyConfig
from study.nouns import Comparison, table
from study.words import Sees


def fields_compared(
    connection: Connection, config: StudyConfig, rater_id: int, query_id: int
) -> set[Sees]:
    """Return the fields that the opened comparisons of a query have shown to a rater."""
    c = table(Comparison)
    opened = connection.execute(
        select(c.c.construct_key).where(
            c.c.rater_id == rater_id, c.c.query_id == query_id, c.c.opened_at.is_not(None)
        )
    )
    seen: set[Sees] = set()
    for key in opened.scalars():
        spec = config.construct_spec(key)
        if spec is not None:
            seen.update(FIELDS if config.rating.disclosure == "all" else spec.sees)
    return seen
