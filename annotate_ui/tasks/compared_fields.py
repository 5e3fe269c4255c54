"""What a rater was shown of a query by comparing responses to it."""

from sqlalchemy import Connection, bindparam, select

from annotate_ui.tasks.stages import FIELDS
from study.schema import Comparison, table
from study.settings.study_toml import StudyConfig
from study.types import Sees

_c = table(Comparison)
_OPENED = select(_c.c.construct_key).where(
    _c.c.rater_id == bindparam("rater"),
    _c.c.query_id == bindparam("query"),
    _c.c.opened_at.is_not(None),
)


def fields_compared(
    connection: Connection, config: StudyConfig, rater_id: int, query_id: int
) -> set[Sees]:
    """Return the fields that the opened comparisons of a query have shown to a rater."""
    opened = connection.execute(_OPENED, {"rater": rater_id, "query": query_id})
    seen: set[Sees] = set()
    for key in opened.scalars():
        spec = config.construct_spec(key)
        if spec is not None:
            seen.update(FIELDS if config.rating.disclosure == "all" else spec.sees)
    return seen
