"""Leaving the study, by the rater's own choice."""

from flask import Blueprint, redirect, render_template, request, session
from flask.typing import ResponseReturnValue

from annotate_ui.participants.withdrawal import leave
from annotate_ui.web.rater_session import rater_here, study

pages = Blueprint("leaving", __name__)


@pages.get("/withdraw")
def choose() -> ResponseReturnValue:
    """Say what leaving the study means, and what it is not."""
    rater_here()
    return render_template("withdraw.html", page="withdraw")


@pages.post("/withdraw")
def withdraw() -> ResponseReturnValue:
    """End the rater's part in the study, once they have confirmed it."""
    rater = rater_here()
    if request.form.get("confirmed") != "yes":
        return redirect("/withdraw", 303)
    leave(study(), rater.id, "withdrew")
    session.clear()
    return redirect("/withdrawn", 303)


@pages.get("/withdrawn")
def withdrawn() -> ResponseReturnValue:
    """Thank somebody who has left the study."""
    return render_template("withdrawn.html", page="withdrawn")
