"""Joining the study by an enrolment link, which gives a personal link."""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from flask import Blueprint, current_app, g, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.datastructures import MultiDict

from annotate_ui.participants.enrolment import (
    EnrolmentRefusedError,
    checked_id,
    enrol,
    joined_by,
    link_state,
)
from annotate_ui.participants.recruiter_ids import has_form, is_same_id
from annotate_ui.participation import paused
from annotate_ui.web.error_pages import Problem, answer, answer_csrf
from annotate_ui.web.rate_limits import REFUSED, enrolments, failed_links
from annotate_ui.web.rater_session import sign_in, study
from annotate_ui.web.translation import mark

pages = Blueprint("enrolling", __name__)

ID_NAMES = ("PROLIFIC_PID", "external_id", "workerId", "participant")
"""Names of the parameter in which recruiters add the id of a participant to the address."""

_REFUSED = {
    "closed": Problem(
        410,
        "closed",
        mark("This study is closed to new participants"),
        mark("Thank you for your interest. This link no longer lets anyone join."),
        mark("If you have joined before, open the personal link that you were shown then."),
        None,
    ),
    "paused": Problem(
        503,
        "paused",
        mark("The study is paused"),
        mark("Nobody can join for now. Come back later."),
        "",
        None,
    ),
    "full": Problem(
        410,
        "full",
        mark("The study has enough participants"),
        mark("Thank you for your interest. There is no free place left."),
        mark("If you have joined before, open the personal link that you were shown then."),
        None,
    ),
    "joined": Problem(
        409,
        "joined",
        mark("A participant with this ID has already joined"),
        mark("If it was you, open the personal link that you were shown then."),
        mark("If that link is lost, ask the person who runs the study for a new one."),
        None,
    ),
    "no_id": Problem(
        400,
        "no_id",
        mark("The link lacks your ID"),
        mark("The place where you found the link adds your ID to it; here it is missing."),
        mark("Open the link again from the place where you found it."),
        None,
    ),
    "bad_id": Problem(
        400,
        "bad_id",
        mark("This link can't be read"),
        mark("The part of it that identifies you is not a valid ID."),
        mark("Open the link again from the place where you found it."),
        None,
    ),
}


@pages.get("/enrol/<token>")
def offer(token: str) -> ResponseReturnValue:
    """Show the page of the link. Nothing is stored."""
    with study().read() as connection:
        state = link_state(connection, study().config, token)
        message = paused(connection)
    if state is None:
        return _unknown()
    try:
        external_id = _id_in(request.args)
    except EnrolmentRefusedError as error:
        return answer(_REFUSED[error.reason])
    here = _has_joined_here(token, external_id)
    if not here and not state.admits:
        return answer(_REFUSED["closed" if state.closed else "full"])
    if not here and message is not None:
        return answer(_REFUSED["paused"])
    if not here and not has_form(external_id, state.id_form):
        return answer(_REFUSED["no_id" if external_id is None else "bad_id"])
    return render_template(
        "enrol.html", page="enrol", token=token, external_id=external_id or "", here=here
    )


@pages.post("/enrol/<token>")
@enrolments
def begin(token: str) -> ResponseReturnValue:
    """Create a rater for the visitor who presses Begin, sign them in, and show their link once."""
    try:
        external_id = _id_in(request.form)
        if _has_joined_here(token, external_id):
            return redirect("/rate", 303)
        enrolled = enrol(
            study(), token, external_id, personal_token=_personal_token(token, external_id)
        )
    except EnrolmentRefusedError as error:
        return _unknown() if error.reason == "unknown" else answer(_REFUSED[error.reason])
    sign_in(enrolled.rater_id, enrolled.invitation_id)
    return render_template("enrolled.html", page="enrolled", link=enrolled.personal_link)


@pages.errorhandler(CSRFError)
def sent_again(error: CSRFError) -> ResponseReturnValue:
    """Redirect a rater who reloads the page of their link, which sends an outdated form again.

    Nothing is stored; the enrolment page shows that they have joined already.
    """
    if g.rater is None:
        return answer_csrf(error)
    values: dict[str, Any] = dict(request.view_args or {})
    values |= {name: request.form[name] for name in ID_NAMES if name in request.form}
    return redirect(url_for("enrolling.offer", **values), 303)


def _personal_token(token: str, external_id: str | None) -> str:
    """Return the same unguessable secret for the same form of the same browser.

    So a form that is sent twice creates one rater.
    """
    secret: bytes = current_app.config["SECRET_KEY"]
    parts = ("enrol", session["csrf_token"], token, external_id or "")
    message = "\0".join(parts).encode("utf-8", "surrogatepass")
    return urlsafe_b64encode(hmac.digest(secret, message, sha256)).decode().rstrip("=")


def _has_joined_here(token: str, external_id: str | None) -> bool:
    """Return whether this browser is signed in as this participant."""
    if g.rater is None:
        return False
    with study().read() as connection:
        joined, stored_id = joined_by(connection, token, g.rater.id)
    return joined and (external_id is None or is_same_id(external_id, stored_id))


def _id_in(fields: MultiDict[str, str]) -> str | None:
    texts = (fields.get(name) for name in ID_NAMES)
    return checked_id(next((text for text in texts if text and text.strip()), None))


def _unknown() -> ResponseReturnValue:
    with failed_links:
        return redirect(REFUSED, 303)
