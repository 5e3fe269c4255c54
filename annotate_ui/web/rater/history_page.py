"""The page of what a rater has done."""

from flask import Blueprint, render_template, request

from annotate_ui.tasks.history import history
from annotate_ui.web.rater.comparison_page import option_words
from annotate_ui.web.rater_session import rater_here, study

pages = Blueprint("history", __name__)


@pages.get("/rate/history")
def show() -> str:
    """Show the rater's answers, newest first, each with a link to its page."""
    rater = rater_here()
    page = request.args.get("page", 1, type=int)
    with study().read() as connection:
        found = history(connection, study().config, rater.id, page)
    return render_template("history.html", page="history", history=found, option_words=option_words)
