"""The pages on which two responses are compared."""

from flask import Blueprint, jsonify, render_template
from flask.typing import ResponseReturnValue

from annotate_ui.tasks.answers import ComparisonInput
from annotate_ui.tasks.comparison_view import Option, show_comparison
from annotate_ui.tasks.comparisons import ComparisonPayload, comparisons_done
from annotate_ui.tasks.refusals import LeftError
from annotate_ui.tasks.save import save as save_answer
from annotate_ui.web.error_pages import SIGNED_OUT, answer
from annotate_ui.web.i18n.translation import gettext as _
from annotate_ui.web.rate_limits import saves
from annotate_ui.web.rater_session import body, rater_here, rater_of_page, study

pages = Blueprint("comparing", __name__)


@pages.errorhandler(LeftError)
def left(_error: LeftError) -> ResponseReturnValue:
    """Answer a rater who has left like one whose link was revoked."""
    return answer(SIGNED_OUT)


@pages.get("/compare/<public_id>")
def compare(public_id: str) -> ResponseReturnValue:
    """Show a comparison that was opened for this rater."""
    rater = rater_here()
    with study().read() as connection:
        view = show_comparison(connection, study(), rater.id, public_id)
    return render_template(
        "compare.html",
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
def save(public_id: str) -> ResponseReturnValue:
    """Store the rater's decision."""
    rater = rater_of_page()
    stored = save_answer(study(), rater.id, ComparisonPayload(public_id, body(ComparisonInput)))
    with study().read() as connection:
        done, total = comparisons_done(connection, study(), rater.id)
    return jsonify({**stored.as_json(), "progress": {"done": done, "total": total}})


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
