"""Coming in with a link, and signing out.

A link is /join#TOKEN. Browsers send no fragment, so the token is in no log; the page's script
posts it when the rater presses Begin. Opening the link changes nothing.
"""

from flask import Blueprint, g, redirect, render_template, request, session
from flask.typing import ResponseReturnValue

from annotate_ui.participants.tokens import mark_used, rater_of_token
from annotate_ui.web.error_pages import BAD_LINK, answer
from annotate_ui.web.rate_limits import REFUSED, failed_links
from annotate_ui.web.rater_session import sign_in, study

pages = Blueprint("joining", __name__)


@pages.get("/")
def landing() -> ResponseReturnValue:
    """Send a rater to the work; tell others that they need a link."""
    if g.rater is not None:
        return redirect("/rate", 303)
    return render_template("landing.html", page="landing")


@pages.get("/join")
def join() -> ResponseReturnValue:
    """Show what a link leads to."""
    return render_template("join.html", page="join")


@pages.post("/join")
def begin() -> ResponseReturnValue:
    """Sign in the rater of a live link."""
    token = request.form.get("token", "")
    with study().read() as connection:
        found = rater_of_token(connection, token)
    if found is None:
        with failed_links:
            return redirect(REFUSED, 303)
    with study().write() as connection:
        mark_used(connection, found[1])
    sign_in(*found)
    return redirect("/rate", 303)


@pages.get(REFUSED)
def refused() -> ResponseReturnValue:
    """Say that a link lets nobody in, at an address of its own.

    A browser that stands at /join takes the next link for a place on the same page.
    """
    return answer(BAD_LINK)


@pages.post("/leave")
def leave() -> ResponseReturnValue:
    """End the session."""
    session.clear()
    return redirect("/left", 303)


@pages.get("/left")
def left() -> ResponseReturnValue:
    """Say that the session has ended."""
    return render_template("left.html", page="left")
