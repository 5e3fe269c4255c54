"""Signing in with a link, signing out, and leaving the study.

A link is /join#TOKEN. Browsers do not send the fragment, so no log contains the token; the page's
script posts it when the rater presses Begin. Opening the link changes nothing.
"""

from flask import Blueprint, g, redirect, render_template, request, session
from flask.typing import ResponseReturnValue

from annotate_ui.participants.tokens import mark_used, rater_of_token
from annotate_ui.participants.withdrawal import leave as leave_study
from annotate_ui.tasks.exit_codes import exit_code
from annotate_ui.web.error_pages import BAD_LINK, answer
from annotate_ui.web.rate_limits import REFUSED, failed_links
from annotate_ui.web.rater_session import end_session, rater_here, sign_in, study

pages = Blueprint("access", __name__)


@pages.get("/")
def landing() -> ResponseReturnValue:
    """Send a rater to the overview; tell other visitors that they need a link."""
    if g.rater is not None:
        return redirect("/rate", 303)
    return render_template("landing.html", page="landing")


@pages.get("/join")
def join() -> ResponseReturnValue:
    """Show the page of a link, with the button Begin."""
    return render_template("join.html", page="join")


@pages.post("/join")
def begin() -> ResponseReturnValue:
    """Sign in the rater of a live link."""
    token = request.form.get("token", "")
    with study().read() as connection:
        invited = rater_of_token(connection, token)
    if invited is None:
        with failed_links:
            return redirect(REFUSED, 303)
    with study().write() as connection:
        mark_used(connection, invited[1])
    sign_in(*invited)
    return redirect("/rate", 303)


@pages.get(REFUSED)
def refused() -> ResponseReturnValue:
    """Report that a link is not valid, at a separate address.

    A browser that is at /join would take the next link for a place on the same page.
    """
    return answer(BAD_LINK)


@pages.post("/leave")
def leave() -> ResponseReturnValue:
    """End the session."""
    if g.rater is None:
        session.clear()
    else:
        end_session()
    return redirect("/left", 303)


@pages.get("/left")
def left() -> ResponseReturnValue:
    """Report that the session has ended."""
    return render_template("signed_out.html", page="left")


@pages.get("/withdraw")
def choose() -> ResponseReturnValue:
    """Explain what leaving the study means, and ask for confirmation."""
    rater_here()
    return render_template("withdraw.html", page="withdraw")


@pages.post("/withdraw")
def withdraw() -> ResponseReturnValue:
    """End the rater's part in the study, once they have confirmed it."""
    rater = rater_here()
    if request.form.get("confirmed") != "yes":
        return redirect("/withdraw", 303)
    leave_study(study(), rater.id, "withdrew")
    session.clear()
    # The next page shows a code to those who have left, and to nobody else.
    session["left_study"] = True
    return redirect("/withdrawn", 303)


@pages.get("/withdrawn")
def withdrawn() -> ResponseReturnValue:
    """Thank somebody who has left the study."""
    left_study = session.get("left_study", False)
    code = exit_code(study().config.rating, "return") if left_study else None
    return render_template("withdrawn.html", page="withdrawn", exit_code=code)
