"""Each rater: progress, signals of careless responding, and the link.

Addresses name a rater by a random id, since a code may be any text.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import abort, redirect, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import Connection, select
from werkzeug.exceptions import BadRequest

from annotate_ui.participants.invitation import Invited, RaterLink, invite, list_links, revoke
from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.snapshot_cache import current_snapshot
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study
from study.schema.tables import raters as rater_table

if TYPE_CHECKING:
    from annotate_ui.monitoring.careless_responding import RaterSignals
    from annotate_ui.monitoring.rater_status import RaterStatus

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
    chosen = _rater(public_id)
    (row,) = (row for row in _rows() if row.rater.id == chosen.id)
    return render_template("owner/rater.html", page="raters", row=row)


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
    return _links(invite(study(), new=count))


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
    link, address = make(study(), request.form.get("name", ""), quota, queries, codes)
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
    return _links(invite(study(), [_rater(public_id).code], renew=True))


@pages.post("/raters/<public_id>/revoke")
def revoke_link(public_id: str) -> ResponseReturnValue:
    """Revoke a rater's links and end their sessions."""
    revoke(study(), _rater(public_id).code)
    return _back(public_id)


@pages.post("/raters/<public_id>/remove")
def remove(public_id: str) -> ResponseReturnValue:
    """End a rater's part; finished work stays."""
    from annotate_ui.participants.withdrawal import leave

    leave(study(), _rater(public_id).id, "removed")
    return _back(public_id)


@pages.post("/raters/<public_id>/readmit")
def readmit_rater(public_id: str) -> ResponseReturnValue:
    """Readmit a rater who left, or who did not pass the training."""
    from annotate_ui.participants.withdrawal import readmit

    readmit(study(), _rater(public_id).code)
    return _back(public_id)


def rater_identities(connection: Connection) -> dict[str, RaterIdentity]:
    """Return every rater by code."""
    from study.facts.departures import departures

    left = departures(connection)
    rows = connection.execute(select(rater_table.c.id, rater_table.c.code, rater_table.c.public_id))
    return {
        row.code: RaterIdentity(row.id, row.code, row.public_id, left.get(row.id)) for row in rows
    }


def _rater(public_id: str) -> RaterIdentity:
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
    return [
        RaterRow(
            identities[link.rater], link, status.get(link.rater), snapshot.signals.get(link.rater)
        )
        for link in list_links(study())
        if link.rater in identities
    ]


def _links(invited: list[Invited]) -> ResponseReturnValue:
    # Answered at once, not after a redirect: the database can't show a link a second time.
    return render_template("owner/links.html", page="raters", invited=invited)


def _back(public_id: str) -> ResponseReturnValue:
    return redirect(f"/owner/raters/{public_id}", 303)
