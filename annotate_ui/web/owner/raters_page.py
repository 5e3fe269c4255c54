"""Each rater: how far they are, what their values look like, and whether they can come in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import redirect, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import BadRequest

from annotate_ui.participants.invitation import Invited, RaterLink, invite, list_links, revoke
from annotate_ui.web.owner.blueprint import pages
from annotate_ui.web.owner.monitored import watched
from annotate_ui.web.owner.rater_ids import RaterIdentity, everybody, person
from annotate_ui.web.rate_limits import computations
from annotate_ui.web.rater_session import study

if TYPE_CHECKING:
    from annotate_ui.monitoring.careless_responding import RaterSignals
    from annotate_ui.monitoring.rater_status import RaterStatus

_MOST_NEW = 100


@dataclass(frozen=True)
class Line:
    """What is known of a rater."""

    person: RaterIdentity
    link: RaterLink
    work: "RaterStatus | None"
    signals: "RaterSignals | None"


@pages.get("/raters")
def raters() -> ResponseReturnValue:
    """List everybody."""
    from annotate_ui.participants.enrolment_links import list_links as enrolment_links

    return render_template(
        "owner/raters.html",
        page="raters",
        lines=_lines(),
        at=watched().at,
        enrolment=enrolment_links(study()),
    )


@pages.get("/raters/<public_id>")
def rater(public_id: str) -> ResponseReturnValue:
    """Show one rater, with what can be done about them."""
    chosen = _person(public_id)
    (line,) = (line for line in _lines() if line.person.id == chosen.id)
    return render_template("owner/rater.html", page="raters", line=line)


@pages.post("/raters")
@computations
def add_raters() -> ResponseReturnValue:
    """Make raters, and show their links once."""
    try:
        count = int(request.form.get("count", ""))
    except ValueError:
        raise BadRequest from None
    if not 1 <= count <= _MOST_NEW:
        raise BadRequest
    return _links(invite(study(), new=count))


@pages.post("/raters/<public_id>/link")
def make_link(public_id: str) -> ResponseReturnValue:
    """Make a link, or another in place of the one there is, and show it once."""
    chosen = _person(public_id)
    return _links(invite(study(), [chosen.code], renew=True))


@pages.post("/raters/<public_id>/revoke")
def revoke_link(public_id: str) -> ResponseReturnValue:
    """End a rater's links and sessions."""
    revoke(study(), _person(public_id).code)
    return _back(public_id)


@pages.post("/raters/<public_id>/remove")
def remove(public_id: str) -> ResponseReturnValue:
    """End a rater's part; what they finished stays."""
    from annotate_ui.participants.withdrawal import leave

    leave(study(), _person(public_id).id, "removed")
    return _back(public_id)


@pages.post("/raters/<public_id>/readmit")
def let_in(public_id: str) -> ResponseReturnValue:
    """Let a rater in again who left, or who did not pass the training."""
    from annotate_ui.participants.withdrawal import readmit

    readmit(study(), _person(public_id).code)
    return _back(public_id)


def _lines() -> list[Line]:
    served = study()
    with served.read() as connection:
        people = everybody(connection)
    seen = watched()
    work = {one.rater: one for one in seen.progress.raters}
    return [
        Line(people[link.rater], link, work.get(link.rater), seen.signals.get(link.rater))
        for link in list_links(served)
        if link.rater in people
    ]


def _links(made: list[Invited]) -> ResponseReturnValue:
    # Answered at once, not after a redirect: the database can't show a link a second time.
    return render_template("owner/links.html", page="raters", made=made)


def _person(public_id: str) -> RaterIdentity:
    with study().read() as connection:
        return person(connection, public_id)


def _back(public_id: str) -> ResponseReturnValue:
    return redirect(f"/owner/raters/{public_id}", 303)
