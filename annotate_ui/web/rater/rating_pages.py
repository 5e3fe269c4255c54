"""The pages of a rater's work: overview, steps, comparisons, feedback, history and the end."""

from typing import Annotated

from flask import Blueprint, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from werkzeug.exceptions import BadRequest

from annotate_ui.tasks.answers import ComparisonInput, Kept, MarksInput, RatingInput, rating_kept
from annotate_ui.tasks.assignments import values_done
from annotate_ui.tasks.closing import answer_closing, closing_answer
from annotate_ui.tasks.comparison_view import Option, show_comparison
from annotate_ui.tasks.comparisons import ComparisonPayload, comparisons_done
from annotate_ui.tasks.exit_codes import exit_code
from annotate_ui.tasks.feedback import show_feedback
from annotate_ui.tasks.history import history
from annotate_ui.tasks.marks_payload import MarksPayload
from annotate_ui.tasks.passes import TaskPage
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.refusals import InvalidError, LeftError, NotYoursError
from annotate_ui.tasks.replies import mark_read, readable_replies
from annotate_ui.tasks.save import save, save_within
from annotate_ui.tasks.step_view import construct_view, record_opened, show_page
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import Opened, all_done, notice, open_next
from annotate_ui.web.controls.control import input_kinds
from annotate_ui.web.error_pages import SIGNED_OUT, answer
from annotate_ui.web.rate_limits import openings, saves, unfoldings
from annotate_ui.web.rater_session import body, rater_here, rater_of_page, study
from annotate_ui.web.text_format import chosen_text_format_context, text_format_context
from annotate_ui.web.translation import gettext as _
from study.facts.counted_marks import marks_kept
from study.schema import ClosingAnswerBase

pages = Blueprint("rating", __name__)


class Unfolded(BaseModel):
    """A passage that the rater unfolded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    position: Annotated[int, Field(strict=True, ge=0, lt=2**31)]


@pages.errorhandler(LeftError)
def left(_error: LeftError) -> ResponseReturnValue:
    """Answer a rater who has left like one whose link was revoked."""
    return answer(SIGNED_OUT)


@pages.get("/rate")
def desk() -> ResponseReturnValue:
    """Show the rater's progress, and how rating works."""
    rater = rater_here()
    with study().read() as connection:
        work = rater_work(connection, study().config, rater.id)
        compared, comparisons = comparisons_done(connection, study(), rater.id)
        why = request.args.get("why", "")
        message = notice(why, connection, study(), rater.id, work, _)
        replies = readable_replies(connection, study().config, rater.id)
    screened_out = message is not None and why == "training_failed"
    step = work.frontier
    # An open page may be finished while nothing new is opened, as in a pause.
    open_page = work.page_of(step) if step is not None and step.opened else None
    return render_template(
        "rater_overview.html",
        page="desk",
        progress=work.progress,
        practice=None if step is None else work.practice(step.item),
        compared=compared,
        comparisons=comparisons,
        started=compared > 0 or any(step.opened for step in work.steps),
        notice=message,
        replies=replies,
        exit_code=exit_code(study().config.rating, "screen_out") if screened_out else None,
        open_url=_address(open_page) if message is not None and open_page is not None else None,
        constructs=[construct_view(spec, study().config) for spec in study().config.constructs],
    )


@pages.post("/rate/replies")
def replies_read() -> ResponseReturnValue:
    """Store that the rater has read the owner's replies that their page showed."""
    rater = rater_here()
    until = request.form.get("until", type=int)
    if until is None:
        raise BadRequest
    mark_read(study(), rater.id, until)
    return redirect("/rate", 303)


@pages.post("/rate/next")
@openings
def go_on() -> ResponseReturnValue:
    """Open the next page."""
    rater = rater_of_page() if request.is_json else rater_here()
    address = _leads_to(open_next(study(), rater.id))
    # The page's script asks for the address first, and goes there when it has it.
    return jsonify({"url": address}) if request.is_json else redirect(address, 303)


@pages.get("/rate/<public_id>/<int:stage>")
def step(public_id: str, stage: int) -> ResponseReturnValue:
    """Show a step that was opened for this rater, with the others on its page."""
    rater = rater_here()
    config = study().config
    with study().read() as connection:
        work = rater_work(connection, config, rater.id)
        here = work.find(public_id, stage)
        if here is None or not here.opened:
            raise NotYoursError
        page = work.page_of(here)
        if page.address != (public_id, stage):
            return redirect(_address(page), 303)
        view, columns = show_page(connection, config, page, work.earlier_in_stage(page))
    before, after = work.before(page), work.after(page)
    return render_template(
        "step.html",
        **text_format_context(),
        page="step",
        kept_words=kept_words,
        marks_kept_words=marks_kept_words,
        step=view,
        columns=columns,
        progress=work.progress,
        practice=work.practice(here.item),
        back_url=None if before is None else _address(before),
        forward_url=None if after is None else _address(after),
        next_url="/rate/next",
        opens_next_stage=after is None and work.opens_next_stage(page),
    )


@pages.get("/rate/<public_id>/feedback")
def feedback(public_id: str) -> ResponseReturnValue:
    """Show the expected values of a training response, or the answers of others."""
    rater = rater_here()
    with study().read() as connection:
        work = rater_work(connection, study().config, rater.id)
        page = work.feedback_of(public_id)
        if page is None or not page.opened:
            raise NotYoursError
        view = show_feedback(connection, study(), work, page, rater.id)
    before, after = work.before(page), work.after(page)
    return render_template(
        "feedback.html",
        **chosen_text_format_context(),
        page="feedback",
        feedback=view,
        back_url=None if before is None else _address(before),
        forward_url=None if after is None else _address(after),
        next_url="/rate/next",
    )


@pages.post("/rate/<public_id>/<int:stage>/save")
@saves
def save_rating(public_id: str, stage: int) -> ResponseReturnValue:
    """Store the rater's value for one construct."""
    rater = rater_of_page()
    submission = body(RatingInput)
    if submission.input_kind not in input_kinds(study().config):
        raise InvalidError(f"Unknown kind of input {submission.input_kind!r}.", "input_kind")
    with study().write() as connection:
        stored = save_within(
            connection, study(), rater.id, RatingPayload(public_id, stage, submission)
        )
        done, total = values_done(connection, study().config, rater.id)
        kept = rating_kept(connection, public_id, stored.construct)
    progress = {"done": done, "total": total}
    return jsonify({**stored.as_json(), "progress": progress, "kept": kept_words(kept)})


@pages.post("/rate/<public_id>/<int:stage>/marks")
@saves
def save_marks(public_id: str, stage: int) -> ResponseReturnValue:
    """Store the sentences that the rater marked for one construct."""
    rater = rater_of_page()
    submission = body(MarksInput)
    with study().write() as connection:
        payload = MarksPayload(public_id, stage, submission)
        stored = save_within(connection, study(), rater.id, payload)
        kept = stored.construct in marks_kept(connection, public_id)
    return jsonify({**stored.as_json(), "kept": marks_kept_words(kept)})


@pages.post("/rate/<public_id>/<int:stage>/passages")
@unfoldings
def passages(public_id: str, stage: int) -> ResponseReturnValue:
    """Record that the rater unfolded a passage."""
    rater = rater_of_page()
    record_opened(study(), rater.id, public_id, stage, body(Unfolded).position)
    return jsonify({})


@pages.get("/compare/<public_id>")
def compare(public_id: str) -> ResponseReturnValue:
    """Show a comparison that was opened for this rater."""
    rater = rater_here()
    with study().read() as connection:
        view = show_comparison(connection, study(), rater.id, public_id)
    return render_template(
        "compare.html",
        **text_format_context(),
        page="compare",
        comparison=view,
        options=[(option, option_words(option)) for option in view.options],
        save_url=f"/compare/{view.public_id}/save",
        back_url=None if view.before is None else f"/compare/{view.before}",
        forward_url=None if view.after is None else f"/compare/{view.after}",
        next_url="/rate/next",
    )


@pages.post("/compare/<public_id>/save")
@saves
def save_comparison(public_id: str) -> ResponseReturnValue:
    """Store the rater's decision."""
    rater = rater_of_page()
    stored = save(study(), rater.id, ComparisonPayload(public_id, body(ComparisonInput)))
    with study().read() as connection:
        done, total = comparisons_done(connection, study(), rater.id)
    return jsonify({**stored.as_json(), "progress": {"done": done, "total": total}})


@pages.get("/rate/history")
def rated() -> str:
    """Show the rater's answers, newest first, each with a link to its page."""
    rater = rater_here()
    page = request.args.get("page", 1, type=int)
    with study().read() as connection:
        answers = history(connection, study().config, rater.id, page)
    return render_template(
        "history.html",
        page="history",
        history=answers,
        option_words=option_words,
        kept_words=kept_words,
        marks_kept_words=marks_kept_words,
    )


@pages.get("/rate/end")
def end() -> ResponseReturnValue:
    """Thank a rater whose work is done; send others back to it, and show the completion code."""
    rater = rater_here()
    with study().read() as connection:
        # Decided by what is stored, not by how the rater came here: a code is for finished work.
        if not all_done(connection, study(), rater.id):
            return redirect("/rate", 303)
        progress = rater_work(connection, study().config, rater.id).progress
        stored = closing_answer(connection, rater.id)
    return render_template(
        "end.html",
        page="end",
        progress=progress,
        answered=stored is not None,
        answer=stored,
        exit_code=exit_code(study().config.rating, "completion"),
    )


@pages.post("/rate/end")
@saves
def answer_closing_question() -> ResponseReturnValue:
    """Store the answer to the closing question."""
    rater = rater_here()
    with study().read() as connection:
        if not all_done(connection, study(), rater.id):
            return redirect("/rate", 303)
    comment = request.form.get("comment", "").replace("\r\n", "\n").strip()
    try:
        entered = ClosingAnswerBase.model_validate(
            {"recognized": request.form.get("recognized"), "comment": comment or None}
        )
    except ValidationError:
        raise BadRequest from None
    answer_closing(study(), rater.id, entered)
    return redirect("/rate/end", 303)


def kept_words(kept: Kept | None) -> str:
    """Return which value counts where the newest one does not, else an empty text."""
    if kept is None:
        return ""
    if kept.status is None:
        return _("Entered after more was shown: it is kept, and does not count.")
    if kept.counts is None:
        return _("No value counts; what you entered after more was shown is kept beside it.")
    value = int(kept.counts) if kept.counts.is_integer() else kept.counts
    return _(
        "%(value)s counts; what you entered after more was shown is kept beside it.", value=value
    )


def marks_kept_words(kept: bool) -> str:
    """Return that marks do not count, where they do not, else an empty text."""
    return _("Marked after more was shown: it is kept, and does not count.") if kept else ""


def option_words(option: Option) -> str:
    """Return the text of a choice, by its position on its side of the scale."""
    if option.better == 0:
        return _("Both are equally good")
    number, strength = option.better, option.strength
    if option.strengths > 3:
        return _(
            "%(number)s is better, %(strength)s of %(most)s",
            number=number,
            strength=strength,
            most=option.strengths,
        )
    if strength == option.strengths > 1:
        return _("%(number)s is much better", number=number)
    if option.strengths == 3 and strength == 1:
        return _("%(number)s is slightly better", number=number)
    return _("%(number)s is better", number=number)


def _leads_to(opened: Opened) -> str:
    """Return the address of what was opened, or of the page that explains why nothing was."""
    if opened.page is not None:
        return _address(opened.page)
    if opened.comparison is not None:
        return f"/compare/{opened.comparison}"
    addresses = {"consent": "/consent", "instructions": "/instructions", "end": "/rate/end"}
    return addresses.get(opened.kind, f"/rate?why={opened.kind}")


def _address(page: TaskPage) -> str:
    public_id, stage = page.address
    return f"/rate/{public_id}/{'feedback' if page.is_feedback else stage}"
