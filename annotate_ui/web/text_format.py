"""How pages show responses, passages and references: what their templates need for it."""

from typing import Any

from flask import request

from annotate_ui.web.rater_session import study
from annotate_ui.web.rendered_text import rendered


def text_format_context() -> dict[str, Any]:
    """Return the format of study.toml, and what renders a text, for a page that stores values."""
    return {"text_format": study().config.rating.text_format, "rendered_text": rendered}


def chosen_text_format_context() -> dict[str, Any]:
    """Return the same for a page that stores no value: its address may name the other format."""
    context = text_format_context()
    chosen = request.args.get("texts")
    if context["text_format"] != "plain" and chosen in {"monospace", "rendered"}:
        context["text_format"] = chosen
    return context
