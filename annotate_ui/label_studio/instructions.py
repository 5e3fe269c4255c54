"""What raters read in Label Studio before they rate: the owner's words, and the rules."""

from collections.abc import Sequence
from html import escape

from annotate_ui.participants.markdown import markdown
from annotate_ui.participants.rater_texts import texts_of
from study.settings.constructs import ConstructSpec
from study.study import Study


def instructions(study: Study, constructs: Sequence[ConstructSpec], place: str) -> str:
    """Return the instructions of a project as HTML that can do nothing but be read.

    `place` says which of the projects it is.
    """
    parts = [f"<p>{escape(place)}</p>"]
    own = texts_of(study).instructions
    if own is not None:
        parts.append(str(markdown(own.markdown)))
    parts += [
        "<p>Give a number for everything that is asked. Where you cannot judge a response at all, "
        "skip it. Leave a task only after submitting: what was typed seconds before is lost.</p>"
    ]
    for construct in constructs:
        parts.append(f"<h3>{escape(construct.name)}</h3><p>{escape(construct.question)}</p>")
        if construct.rules:
            rules = "".join(f"<li>{escape(rule)}</li>" for rule in construct.rules)
            parts.append(f"<ul>{rules}</ul>")
    return "\n".join(parts)
