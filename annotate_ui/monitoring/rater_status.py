"""The status of each rater: their current phase, and their progress."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import pandas as pd
from sqlalchemy import Connection, select

from study.facts.departures import departures
from study.facts.rating_progress import (
    CampaignRecords,
    RaterProgress,
    rater_progress,
)
from study.facts.slots import OWN_CHANNEL
from study.schema.tables import enrolments, raters
from study.study import Study

Phase = Literal[
    "left",
    "consent",
    "instructions",
    "training",
    "training_failed",
    "calibration",
    "main",
    "comparisons",
    "repeats",
    "adjudication",
    "waiting",
    "done",
]
"""`waiting`: nothing is assigned yet. `done`: everything that was assigned is done."""

# In the order of a rater's work. Checks are mixed into the main part.
_PHASES: dict[str, Phase] = {
    "calibration": "calibration",
    "main": "main",
    "check": "main",
    "repeat": "repeats",
    "adjudication": "adjudication",
}


@dataclass(frozen=True)
class Training:
    """A rater's progress in the training."""

    attempt: int
    """Attempts begun."""
    attempts: int
    """Attempts allowed."""
    passed: bool
    """The rater may go on, by the values or since the owner let them through."""
    failed: bool
    """No further attempt is possible."""
    share: float | None
    """Share of values in their expected range in the newest finished attempt; null before the
    first."""
    readmitted: bool = False
    """The owner let the rater through, who has not passed."""


@dataclass(frozen=True)
class RaterStatus(RaterProgress):
    """One rater's progress, with the current phase."""

    phase: Phase
    hours_active: float
    """Hours with the page in view, without pauses, and within the server's own times."""
    waiting_since: datetime | None
    """Since when open work, or a place of a quota, has waited for the rater; null where nothing
    does."""
    training: Training | None


def rater_statuses(
    connection: Connection, study: Study, records: CampaignRecords
) -> list[RaterStatus]:
    """Return the status of every rater, in the order of the numbers in their codes."""
    ids = {row.code: row.id for row in connection.execute(select(raters.c.id, raters.c.code))}
    left, enrolled = departures(connection), _enrolled(connection)
    seconds = records.ratings.groupby("rater_id")["active_seconds"].sum().to_dict()
    by_rater: dict[Any, pd.DataFrame] = dict(iter(records.assignments.groupby("rater_id")))
    statuses = []
    for progress in rater_progress(connection, records):
        rater_id = ids[progress.rater]
        work = by_rater.get(rater_id, records.assignments.iloc[:0])
        worked = float(seconds.get(rater_id, 0.0)) + records.comparing_seconds.get(rater_id, 0.0)
        training = _training(connection, study, rater_id)
        phase = "left" if rater_id in left else _phase(connection, study, rater_id, work, training)
        if phase in {"repeats", "done", "adjudication"}:
            undecided = progress.comparisons_done < progress.comparisons
            phase = "comparisons" if undecided else phase
        open_ = work[work["open"] & (work["channel"] == OWN_CHANNEL)]
        moments = [] if progress.last_activity is None else [progress.last_activity]
        moments += [open_["created_at"].max().to_pydatetime()] if len(open_) else []
        # A rater who enrolled and has not begun has no open work either, but keeps a place.
        keeps_place = rater_id in enrolled and work.empty and not progress.comparisons
        moments += [enrolled[rater_id]] if keeps_place else []
        waits = (progress.own_left or keeps_place) and phase != "left" and bool(moments)
        statuses.append(
            RaterStatus(
                **vars(progress),
                phase=phase,
                hours_active=worked / 3600,
                waiting_since=max(moments) if waits else None,
                training=training,
            )
        )
    return statuses


def _phase(
    connection: Connection,
    study: Study,
    rater_id: int,
    work: pd.DataFrame,
    training: Training | None,
) -> Phase:
    gate = _gate(connection, study, rater_id)
    if gate is not None:
        return gate
    if training is not None and not training.passed:
        return "training_failed" if training.failed else "training"
    if work.empty:
        return "waiting"
    open_ = set(work.loc[work["open"], "purpose"])
    return next((phase for purpose, phase in _PHASES.items() if purpose in open_), "done")


def _gate(connection: Connection, study: Study, rater_id: int) -> Phase | None:
    rating = study.config.rating
    if rating.consent is None and rating.instructions is None:
        return None
    from annotate_ui.participants.consent import open_gate

    return open_gate(connection, study, rater_id)


def _training(connection: Connection, study: Study, rater_id: int) -> Training | None:
    if not study.config.design.training:
        return None
    from annotate_ui.tasks.training import training_state

    state = training_state(connection, study, rater_id)
    return Training(
        state.attempt,
        state.attempts,
        state.passed,
        state.failed,
        state.share,
        readmitted=state.let_through,
    )


def _enrolled(connection: Connection) -> dict[int, datetime]:
    """Return when raters enrolled who keep a place of a quota; those who declined keep none."""
    from annotate_ui.participants.consent import declined

    rows = connection.execute(select(enrolments.c.rater_id, enrolments.c.created_at)).all()
    have_declined = declined(connection, [row.rater_id for row in rows])
    return {row.rater_id: row.created_at for row in rows if row.rater_id not in have_declined}
