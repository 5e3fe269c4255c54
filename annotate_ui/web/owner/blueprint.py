"""What every page of the owner's goes through: a password that exists, and a session under it."""

from flask import Blueprint, Response, abort, current_app, redirect, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import NotFound

from annotate_ui.web.error_pages import Problem, answer
from annotate_ui.web.i18n.translation import gettext as _
from annotate_ui.web.owner import monitored, owner_session
from annotate_ui.web.owner.password import newest_password
from annotate_ui.web.rater_session import study
from study.errors import StudyError

pages = Blueprint("owner", __name__, url_prefix="/owner")

SIGN_IN = "/owner/sign-in"
# Answered without a session: what begins one.
_OPEN = frozenset({"owner.sign_in", "owner.begin"})
# They come with a page, or while one is looked at: nobody shows by them that they are there.
_IN_PASSING = frozenset({"owner.chart", "owner.running"})


@pages.before_request
def admit() -> ResponseReturnValue | None:
    """Let in the owner alone. Without a password there are no such pages."""
    with study().read() as connection:
        password = newest_password(connection)
    if password is None:
        abort(404)
    if request.endpoint in _OPEN:
        return None
    if not owner_session.holds(password.id):
        ended = owner_session.end()
        return redirect(f"{SIGN_IN}?why=ended" if ended else SIGN_IN, 303)
    if request.endpoint not in _IN_PASSING:
        owner_session.go_on()
    return None


@pages.after_request
def _changed(response: Response) -> Response:
    if request.method == "POST":
        monitored.forget()
    return response


@pages.errorhandler(CSRFError)
def _out_of_date(_error: CSRFError) -> ResponseReturnValue:
    # A token is looked at before anything else.
    with study().read() as connection:
        if newest_password(connection) is None:
            return current_app.make_response(current_app.handle_http_exception(NotFound()))
    return answer(
        Problem(
            400,
            "csrf",
            _("This page is out of date"),
            _("The session was begun anew, or it has ended, since the page was opened."),
            _("Nothing was changed. Open the page again."),
            ("/owner", _("Go to the overview")),
        )
    )


@pages.errorhandler(StudyError)
def _could_not(error: StudyError) -> ResponseReturnValue:
    """Tell the owner what a command would have told."""
    return render_template("owner/could_not.html", page="", text=str(error)), 409
