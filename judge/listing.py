"""The runs of a study, as counts."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import case, func, select

from study.campaign import Study
from study.nouns import JudgeRun, Judgment, table


@dataclass(frozen=True)
class RunSummary:
    """One run, and how far it has come."""

    name: str
    engine: str
    model: str
    prompt_version: str
    judgments: int
    """First judgments, one for each response, construct and repeat."""
    missing: int
    """Of these, those without a value."""
    begun: str
    """Time in UTC, as ISO 8601."""

    def as_json(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        return asdict(self)


def list_runs(study: Study) -> list[RunSummary]:
    """Return the runs of a study in the order in which they were begun."""
    t, j = table(JudgeRun), table(Judgment)
    counts = (
        select(
            j.c.run_id,
            func.count().label("judgments"),
            func.sum(case((j.c.value.is_(None), 1), else_=0)).label("missing"),
        )
        .where(j.c.attempt == 1)
        .group_by(j.c.run_id)
        .subquery()
    )
    statement = (
        select(t, counts.c.judgments, counts.c.missing)
        .join_from(t, counts, counts.c.run_id == t.c.id, isouter=True)
        .order_by(t.c.id)
    )
    with study.read() as connection:
        rows = connection.execute(statement).all()
    return [
        RunSummary(
            name=row.name,
            engine=row.engine,
            model=row.model,
            prompt_version=row.prompt_version,
            judgments=int(row.judgments or 0),
            missing=int(row.missing or 0),
            begun=row.created_at.isoformat(timespec="seconds"),
        )
        for row in rows
    ]
