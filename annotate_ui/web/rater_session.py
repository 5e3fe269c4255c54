"""The rater who is signed in, looked up for each request, and the JSON that their page sends."""

from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from flask import current_app, g, request, session
from flask_wtf.csrf import generate_csrf
from pydantic import BaseModel, ValidationError
from sqlalchemy import ColumnElement, bindparam, insert, select
from werkzeug.exceptions import BadRequest, SecurityError

from annotate_ui.tasks.refusals import InvalidError
from annotate_ui.web.error_pages import OtherRaterError, SignedOutError
from study.facts.links import is_live_link
from study.schema import now, random_id
from study.schema.tables import ended_sessions, invitations, raters
from study.study import Study

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True)
class SignedIn:
    """The rater of this request."""

    id: int
    code: str
    public_id: str


def study() -> Study:
    """Return the study that is served."""
    served: Study = current_app.config["STUDY"]
    return served


def check_host() -> None:
    """Refuse a request under another host name, which another site may point to this server."""
    try:
        host = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname
    except ValueError:
        host = None
    if host not in current_app.config["HOSTS"]:
        raise SecurityError


def is_ended() -> ColumnElement[bool]:
    """Return the condition that somebody signed out of the session of the parameter `session`."""
    return (
        select(ended_sessions.c.id)
        .where(ended_sessions.c.session_id == bindparam("session"))
        .exists()
    )


def end_session() -> None:
    """End this request's session, so that no copy of its cookie is valid any more."""
    with study().write() as connection:
        connection.execute(
            insert(ended_sessions).values(session_id=session["session"], created_at=now())
        )
    session.clear()


_LIVE = (
    select(raters.c.id, raters.c.code, raters.c.public_id)
    .join_from(raters, invitations, invitations.c.rater_id == raters.c.id)
    # The number of an erased rater may be used again; this id never is.
    .where(raters.c.id == bindparam("rater"), raters.c.public_id == bindparam("name"))
    .where(invitations.c.id == bindparam("invitation"), is_live_link(bindparam("at")))
    .where(~is_ended())
)


def load_rater() -> None:
    """Look up the rater of the session; a revoked link and signing out end it at once."""
    g.rater = None
    parameters = {
        "rater": session.get("rater"),
        "name": session.get("rater_name"),
        "invitation": session.get("invitation"),
        "session": session.get("session"),
    }
    if None in parameters.values():
        return
    with study().ask() as connection:
        # Without a row the session stays: its token still shows a page that it is signed out.
        row = connection.execute(_LIVE, parameters | {"at": now()}).one_or_none()
    if row is not None:
        g.rater = SignedIn(row.id, row.code, row.public_id)


def sign_in(rater_id: int, invitation_id: int) -> None:
    """Begin a session, or continue one of the same rater, so that their other tabs stay valid."""
    with study().read() as connection:
        name = connection.execute(
            select(raters.c.public_id).where(raters.c.id == rater_id)
        ).scalar()
    if session.get("rater_name") != name:
        session.clear()
    if g.rater is None or "session" not in session:
        session["session"] = random_id()
    session.permanent = True
    session["rater"] = rater_id
    session["rater_name"] = name
    session["invitation"] = invitation_id
    # The session is complete now, so that no later answer has to change the cookie.
    generate_csrf()


def rater_here() -> SignedIn:
    """Return the rater who is signed in.

    Raises
    ------
    SignedOutError
        No rater is, or the link was revoked.
    """
    rater: SignedIn | None = g.get("rater")
    if rater is None:
        raise SignedOutError
    return rater


def rater_of_page() -> SignedIn:
    """Return the rater who is signed in, if the page that sends the request is theirs.

    Raises
    ------
    SignedOutError
        No rater is signed in.
    OtherRaterError
        The page is another rater's.
    """
    rater = rater_here()
    if request.headers.get("X-Rater") != rater.public_id:
        raise OtherRaterError
    return rater


def body(kind: type[Body]) -> Body:
    """Return the validated JSON of the request.

    Raises
    ------
    InvalidError
        It is not valid for `kind`; the error names the first invalid field.
    """
    try:
        return kind.model_validate(request.get_json())
    except RecursionError:
        raise BadRequest from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = str(fault["loc"][0]) if fault["loc"] else "body"
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "too_long" and isinstance(fault["input"], str):
            message = f"has more than {fault['ctx']['max_length']:,} characters"
        raise InvalidError(f"{field}: {message}", field) from None


def page_context() -> dict[str, Any]:
    """Return the values that every template gets."""
    return {"study_name": study().config.name, "rater": g.get("rater")}
