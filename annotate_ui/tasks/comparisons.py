"""A rater's comparisons, in their order of work."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, exists, select

from study.schema import Comparison, Decision, table
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class OwnComparison:
    """A comparison that its rater has to make, or has made."""

    id: int
    public_id: str
    query_id: int
    a: int
    b: int
    construct_key: str
    swapped: bool
    """Response b is shown first."""
    opened: bool
    decided: bool

    @property
    def shown(self) -> tuple[int, int]:
        """The two responses in the order in which they are shown."""
        return (self.b, self.a) if self.swapped else (self.a, self.b)


def own_comparisons(
    connection: Connection, config: StudyConfig, rater_id: int
) -> list[OwnComparison]:
    """Return a rater's comparisons; what was taken back is theirs no more."""
    c, d = table(Comparison), table(Decision)
    rows: Any = connection.execute(
        select(
            c.c.id,
            c.c.public_id,
            c.c.query_id,
            c.c.response_a_id,
            c.c.response_b_id,
            c.c.construct_key,
            c.c.swapped,
            c.c.opened_at,
            exists().where(d.c.comparison_id == c.c.id).label("decided"),
        )
        .where(c.c.rater_id == rater_id, c.c.released_at.is_(None))
        .order_by(c.c.position, c.c.id)
    )
    known = {construct.key for construct in config.constructs}
    return [
        OwnComparison(
            id=row.id,
            public_id=row.public_id,
            query_id=row.query_id,
            a=row.response_a_id,
            b=row.response_b_id,
            construct_key=row.construct_key,
            swapped=row.swapped,
            opened=row.opened_at is not None,
            decided=bool(row.decided),
        )
        for row in rows
        # Constructs that study.toml no longer has are not asked for.
        if row.construct_key in known
    ]
