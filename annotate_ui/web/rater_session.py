"""The rater who is signed in: identified by the session, looked up anew for each request."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from flask import current_app, g, request, session
from flask_wtf.csrf import generate_csrf
from sqlalchemy import bindparam, select
from werkzeug.exceptions import SecurityError

from annotate_ui.web.error_pages import SignedOutError
from study.schema import Invitation, Rater, table
from study.study import Study


@dataclass(frozen=True)
class SignedIn:
    """The rater of this request."""

    id: int
    code: str
    public_id: str


def study() -> Study:
    """Return the study that is served."""
    found: Study = current_app.config["STUDY"]
    return found


def check_host() -> None:
    """Refuse a request under another name: a page elsewhere may lead browsers here by its own."""
    try:
        asked = urlsplit(f"//{request.environ.get('HTTP_HOST', '')}").hostname
    except ValueError:
        asked = None
    if asked not in current_app.config["HOSTS"]:
        raise SecurityError


_w, _t = table(Rater), table(Invitation)
_LIVE = (
    select(_w.c.id, _w.c.code, _w.c.public_id)
    .join_from(_w, _t, _t.c.rater_id == _w.c.id)
    # A number is given anew once its rater was erased; this name never is.
    .where(_w.c.id == bindparam("rater"), _w.c.public_id == bindparam("name"))
    .where(_t.c.id == bindparam("invitation"), _t.c.revoked_at.is_(None))
)


def load_rater() -> None:
    """Find the rater of the session; a revoked link ends it at once."""
    g.rater = None
    rater_id, invitation_id = session.get("rater"), session.get("invitation")
    if not isinstance(rater_id, int) or not isinstance(invitation_id, int):
        return
    with study().ask() as connection:
        # Without a row the session itself stays: its token still tells a page that it is signed
        # out.
        row = connection.execute(
            _LIVE,
            {"rater": rater_id, "name": session.get("rater_name"), "invitation": invitation_id},
        ).one_or_none()
    if row is not None:
        g.rater = SignedIn(row.id, row.code, row.public_id)


def sign_in(rater_id: int, invitation_id: int) -> None:
    """Begin a session; one of the same rater goes on, so that their other tabs still count."""
    w = table(Rater)
    with study().read() as connection:
        name = connection.execute(select(w.c.public_id).where(w.c.id == rater_id)).scalar()
    if session.get("rater_name") != name:
        session.clear()
    session.permanent = True
    session["rater"] = rater_id
    session["rater_name"] = name
    session["invitation"] = invitation_id
    # Complete from now on, so that no page changes it, whatever the order of their answers.
    generate_csrf()


def rater_here() -> SignedIn:
    """Return who is signed in.

    Raises
    ------
    SignedOutError
        Nobody is, or the link was revoked.
    """
    found: SignedIn | None = g.get("rater")
    if found is None:
        raise SignedOutError
    return found


def page_context() -> dict[str, Any]:
    """Return what every page may show."""
    config = study().config
    return {
        "study_name": config.name,
        "rater": g.get("rater"),
    }
