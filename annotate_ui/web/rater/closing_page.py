"""The end of the work: thanks, and whether a system was recognized."""

from flask import Blueprint, redirect, render_template, request
from flask.typing import ResponseReturnValue
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest

from annotate_ui.tasks.closing import answer_closing, closing_answer, completion
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import all_done
from annotate_ui.web.rate_limits import saves
from annotate_ui.web.rater_session import rater_here, study
from study.schema import ClosingAnswerBase

pages = Blueprint("ending", __name__)


@pages.get("/rate/end")
def end() -> ResponseReturnValue:
    """Thank a rater whose work is done; send others back to it."""
    rater = rater_here()
    with study().read() as connection:
        # Asked of what is stored, not of how the rater came here: a code is for work that is done.
        if not all_done(connection, study(), rater.id):
            return redirect("/rate", 303)
        progress = rater_work(connection, study().config, rater.id).progress
        given = closing_answer(connection, rater.id)
    return render_template(
        "end.html",
        page="end",
        progress=progress,
        answered=given is not None,
        answer=given,
        completion=completion(study().config.rating),
    )


@pages.post("/rate/end")
@saves
def answer() -> ResponseReturnValue:
    """Store what the rater says at the end."""
    rater = rater_here()
    with study().read() as connection:
        if not all_done(connection, study(), rater.id):
            return redirect("/rate", 303)
    comment = request.form.get("comment", "").replace("\r\n", "\n").strip()
    try:
        given = ClosingAnswerBase.model_validate(
            {"recognized": request.form.get("recognized"), "comment": comment or None}
        )
    except ValidationError:
        raise BadRequest from None
    answer_closing(study(), rater.id, given)
    return redirect("/rate/end", 303)
