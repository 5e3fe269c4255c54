"""What a visitor is told when something can't be done: never a trace, always a way on."""

import logging
from dataclasses import dataclass

from flask import Flask, g, jsonify, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, SecurityError

from annotate_ui.web.answers import stored_json
from annotate_ui.work.refusals import InvalidError, RefusalError, StaleError
from study.errors import StudyError

log = logging.getLogger("annotate_ui")


class SignedOutError(StudyError):
    """Nobody is signed in: the session is gone, or the link was revoked."""


class OtherRaterError(StudyError):
    """The page belongs to another rater than the one who is signed in."""


@dataclass(frozen=True)
class Problem:
    """A page about what went wrong, or the same as JSON for the page's script."""

    status: int
    code: str
    title: str
    text: str
    remedy: str = ""
    link: tuple[str, str] | None = ("/", "Go to the start page")


SIGNED_OUT = Problem(
    401,
    "signed_out",
    "You are signed out",
    "Your session has ended, or your link was replaced.",
    "Open your link again to go on. What you saved is kept.",
    None,
)
BAD_LINK = Problem(
    403,
    "bad_link",
    "This link lets nobody in",
    "It may have been replaced, withdrawn, or cut short on its way to you.",
    "Open the whole link from your invitation, or ask for a new one.",
    None,
)
_CSRF = Problem(
    400,
    "csrf",
    "This page is out of date",
    "You signed in again since it was opened.",
    "Reload the page; what you entered waits in this browser.",
)
_OTHER_RATER = Problem(
    409,
    "other_rater",
    "Somebody else is signed in",
    "This page was opened by another rater in the same browser.",
    "Open your own link again.",
)
_BUSY = Problem(
    503,
    "busy",
    "The study is busy",
    "The database did not answer in time.",
    "Try again in a moment.",
)
_FAILED = Problem(
    500,
    "failed",
    "Something went wrong here",
    "The fault is on our side and has been noted; nothing that was saved is lost.",
    "Go back and try again.",
)
_BY_STATUS = {
    400: Problem(400, "bad_request", "This request can't be read", "Part of it is missing."),
    404: Problem(404, "not_found", "There is no such page", "It may not be your turn yet."),
    405: Problem(405, "not_allowed", "This page can't be asked for like that", ""),
    413: Problem(
        413, "too_large", "This is too much at once", "A comment may have 5,000 characters."
    ),
    415: Problem(415, "not_json", "This request can't be read", "It is no JSON."),
    429: Problem(
        429,
        "too_many",
        "Too many requests",
        "This was asked for too often in a short time.",
        "Wait a minute and try again.",
    ),
}


def wants_json() -> bool:
    """Say whether the page's script asks, rather than the browser itself."""
    return request.is_json


def answer(problem: Problem) -> ResponseReturnValue:
    """Return a problem as the page or the JSON that was asked for."""
    if wants_json():
        message = " ".join(part for part in (problem.text, problem.remedy) if part)
        body = {"error": {"code": problem.code, "message": message or problem.title}}
        return jsonify(body), problem.status
    link = None if problem.link is None else dict(zip(("href", "text"), problem.link, strict=True))
    page = render_template(
        "problem.html",
        page="problem",
        title=problem.title,
        text=problem.text,
        remedy=problem.remedy,
        link=link,
    )
    return page, problem.status


def explain_problems(app: Flask) -> None:
    """Answer every error with a page or JSON of ours."""

    @app.errorhandler(RefusalError)
    def _refused(error: RefusalError) -> ResponseReturnValue:
        if not wants_json():
            return answer(_BY_STATUS.get(error.status, _BY_STATUS[400]))
        body: dict[str, object] = {"error": {"code": error.code, "message": str(error)}}
        if isinstance(error, InvalidError):
            body["field"] = error.field
        if isinstance(error, StaleError):
            body["current"] = None if error.current is None else stored_json(error.current)
        return jsonify(body), error.status

    @app.errorhandler(SignedOutError)
    def _signed_out(_: SignedOutError) -> ResponseReturnValue:
        return answer(SIGNED_OUT)

    @app.errorhandler(OtherRaterError)
    def _other_rater(_: OtherRaterError) -> ResponseReturnValue:
        return answer(_OTHER_RATER)

    @app.errorhandler(CSRFError)
    def _csrf(_: CSRFError) -> ResponseReturnValue:
        owner = request.headers.get("X-Rater")
        if owner is not None and g.get("rater") is not None and g.rater.public_id != owner:
            return answer(_OTHER_RATER)
        # Without a session there is no token to compare with.
        return answer(_CSRF if "csrf_token" in session else SIGNED_OUT)

    @app.errorhandler(StudyError)
    def _busy(error: StudyError) -> ResponseReturnValue:
        log.error("%s %s: %s", request.method, request.endpoint, error)
        return answer(_BUSY)

    @app.errorhandler(SecurityError)
    def _other_host(_: SecurityError) -> ResponseReturnValue:
        # No page of ours can be drawn here: its links would follow the address that was asked.
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
