"""Each rater: progress, signals of careless responding, and the link.

Addresses name a rater by a random id, since a code may be any text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from flask import abort, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Connection, select
from werkzeug.exceptions import BadRequest

from annotate_ui.participants.invitation import Invited, RaterLink, invite, list_links, revoke
from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.errors import StudyError
from study.schema.tables import assignments, enrolments, raters as rater_table

if TYPE_CHECKING:
    from annotate_ui.monitoring.activity import RaterActivity
    from annotate_ui.monitoring.careless_responding import RaterSignals
    from annotate_ui.monitoring.rater_status import RaterStatus
    from annotate_ui.participants.rejection import ChangedWork

_MOST_NEW = 100


@dataclass(frozen=True)
class RaterIdentity:
    """A rater, and whether they take part."""

    id: int
    code: str
    public_id: str
    left: str | None
    """How they left, `withdrew` or `removed`; null: they take part."""


@dataclass(frozen=True)
class RaterRow:
    """A rater in the list."""

    rater: RaterIdentity
    link: RaterLink
    status: "RaterStatus | None"
    signals: "RaterSignals | None"
    activity: "RaterActivity | None"
    """Null before the first value."""


@dataclass(frozen=True)
class ValueSummary:
    """How some values are distributed."""

    count: int
    mean: float | None = None
    quartiles: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return the summary of values, without figures where there are none."""
        if not values:
            return cls(0)
        import numpy as np

        return cls(
            len(values),
            float(np.mean(values)),
            tuple(np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()),
        )


@dataclass(frozen=True)
class Distribution:
    """A rater's values on a construct, and those of others on the same responses."""

    construct: str
    name: str
    own: ValueSummary
    others: ValueSummary


@pages.get("/raters")
def raters() -> ResponseReturnValue:
    """List all raters."""
    from annotate_ui.participants.enrolment_links import list_links as enrolment_links

    return render_template(
        "owner/raters.html",
        page="raters",
        rows=_rows(),
        at=current_snapshot().at,
        enrolment=enrolment_links(study()),
    )


@pages.get("/raters/<public_id>")
def rater(public_id: str) -> ResponseReturnValue:
    """Show one rater, with what the owner can do."""
    chosen = rater_here(public_id)
    (row,) = (row for row in _rows() if row.rater.id == chosen.id)
    return render_template(
        "owner/rater.html",
        page="raters",
        row=row,
        at=current_snapshot().at,
        recruiter_id=_recruiter_id(chosen.id),
        rejected=_number_rejected(chosen.id),
        distributions=[] if row.activity is None else _distributions(row.activity),
    )


@pages.post("/raters")
@computations
def add_raters() -> ResponseReturnValue:
    """Create raters, and show their links once."""
    try:
        count = int(request.form.get("count", ""))
    except ValueError:
        raise BadRequest from None
    if not 1 <= count <= _MOST_NEW:
        raise BadRequest
    return _links(invite(study(), new=count, until=_last_day()))


@pages.post("/enrolment")
def make_enrolment_link() -> ResponseReturnValue:
    """Create a link by which raters join, and show its address once."""
    from annotate_ui.participants.enrolment_links import make_link as make

    try:
        quota = int(request.form.get("quota", ""))
        limit = request.form.get("queries", "").strip()
        queries = int(limit) if limit else None
    except ValueError:
        raise BadRequest from None
    languages = request.form.get("languages", "")
    codes = languages.split(",") if languages.strip() else []
    name, until = request.form.get("name", ""), _last_day()
    link, address = make(study(), name, quota, queries, codes, until)
    return render_template("owner/links.html", page="raters", enrolment=link.name, address=address)


@pages.post("/enrolment/close")
def close_enrolment_link() -> ResponseReturnValue:
    """Close a link to new raters."""
    from annotate_ui.participants.enrolment_links import close_link

    close_link(study(), request.form.get("name", ""))
    return redirect("/owner/raters", 303)


@pages.post("/raters/<public_id>/link")
def make_link(public_id: str) -> ResponseReturnValue:
    """Create a link, replacing an existing one, and show it once."""
    return _links(invite(study(), [rater_here(public_id).code], renew=True))


@pages.post("/raters/<public_id>/revoke")
def revoke_link(public_id: str) -> ResponseReturnValue:
    """Revoke a rater's links and end their sessions."""
    revoke(study(), rater_here(public_id).code)
    return _back(public_id)


@pages.post("/raters/<public_id>/remove")
def remove(public_id: str) -> ResponseReturnValue:
    """End a rater's part; finished work stays."""
    from annotate_ui.participants.withdrawal import leave

    leave(study(), rater_here(public_id).id, "removed")
    return _back(public_id)


@pages.post("/raters/<public_id>/readmit")
def readmit_rater(public_id: str) -> ResponseReturnValue:
    """Readmit a rater who left, or who did not pass the training."""
    from annotate_ui.participants.withdrawal import readmit

    readmit(study(), rater_here(public_id).code)
    return _back(public_id)


@pages.post("/raters/<public_id>/reject")
def reject_work(public_id: str) -> ResponseReturnValue:
    """Reject a rater's work and end their part, or reject the assignment that the form names."""
    from annotate_ui.participants.rejection import reject

    return _rejected(public_id, reject)


@pages.post("/raters/<public_id>/restore")
def restore_work(public_id: str) -> ResponseReturnValue:
    """Take a rejection back."""
    from annotate_ui.participants.rejection import restore

    return _rejected(public_id, restore)


def _rejected(public_id: str, do: "Callable[..., ChangedWork]") -> ResponseReturnValue:
    chosen = rater_here(public_id)
    named = request.form.get("assignment", "")
    if not named:
        do(study(), chosen.id)
        return _back(public_id)
    if not named.isalnum():
        abort(404)
    one = select(assignments.c.id, assignments.c.response_id).where(
        assignments.c.public_id == named, assignments.c.rater_id == chosen.id
    )
    with study().read() as connection:
        row = connection.execute(one).one_or_none()
    if row is None:
        abort(404)
    do(study(), chosen.id, row.id)
    return redirect(f"/owner/items/{row.response_id}#work", 303)


def rater_identities(connection: Connection) -> dict[str, RaterIdentity]:
    """Return every rater by code."""
    from study.facts.departures import departures

    left = departures(connection)
    rows = connection.execute(select(rater_table.c.id, rater_table.c.code, rater_table.c.public_id))
    return {
        row.code: RaterIdentity(row.id, row.code, row.public_id, left.get(row.id)) for row in rows
    }


def rater_here(public_id: str) -> RaterIdentity:
    """Return the rater of an address; others are answered as not found."""
    with study().read() as connection:
        by_id = {rater.public_id: rater for rater in rater_identities(connection).values()}
    if public_id not in by_id:
        abort(404)
    return by_id[public_id]


def _rows() -> list[RaterRow]:
    with study().read() as connection:
        identities = rater_identities(connection)
    snapshot = current_snapshot()
    status = {rater.rater: rater for rater in snapshot.progress.raters}
    entered = {rater.rater: rater for rater in snapshot.progress.activity}
    return [
        RaterRow(
            identities[link.rater],
            link,
            status.get(link.rater),
            snapshot.signals.get(link.rater),
            entered.get(link.rater),
        )
        for link in list_links(study())
        if link.rater in identities
    ]


def _number_rejected(rater_id: int) -> int:
    """Return on how many responses the rater's work is rejected."""
    from annotate_ui.participants.rejection import rejected_assignments

    with study().read() as connection:
        return len(rejected_assignments(connection, rater_id))


def _recruiter_id(rater_id: int) -> str | None:
    """Return the id under which a recruiter knows a rater."""
    stored = select(enrolments.c.external_id).where(enrolments.c.rater_id == rater_id)
    with study().read() as connection:
        external_id: str | None = connection.execute(stored).scalar()
    return external_id


def _distributions(entered: "RaterActivity") -> list[Distribution]:
    return [
        Distribution(
            spec.key,
            spec.name,
            ValueSummary.of(entered.values[spec.key]),
            ValueSummary.of(entered.others[spec.key]),
        )
        for spec in study().config.constructs
        if spec.key in entered.values
    ]


def _last_day() -> datetime | None:
    """Return the end of the day in UTC after which a new link admits nobody; None: no end."""
    entered = request.form.get("until", "").strip()
    if not entered:
        return None
    try:
        return datetime.strptime(entered, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise StudyError(f"{entered!r} is not a date; enter one such as 2027-06-30.") from None


def _links(invited: list[Invited]) -> ResponseReturnValue:
    # Answered at once, not after a redirect: the database can't show a link a second time.
    return render_template("owner/links.html", page="raters", invited=invited)


def _back(public_id: str) -> ResponseReturnValue:
    return redirect(f"/owner/raters/{public_id}", 303)
