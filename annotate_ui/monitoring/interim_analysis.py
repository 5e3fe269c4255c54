"""Interim analyses: computed outside requests, and each one recorded.

A design is sequential from the first look on, so every look is stored with what it showed. Only
the stopping rule may decide when to stop: figures of the other looks hold at one moment, not at
the best of many.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import insert, select

from annotate_ui.monitoring.stopping_rule import stopping_state
from study.errors import StudyError
from study.facts.ratings import values_so_far
from study.schema import InterimAnalysis, now, table
from study.study import Study

Kind = Literal["agreement", "judge", "stopping"]
KINDS: tuple[Kind, ...] = ("agreement", "judge", "stopping")


@dataclass(frozen=True)
class InterimResult:
    """What a look showed."""

    kind: Kind
    requested_in: str
    """`page` or `command`."""
    made: datetime
    ratings: int
    """Values that people had given."""
    not_for_stopping: bool
    """Stopping because of these figures would bias them."""
    judge: str | None
    note: str | None
    """What the figures leave out."""
    figures: tuple[dict[str, Any], ...]
    """Of agreement and judge: records as `estimates` of report.json has them."""
    stopping: dict[str, Any] | None
    """Of the stopping rule: `StoppingState.as_json()`."""

    def as_json(self) -> dict[str, Any]:
        """Return the look as values that JSON can hold."""
        return {**asdict(self), "made": self.made.isoformat(timespec="seconds")}

    def of(self, statistic: str, construct: str, scope: str = "pooled") -> list[dict[str, Any]]:
        """Return the figures of a statistic on a construct."""
        return [
            one
            for one in self.figures
            if one["statistic"] == statistic
            and one["constructs"] == [construct]
            and one["scope"] == scope
        ]


def run_interim_analysis(
    study: Study, kind: Kind, requested_in: str, judge: str | None = None
) -> InterimResult:
    """Compute interim figures, and record that somebody looked.

    `judge` names the scorer of `kind="judge"`.

    Raises
    ------
    StudyError
        There is no such kind or judge, or nothing to look at yet.
    """
    if kind not in KINDS:
        raise StudyError(
            f"Unknown kind of interim analysis {kind!r}; use one of {', '.join(KINDS)}."
        )
    if (kind == "judge") != (judge is not None):
        raise StudyError("Name a judge for the analysis of a judge, and only for that one.")
    figures: list[dict[str, Any]] = []
    note: str | None = None
    stopping: dict[str, Any] | None = None
    if kind == "stopping":
        stopping = stopping_state(study).as_json()
    else:
        figures, note = _figures(study, judge)
    result = {"judge": judge, "note": note, "figures": figures, "stopping": stopping}
    made = now()
    with study.write() as connection:
        count = values_so_far(connection)
        connection.execute(
            insert(table(InterimAnalysis)).values(
                kind=kind, requested_in=requested_in, ratings=count, result=result, created_at=made
            )
        )
    return InterimResult(
        kind, requested_in, made, count, kind != "stopping", judge, note, tuple(figures), stopping
    )


def newest(study: Study, kind: Kind) -> InterimResult | None:
    """Return the last look of a kind; None where nobody looked."""
    t = table(InterimAnalysis)
    with study.read() as connection:
        row = connection.execute(
            select(t).where(t.c.kind == kind).order_by(t.c.id.desc()).limit(1)
        ).one_or_none()
    if row is None:
        return None
    stored = row.result
    return InterimResult(
        kind=row.kind,
        requested_in=row.requested_in,
        made=row.created_at,
        ratings=row.ratings,
        not_for_stopping=row.kind != "stopping",
        judge=stored.get("judge"),
        note=stored.get("note"),
        figures=tuple(stored.get("figures") or ()),
        stopping=stored.get("stopping"),
    )


def _figures(study: Study, judge: str | None) -> tuple[list[dict[str, Any]], str | None]:
    from annotate_ui.monitoring.interim_figures import agreement, beside_people
    from annotate_ui.monitoring.score_tables import people_and

    context = people_and(study, study.score_table(), judge)
    if context is None:
        raise StudyError(
            f"Nobody has given a value in {study.folder} yet; look again when people have rated."
        )
    found = agreement(context) if judge is None else beside_people(context)
    return found, context.layout_left_out
