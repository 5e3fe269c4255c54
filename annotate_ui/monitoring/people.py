"""The people of a campaign: who they are to their recruiter, what they did, and their code.

The recruiter's id is for paying them. The table is for the owner, and never part of an archive.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from annotate_ui.monitoring.careless_responding import RaterSignals
from annotate_ui.monitoring.rater_status import RaterStatus
from annotate_ui.participants.consent import declined
from annotate_ui.participants.rejection import rejected_assignments
from annotate_ui.tasks.exit_codes import exit_code
from annotate_ui.tasks.workflow import all_done
from study.facts.departures import departures
from study.schema.tables import enrolment_links, enrolments, raters
from study.settings.rating import Exit

if TYPE_CHECKING:
    from study.study import Study


@dataclass(frozen=True)
class RaterRecord:
    """A rater; empty where nothing is known."""

    rater: str
    recruiter_id: str | None
    link: str | None
    """The enrolment link by which they joined."""
    joined_at: datetime | None
    phase: str
    exit: str | None
    """How their part ended for the recruiter: completion, screen_out or return."""
    code: str | None
    """The code of that end, which their last page shows them."""
    hours: float
    responses: int
    responses_done: int
    responses_rejected: int
    """Responses with ratings that the owner rejected; they are in neither number before."""
    completed: str
    """yes or no: whether all of their work is done."""
    signals: str | None
    """Flagged signals of careless responding."""
    last_active_at: datetime | None


PEOPLE_COLUMNS = tuple(RaterRecord.__dataclass_fields__)


def people(
    study: "Study", statuses: Sequence[RaterStatus], signals: Sequence[RaterSignals]
) -> list[RaterRecord]:
    """Return everybody who rates or joined, in the order of the numbers in their codes."""
    flagged = {rater.rater: rater.flagged for rater in signals}
    with study.read() as connection:
        joined = _joined(connection)
        ids = {row.code: row.id for row in connection.execute(select(raters.c.code, raters.c.id))}
        gone, refused = departures(connection), declined(connection, list(ids.values()))
        found = []
        for status in statuses:
            key = ids[status.rater]
            completed = all_done(connection, study, key)
            way = _way(status, gone.get(key), completed=completed, declined=key in refused)
            end = None if way is None else exit_code(study.config.rating, way)
            link, external_id, at = joined.get(key, (None, None, None))
            kinds = [
                f"{signal.kind} ({signal.construct})" if signal.construct else signal.kind
                for signal in flagged.get(status.rater, ())
            ]
            found.append(
                RaterRecord(
                    status.rater,
                    external_id,
                    link,
                    at,
                    status.phase,
                    way,
                    None if end is None else end.code,
                    round(status.hours_active, 4),
                    status.responses,
                    status.responses_done,
                    len(rejected_assignments(connection, key)),
                    "yes" if completed else "no",
                    "; ".join(kinds) or None,
                    status.last_activity,
                )
            )
    return found


def people_rows(study: "Study") -> list[tuple[Any, ...]]:
    """Return the people as rows of `PEOPLE_COLUMNS`, for an export."""
    from annotate_ui.monitoring.campaign_progress import snapshot

    now = snapshot(study)
    return [
        astuple(person) for person in people(study, now.progress.raters, list(now.signals.values()))
    ]


def _way(
    status: RaterStatus, departure: str | None, *, completed: bool, declined: bool
) -> Exit | None:
    if departure is not None:
        return "return" if departure == "withdrew" else None
    if declined or status.phase == "training_failed":
        return "screen_out"
    return "completion" if completed else None


def _joined(connection: Connection) -> dict[int, tuple[str, str | None, datetime]]:
    rows = connection.execute(
        select(
            enrolments.c.rater_id,
            enrolment_links.c.name,
            enrolments.c.external_id,
            enrolments.c.created_at,
        ).join_from(enrolments, enrolment_links, enrolments.c.link_id == enrolment_links.c.id)
    )
    return {row.rater_id: (row.name, row.external_id, row.created_at) for row in rows}
