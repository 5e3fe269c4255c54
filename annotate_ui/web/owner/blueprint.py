"""The owner's blueprint: sign-in, the session that every page asks for, and answers to errors.

The owner's session is kept in the same signed cookie as a rater's. The two exclude each other: to
begin one ends the other.
"""

import time
from datetime import datetime
from typing import Any

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    session,
)
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, generate_csrf
from sqlalchemy import Connection, select
from werkzeug.exceptions import NotFound

from annotate_ui.web.error_pages import Problem, answer
from annotate_ui.web.owner import snapshot_cache
from annotate_ui.web.owner.password import is_right, newest_password
from annotate_ui.web.rate_limits import all_log_ins, log_ins
from annotate_ui.web.rater_session import end_session, is_ended, study
from annotate_ui.web.translation import gettext as _, mark
from study.errors import StudyError
from study.schema import random_id

pages = Blueprint("owner", __name__, url_prefix="/owner")

SIGN_IN = "/owner/sign-in"
IDLE = 30 * 60
"""Seconds without a page until a session ends."""
LONGEST = 12 * 60 * 60
"""Seconds from signing in until a session ends in any case."""
_KEY = "owner"
# The cookie is renewed at most once in so many seconds.
_RENEWED_EVERY = 60
# Seconds by which the clock may be set back before sessions end.
_CLOCK_SET_BACK = 60
# Pages without a session: those that begin one.
_OPEN = frozenset({"owner.sign_in", "owner.begin"})
# Requests of a page that is open, which do not show that the owner is active.
_AUTOMATIC = frozenset({"owner.chart", "owner.days_chart", "owner.values_chart", "owner.running"})
# Header of a page that its script asks for again, while it is open.
_REFRESH = "X-Refresh"


def begin_session(password_id: int) -> None:
    """Begin a session under a password; a rater's session in the same browser ends."""
    session.clear()
    now = _now()
    # A session cookie: it ends with the browser.
    session.permanent = False
    session["session"] = random_id()
    session[_KEY] = {"password": password_id, "began": now, "last_active": now}
    generate_csrf()


def has_session(connection: Connection, password_id: int) -> bool:
    """Return whether there is a session under this password that has not ended."""
    stored = _stored()
    if stored is None or "rater" in session or "session" not in session:
        return False
    if connection.execute(select(is_ended()), {"session": session["session"]}).scalar_one():
        return False
    now = _now()
    return (
        stored["password"] == password_id
        and -_CLOCK_SET_BACK <= now - stored["began"] <= LONGEST
        and -_CLOCK_SET_BACK <= now - stored["last_active"] <= IDLE
    )


def _renew_session() -> None:
    stored = _stored()
    now = _now()
    if stored is not None and now - stored["last_active"] >= _RENEWED_EVERY:
        session[_KEY] = {**stored, "last_active": now}


def _stored() -> dict[str, int] | None:
    stored: Any = session.get(_KEY)
    names = {"password", "began", "last_active"}
    if not isinstance(stored, dict) or stored.keys() != names:
        return None
    return stored if all(isinstance(value, int) for value in stored.values()) else None


def _now() -> int:
    return int(time.time())


@pages.before_request
def admit() -> ResponseReturnValue | None:
    """Admit the owner only. Without a password the pages do not exist."""
    with study().read() as connection:
        password = newest_password(connection)
        signed_in = password is not None and has_session(connection, password.id)
    if password is None:
        abort(404)
    if request.endpoint in _OPEN:
        return None
    if not signed_in:
        ended = _stored() is not None
        if ended:
            session.clear()
        return redirect(f"{SIGN_IN}?why=ended" if ended else SIGN_IN, 303)
    if request.endpoint not in _AUTOMATIC and _REFRESH not in request.headers:
        _renew_session()
    return None


@pages.after_request
def _changed(response: Response) -> Response:
    if request.method == "POST":
        snapshot_cache.clear()
    return response


@pages.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """Ask for the password."""
    return render_template("owner/sign_in.html", why=request.args.get("why"), failed=False)


@pages.post("/sign-in")
# The lower decorator is checked first: what one address may not send does not count for all.
@all_log_ins
@log_ins
def begin() -> ResponseReturnValue:
    """Begin a session if the password is right."""
    with study().read() as connection:
        password = newest_password(connection)
    if password is None:
        abort(404)
    if not is_right(password, request.form.get("password", "")):
        return render_template("owner/sign_in.html", why=None, failed=True), 403
    begin_session(password.id)
    return redirect("/owner", 303)


@pages.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the session."""
    end_session()
    return redirect(f"{SIGN_IN}?why=left", 303)


@pages.errorhandler(CSRFError)
def _out_of_date(_error: CSRFError) -> ResponseReturnValue:
    # The token is checked before `admit` runs.
    with study().read() as connection:
        if newest_password(connection) is None:
            return current_app.make_response(current_app.handle_http_exception(NotFound()))
    return answer(
        Problem(
            400,
            "csrf",
            _("This page is out of date"),
            _("Since the page was opened, the session has ended or another one has begun."),
            _("Nothing was changed. Open the page again."),
            ("/owner", _("Go to the overview")),
        )
    )


@pages.errorhandler(StudyError)
def _could_not(error: StudyError) -> ResponseReturnValue:
    """Show the message that a command would print."""
    return render_template("owner/problem.html", page="", text=str(error)), 409


_LABELS = {
    "phase": {
        "left": mark("has left"),
        "consent": mark("consent"),
        "instructions": mark("instructions"),
        "training": mark("training"),
        "training_failed": mark("training failed"),
        "calibration": mark("calibration"),
        "main": mark("main part"),
        "comparisons": mark("comparisons"),
        "repeats": mark("repeats"),
        "adjudication": mark("adjudication"),
        "waiting": mark("nothing to rate yet"),
        "done": mark("done"),
    },
    "exit": {
        "completion": mark("completed"),
        "screen_out": mark("screened out"),
        "return": mark("returned"),
    },
    "signal": {
        "straight_lining": mark("long runs of one value"),
        "little_variation": mark("little variation"),
        "too_fast": mark("very fast"),
        "checks_missed": mark("checks missed"),
        "low_agreement": mark("low agreement with others"),
        "many_missing": mark("many values missing"),
        "passages_unopened": mark("passages not opened"),
    },
    "purpose": {
        "main": mark("main part"),
        "repeat": mark("repeat"),
        "calibration": mark("calibration"),
        "training": mark("training"),
        "check": mark("check"),
        "adjudication": mark("adjudication"),
    },
    "value_status": {
        "cannot_judge": mark("cannot judge"),
        "skipped": mark("skipped"),
        "withdrawn": mark("withdrawn"),
    },
    "statistic": {
        "kendall_tau_b": mark("tau-b"),
        "pearson": mark("correlation"),
        "bias": mark("bias (points)"),
        "human_ceiling": mark("a rater and the other raters"),
        "judge_against_others": mark("the judge and the same raters"),
        "human_ceiling_difference": mark("difference of the two"),
    },
    "measure": {
        "kendall_tau_b": mark("tau-b"),
        "pearson": mark("correlation"),
    },
    "scope": {
        "pooled": mark("all responses"),
        "within_query": mark("responses to one question"),
    },
    "analysis": {
        "agreement": mark("agreement among people"),
        "judge": mark("judge compared with raters"),
        "stopping": mark("the stopping rule"),
    },
    "requested_in": {
        "page": mark("these pages"),
        "command": mark("command"),
    },
}


@pages.app_template_filter("label")
def label(key: str, kind: str) -> str:
    """Return the text for a key of a kind, such as the phase `main`."""
    text = _LABELS[kind].get(key)
    return key if text is None else _(text)


@pages.app_template_filter("moment")
def moment(at: datetime | str | None) -> str:
    """Return a time in UTC as text."""
    time = datetime.fromisoformat(at) if isinstance(at, str) else at
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M")
