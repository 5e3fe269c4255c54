"""The pages before the work: consent text and instructions, and the answers to them."""

from typing import Any

from flask import Blueprint, g, jsonify, redirect, render_template, request
from flask.typing import ResponseReturnValue

from annotate_ui.participants.consent import (
    RaterText,
    answer,
    answer_to,
    markdown,
    open_gate,
    texts_of,
)
from annotate_ui.tasks.exit_codes import exit_code
from annotate_ui.web.error_pages import wants_json
from annotate_ui.web.rater_session import rater_here, study
from annotate_ui.web.translation import gettext as _

pages = Blueprint("consenting", __name__)

# Signing in and out, and the owner's pages, need no consent of a rater.
_UNGATED = frozenset({"access", "enrolling", "consenting"})


@pages.before_app_request
def wait_for_consent() -> ResponseReturnValue | None:
    """Send no content of the study to a rater who has not agreed to take part."""
    if not _is_gated() or not _waits_for_consent(g.rater.id):
        return None
    if not wants_json():
        return redirect("/consent", 303)
    if request.endpoint == "rating.go_on":
        return jsonify({"url": "/consent"})
    # As for a signed-out rater: the page's script keeps what was entered, and sends it later.
    message = _("Your consent is needed before you go on. Open the overview.")
    return jsonify({"error": {"code": "consent", "message": message}, "url": "/consent"}), 401


def _is_gated() -> bool:
    """Return whether a rater asks for content of the study."""
    if g.rater is None or request.endpoint in {None, "static"}:
        return False
    part = request.blueprint or ""
    return part not in _UNGATED and not part.startswith("owner")


def _waits_for_consent(rater_id: int) -> bool:
    text = texts_of(study()).consent
    if text is None:
        return False
    with study().read() as connection:
        return not answer_to(connection, rater_id, text)


@pages.app_context_processor
def available_texts() -> dict[str, Any]:
    """Give templates the names of the texts that can be read again."""
    texts = texts_of(study())
    return {
        "has_consent_text": texts.consent is not None,
        "has_instructions": texts.instructions is not None,
    }


@pages.get("/consent")
def consent() -> ResponseReturnValue:
    """Show what taking part means, and ask for consent unless it was given."""
    return _show("consent.html", texts_of(study()).consent)


@pages.post("/consent")
def answer_consent() -> ResponseReturnValue:
    """Store whether the rater agrees to the text that they were shown."""
    rater = rater_here()
    text = texts_of(study()).consent
    choice = request.form.get("answer")
    if (
        text is None
        or request.form.get("text") != text.sha256
        or choice not in {"agree", "decline"}
    ):
        # The text has changed since it was shown, so the answer is not about it.
        return redirect("/consent", 303)
    agreed = answer(study(), rater.id, text, agreed=choice == "agree")
    return redirect(_after(rater.id) if agreed else "/consent/declined", 303)


@pages.get("/consent/declined")
def declined() -> ResponseReturnValue:
    """Thank a rater who does not agree."""
    rater = rater_here()
    text = texts_of(study()).consent
    with study().read() as connection:
        agreed = None if text is None else answer_to(connection, rater.id, text)
    if agreed is not False:
        return redirect("/consent", 303)
    code = exit_code(study().config.rating, "screen_out")
    return render_template("declined.html", page="declined", exit_code=code)


@pages.get("/instructions")
def instructions() -> ResponseReturnValue:
    """Show the instructions, before the work and at any time after."""
    rater = rater_here()
    with study().read() as connection:
        if open_gate(connection, study(), rater.id) == "consent":
            return redirect("/consent", 303)
    return _show("instructions.html", texts_of(study()).instructions)


@pages.post("/instructions")
def confirm_instructions() -> ResponseReturnValue:
    """Store that the rater has read the instructions that they were shown."""
    rater = rater_here()
    with study().read() as connection:
        if open_gate(connection, study(), rater.id) == "consent":
            return redirect("/consent", 303)
    text = texts_of(study()).instructions
    if text is None or request.form.get("text") != text.sha256:
        return redirect("/instructions", 303)
    answer(study(), rater.id, text, agreed=True)
    return redirect("/rate", 303)


def _show(template: str, text: RaterText | None) -> ResponseReturnValue:
    rater = rater_here()
    if text is None:
        return redirect("/rate", 303)
    with study().read() as connection:
        agreed = answer_to(connection, rater.id, text)
    return render_template(
        template,
        page="text",
        text_hash=text.sha256,
        text=markdown(text.markdown),
        text_language=study().config.rating.language,
        agreed=bool(agreed),
    )


def _after(rater_id: int) -> str:
    with study().read() as connection:
        gate = open_gate(connection, study(), rater_id)
    return "/rate" if gate is None else f"/{gate}"
