"""A rater's comparisons with their newest decisions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.tasks.comparison_view import Option, options
from annotate_ui.tasks.comparisons import rater_comparisons
from study.facts.comparison_decisions import newest_decisions
from study.schema import Comparison, Decision, table
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class Decided:
    """A comparison that was made."""

    public_id: str
    query_id: int
    number: int
    total: int
    name: str
    language: str
    """Of the construct's name."""
    option: Option | None
    """What was chosen, in the order in which the page shows the two; None where nothing was, or
    the scale no longer offers it."""
    status: str
    reason: str | None
    revision: int
    saved_at: datetime


def decided(connection: Connection, config: StudyConfig, rater_id: int) -> list[Decided]:
    """Return the comparisons that a rater has made; what was decided last comes first."""
    mine = rater_comparisons(connection, config, rater_id)
    c, d = table(Comparison), table(Decision)
    of_rater = d.c.comparison_id.in_(select(c.c.id).where(c.c.rater_id == rater_id))
    rows: Any = connection.execute(select(newest_decisions(of_rater)))
    newest = {row.comparison_id: row for row in rows}
    found = []
    for number, one in enumerate(mine, 1):
        row = newest.get(one.id)
        if row is None or not one.opened:
            continue
        spec = config.construct_spec(one.construct_key)
        offered = options(config, swapped=one.swapped)
        chosen = next((option for option in offered if option.value == row.value), None)
        entry = Decided(
            public_id=one.public_id,
            query_id=one.query_id,
            number=number,
            total=len(mine),
            name=one.construct_key if spec is None else spec.name,
            language=config.rating.language,
            option=chosen,
            status=row.status,
            reason=row.reason,
            revision=row.revision,
            saved_at=row.created_at,
        )
        # Order comes from the decisions' own, never from a clock.
        found.append((row.id, entry))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return [entry for _, entry in found]
