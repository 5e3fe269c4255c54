"""Error pages: what happened and what to do, without a traceback."""

import logging
from dataclasses import dataclass

from flask import Flask, g, jsonify, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, SecurityError

from annotate_ui.tasks.refusals import InvalidError, RefusalError, StaleError
from annotate_ui.web.translation import gettext as _, mark, page_language
from study.errors import StorageError, StudyError

log = logging.getLogger("annotate_ui")


class SignedOutError(StudyError):
    """No rater is signed in: the session has ended, or the link was revoked."""


class OtherRaterError(StudyError):
    """The page is of another rater than the one who is signed in."""


@dataclass(frozen=True)
class Problem:
    """An error page, or the same as JSON for a page's script."""

    status: int
    code: str
    title: str
    text: str
    remedy: str = ""
    link: tuple[str, str] | None = ("/", mark("Go to the start page"))


SIGNED_OUT = Problem(
    401,
    "signed_out",
    mark("You are signed out"),
    mark("Your session has ended, or your link was replaced."),
    mark("Open your link again to go on. What you saved is kept."),
    None,
)
BAD_LINK = Problem(
    403,
    "bad_link",
    mark("This link is not valid"),
    mark("It may have been replaced or revoked, or not copied completely."),
    mark("Open the whole link from your invitation, or ask for a new one."),
    None,
)
_CSRF = Problem(
    400,
    "csrf",
    mark("This page is out of date"),
    mark("You have signed in again since it was opened."),
    mark("Reload the page; what you entered is kept in this browser."),
)
_OTHER_RATER = Problem(
    409,
    "other_rater",
    mark("Another rater is signed in"),
    mark("This page was opened by another rater in the same browser."),
    mark("Open your own link again."),
)
_BUSY = Problem(
    503,
    "busy",
    mark("The study is busy"),
    mark("The database did not answer in time."),
    mark("Try again in a moment."),
)
_FULL = Problem(
    503,
    "full",
    mark("Saving is not possible at the moment"),
    mark(
        "The server's disk is full or cannot be written. What you entered is kept in this browser."
    ),
    mark("Please tell the person who runs the study, and try again later."),
)
_FAILED = Problem(
    500,
    "failed",
    mark("Something went wrong"),
    mark("The error is on the server and was logged. What you saved is kept."),
    mark("Go back and try again."),
)
_BY_STATUS = {
    400: Problem(
        400, "bad_request", mark("This request can't be read"), mark("Part of it is missing.")
    ),
    404: Problem(
        404,
        "not_found",
        mark("Page not found"),
        mark("It does not exist, or is not open for you yet."),
    ),
    405: Problem(405, "not_allowed", mark("This request is not allowed"), ""),
    413: Problem(
        413,
        "too_large",
        mark("This request is too large"),
        mark("A comment may have up to 5,000 characters."),
    ),
    415: Problem(
        415, "not_json", mark("This request can't be read"), mark("It is not valid JSON.")
    ),
    429: Problem(
        429,
        "too_many",
        mark("Too many requests"),
        mark("There were too many requests in a short time."),
        mark("Wait a minute and try again."),
    ),
}
_REFUSALS = {
    "not_found": mark("This page was not opened for you. Go on from the start page."),
    "invalid": mark("This value is not valid here."),
    "key_reused": mark("This could not be stored; enter the value again."),
    "stale": mark("Another value was saved here in the meantime."),
}


def wants_json() -> bool:
    """Return whether the page's script sent the request, and not the browser itself."""
    return request.is_json


def answer(problem: Problem) -> ResponseReturnValue:
    """Return a problem as a page, or as JSON for a script."""
    if wants_json():
        message = " ".join(_(part) for part in (problem.text, problem.remedy) if part)
        body = {"error": {"code": problem.code, "message": message or _(problem.title)}}
        return jsonify(body), problem.status
    link = None
    if problem.link is not None:
        link = {"href": problem.link[0], "text": _(problem.link[1])}
    page = render_template(
        "problem.html",
        page="problem",
        title=_(problem.title),
        text=problem.text and _(problem.text),
        remedy=problem.remedy and _(problem.remedy),
        link=link,
    )
    return page, problem.status


def answer_csrf(_: CSRFError) -> ResponseReturnValue:
    """Refuse a request without the page's token, or with one of another session."""
    owner = request.headers.get("X-Rater")
    if owner is not None and g.get("rater") is not None and g.rater.public_id != owner:
        return answer(_OTHER_RATER)
    # Without a session there is no token to compare with.
    return answer(_CSRF if "csrf_token" in session else SIGNED_OUT)


def _refusal(error: RefusalError) -> str:
    # The exact message is in English; in another language there is a message for its kind.
    message = None if page_language() == "en" else _REFUSALS.get(error.code)
    return str(error) if message is None else _(message)


def explain_problems(app: Flask) -> None:
    """Answer every error with one of these pages, or as JSON."""

    @app.errorhandler(RefusalError)
    def _refused(error: RefusalError) -> ResponseReturnValue:
        if not wants_json():
            return answer(_BY_STATUS.get(error.status, _BY_STATUS[400]))
        body: dict[str, object] = {"error": {"code": error.code, "message": _refusal(error)}}
        if isinstance(error, InvalidError):
            body["field"] = error.field
        if isinstance(error, StaleError):
            body["current"] = None if error.current is None else error.current.as_json()
        return jsonify(body), error.status

    @app.errorhandler(SignedOutError)
    def _signed_out(_: SignedOutError) -> ResponseReturnValue:
        return answer(SIGNED_OUT)

    @app.errorhandler(OtherRaterError)
    def _other_rater(_: OtherRaterError) -> ResponseReturnValue:
        return answer(_OTHER_RATER)

    app.register_error_handler(CSRFError, answer_csrf)

    @app.errorhandler(StudyError)
    def _busy(error: StudyError) -> ResponseReturnValue:
        log.error("%s %s: %s", request.method, request.endpoint, error)
        return answer(_FULL if isinstance(error, StorageError) else _BUSY)

    @app.errorhandler(SecurityError)
    def _other_host(_: SecurityError) -> ResponseReturnValue:
        # No template can be rendered here: its links would lead to the address of the request.
        return "This server is not known under this address.\n", 400, {"Content-Type": "text/plain"}

    @app.errorhandler(HTTPException)
    def _http(error: HTTPException) -> ResponseReturnValue:
        status = error.code or 500
        if status < 400:
            return error.get_response()
        return answer(_BY_STATUS.get(status, _FAILED if status >= 500 else _BY_STATUS[400]))

    @app.errorhandler(Exception)
    def _failed(error: Exception) -> ResponseReturnValue:
        log.error("%s %s failed", request.method, request.endpoint, exc_info=error)
        return answer(_FAILED)
