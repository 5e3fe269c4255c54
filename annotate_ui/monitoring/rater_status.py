"""Where each rater stands: which part of the work is theirs now, and how far they are."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

import pandas as pd
from sqlalchemy import Connection, func, select

from annotate_ui.monitoring.campaign_data import assignments, comparisons, last_activity, values
from annotate_ui.tasks.steps import OWN_CHANNEL
from study.schema import Departure, Enrolment, Invitation, Rater, table
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
"""`waiting`: nothing is theirs yet. `done`: everything that was theirs is."""
Link = Literal["none", "live", "revoked"]

# In the order of a rater's work. Checks are strewn into the main part.
_PHASES: dict[str, Phase] = {
    "calibration": "calibration",
    "main": "main",
    "check": "main",
    "repeat": "repeats",
    "adjudication": "adjudication",
}


@dataclass(frozen=True)
class Training:
    """How a rater does in the training."""

    attempt: int
    """Attempts that were begun."""
    attempts: int
    """Attempts that there may be."""
    passed: bool
    failed: bool
    """No further attempt is possible."""
    share: float | None
    """Of the expected values met in the newest attempt that is finished; null: none is."""


@dataclass(frozen=True)
class RaterStatus:
    """One rater's work. A value is one construct of one response, given or declined."""

    rater: str
    phase: Phase
    values: int
    values_expected: int
    responses: int
    responses_done: int
    comparisons: int
    comparisons_done: int
    hours_active: float
    """With the page in view and without pauses."""
    last_activity: datetime | None
    waiting_since: datetime | None
    """Since when open work, or a place that the rater took by enrolling, lies with them untouched;
    null: nothing does."""
    link: Link
    own_left: int
    """Values left to give on the project's own pages, and comparisons."""
    training: Training | None

    def as_json(self) -> dict[str, Any]:
        """Return the progress as values that JSON can hold."""
        moments = {
            name: None if at is None else at.isoformat(timespec="seconds")
            for name, at in (
                ("last_activity", self.last_activity),
                ("waiting_since", self.waiting_since),
            )
        }
        return {**asdict(self), **moments}


@dataclass(frozen=True)
class CampaignRecords:
    """Everything read once: assignments and the values that count."""

    given: pd.DataFrame
    said: pd.DataFrame


def read_stored(connection: Connection, versions: Mapping[str, int]) -> CampaignRecords:
    """Return what was given and said; with how much of each assignment is answered and open."""
    given, said = assignments(connection, versions), values(connection, versions)
    counts = said.groupby("assignment")["construct"].nunique()
    given["answered"] = given["assignment"].map(counts).fillna(0).astype(int)
    expected = given["construct_keys"].map(len).astype(int)
    gone = given["replaced"] | given["released"]
    # What was handed on or taken back counts with what it holds.
    given["expected"] = given["answered"].where(gone, expected.clip(lower=given["answered"]))
    given["open"] = given["answered"] < given["expected"]
    return CampaignRecords(given, said)


def standings(connection: Connection, study: Study, stored: CampaignRecords) -> list[RaterStatus]:
    """Return the progress of every rater, in order of their codes."""
    w = table(Rater)
    people = connection.execute(select(w.c.id, w.c.code).order_by(w.c.code)).all()
    left, links = _left(connection), _links(connection)
    active, compared = last_activity(connection), comparisons(connection)
    enrolled = _enrolled(connection)
    seconds = stored.said.groupby("rater_id")["active_seconds"].sum().to_dict()
    by_rater: dict[Any, pd.DataFrame] = dict(iter(stored.given.groupby("rater_id")))
    found = []
    for person in people:
        own = by_rater.get(person.id, stored.given.iloc[:0])
        done, total, deciding = compared.get(person.id, (0, 0, 0.0))
        training = _training(connection, study, person.id)
        phase = "left" if person.id in left else _phase(connection, study, person.id, own, training)
        if phase not in {"left", "training_failed"} and phase in {
            "repeats",
            "done",
            "adjudication",
        }:
            phase = "comparisons" if done < total else phase
        open_ = own[own["open"] & (own["channel"] == OWN_CHANNEL)]
        own_left = int((open_["expected"] - open_["answered"]).sum()) + total - done
        moments = [active[person.id]] if person.id in active else []
        moments += [open_["created_at"].max().to_pydatetime()] if len(open_) else []
        # Who enrolled and has begun nothing has no open work either, but keeps a place.
        placed = person.id in enrolled and own.empty and not total
        moments += [enrolled[person.id]] if placed else []
        waits = (own_left or placed) and phase != "left" and bool(moments)
        found.append(
            RaterStatus(
                rater=person.code,
                phase=phase,
                values=int(own["answered"].sum()),
                values_expected=int(own["expected"].sum()),
                responses=int((own["expected"] > 0).sum()),
                responses_done=int(((own["expected"] > 0) & ~own["open"]).sum()),
                comparisons=total,
                comparisons_done=done,
                hours_active=(float(seconds.get(person.id, 0.0)) + deciding) / 3600,
                last_activity=active.get(person.id),
                waiting_since=max(moments) if waits else None,
                link=links.get(person.id, "none"),
                own_left=own_left,
                training=training,
            )
        )
    return found


def _phase(
    connection: Connection,
    study: Study,
    rater_id: int,
    own: pd.DataFrame,
    training: Training | None,
) -> Phase:
    gate = _gate(connection, study, rater_id)
    if gate is not None:
        return gate
    if training is not None and not training.passed:
        return "training_failed" if training.failed else "training"
    if own.empty:
        return "waiting"
    open_ = set(own.loc[own["open"], "purpose"])
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
    return Training(state.attempt, state.attempts, state.passed, state.failed, state.share)


def _left(connection: Connection) -> set[int]:
    d = table(Departure)
    rows = connection.execute(select(d.c.rater_id, d.c.kind).order_by(d.c.id))
    last = {row.rater_id: row.kind for row in rows}
    return {rater for rater, kind in last.items() if kind != "readmitted"}


def _enrolled(connection: Connection) -> dict[int, datetime]:
    """Return when raters enrolled who keep a place of a quota: who declined has none."""
    from annotate_ui.participants.consent import declined

    n = table(Enrolment)
    rows = connection.execute(select(n.c.rater_id, n.c.created_at)).all()
    gone = declined(connection, [row.rater_id for row in rows])
    return {row.rater_id: row.created_at for row in rows if row.rater_id not in gone}


def _links(connection: Connection) -> dict[int, Link]:
    i = table(Invitation)
    live = func.count().filter(i.c.revoked_at.is_(None))
    rows = connection.execute(select(i.c.rater_id, live).group_by(i.c.rater_id))
    return {rater: "live" if count else "revoked" for rater, count in rows}
