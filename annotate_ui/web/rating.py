"""The pages of the work: the overview, the steps, and what their script sends."""

from typing import Annotated, TypeVar

from flask import Blueprint, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from werkzeug.exceptions import BadRequest

from annotate_ui.web.answers import stored_json
from annotate_ui.web.limits import openings, saves, unfoldings
from annotate_ui.web.problems import OtherRaterError
from annotate_ui.web.signed_in import SignedIn, rater_here, study
from annotate_ui.work.commits import Commit
from annotate_ui.work.opening import open_next
from annotate_ui.work.refusals import InvalidError, NotYoursError
from annotate_ui.work.saving import save
from annotate_ui.work.showing import construct_view, record_opened, show_constructs, show_step
from annotate_ui.work.steps import Step, progress_of, rater_work

pages = Blueprint("rating", __name__)


class Unfolded(BaseModel):
    """A passage that the rater unfolded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    position: Annotated[int, Field(strict=True, ge=0, lt=2**31)]


Body = TypeVar("Body", Commit, Unfolded)


@pages.get("/rate")
def desk() -> ResponseReturnValue:
    """Show how far the rater has come, and how rating works."""
    rater = rater_here()
    with study().read() as connection:
        work = rater_work(connection, study().config, rater.id)
    return render_template(
        "desk.html",
        page="desk",
        progress=work.progress,
        started=any(step.opened for step in work.steps),
        waiting="waiting" in request.args,
        constructs=[construct_view(spec, study().config) for spec in study().config.constructs],
    )


@pages.post("/rate/next")
@openings
def go_on() -> ResponseReturnValue:
    """Open the step whose turn it is."""
    rater = _rater_of_page() if request.is_json else rater_here()
    opened = open_next(study(), rater.id)
    if opened.step is not None:
        address = _address(opened.step)
    else:
        address = "/rate/end" if opened.has_worked else "/rate?waiting"
    # The page's script asks first, and goes there once it knows that there is a way.
    return jsonify({"url": address}) if request.is_json else redirect(address, 303)


@pages.get("/rate/<public_id>/<int:stage>")
def step(public_id: str, stage: int) -> ResponseReturnValue:
    """Show a step that was opened for this rater."""
    rater = rater_here()
    config = study().config
    with study().read() as connection:
        work = rater_work(connection, config, rater.id)
        here = work.find(public_id, stage)
        if here is None or not here.opened:
            raise NotYoursError("This page was not opened for you.")
        view = show_step(connection, config, work, here)
        constructs = show_constructs(connection, config, here)
    before, after = work.before(here), work.after(here)
    address = _address(here)
    return render_template(
        "step.html",
        page="step",
        step=view,
        constructs=constructs,
        progress=work.progress,
        back_url=None if before is None else _address(before),
        forward_url=None if after is None else _address(after),
        save_url=f"{address}/save",
        passages_url=f"{address}/passages",
        next_url="/rate/next",
    )


@pages.post("/rate/<public_id>/<int:stage>/save")
@saves
def save_rating(public_id: str, stage: int) -> ResponseReturnValue:
    """Store what the rater committed for one construct."""
    rater = _rater_of_page()
    stored = save(study(), rater.id, public_id, stage, _body(Commit))
    with study().read() as connection:
        progress = progress_of(connection, study().config, rater.id)
    answer = stored_json(stored)
    answer["progress"] = {"done": progress.done, "total": progress.total}
    return jsonify(answer)


@pages.post("/rate/<public_id>/<int:stage>/passages")
@unfoldings
def passages(public_id: str, stage: int) -> ResponseReturnValue:
    """Record that the rater unfolded a passage."""
    rater = _rater_of_page()
    record_opened(study(), rater.id, public_id, stage, _body(Unfolded).position)
    return jsonify({})


def _address(step: Step) -> str:
    return f"/rate/{step.item.public_id}/{step.stage.number}"


def _rater_of_page() -> SignedIn:
    """Return who is signed in, if the page that asks was theirs."""
    rater = rater_here()
    if request.headers.get("X-Rater") != rater.public_id:
        raise OtherRaterError
    return rater


def _body(kind: type[Body]) -> Body:
    try:
        return kind.model_validate(request.get_json())
    except RecursionError:
        raise BadRequest from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = str(fault["loc"][0]) if fault["loc"] else "body"
        message = fault["msg"].removeprefix("Value error, ")
        raise InvalidError(f"{field}: {message}", field) from None
