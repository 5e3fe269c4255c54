"""The instructions of a project: HTML that Label Studio shows before the first task."""

from collections.abc import Sequence
from html import escape

from annotate_ui.label_studio.configuration import NOTHING_TO_MARK, scale_points
from annotate_ui.participants.consent import markdown, texts_of
from study.settings.constructs import ConstructSpec
from study.study import Study

_NUMBERS = (
    "Look at every number before you submit. A number field loses a minus sign that is typed "
    "first, and a zero right after the decimal point: type the other digits, then insert the sign "
    "or zero. A comma is dropped as well: write 7.5, since 7,5 becomes 75. Write 100, not 1e2. In "
    "a field, the arrow keys up and down change the number."
)
_MARKS = (
    "To mark sentences of the response, click the label, then select the text; repeat this for "
    "each part. Delete a mark by selecting it and pressing Backspace. If there is nothing to mark, "
    f"tick {NOTHING_TO_MARK}."
)


def instructions(study: Study, constructs: Sequence[ConstructSpec], place: str) -> str:
    """Return the instructions of a project, without active content.

    `place` is the line that names the project.
    """
    parts = [f"<p>{escape(place)}</p>"]
    text = texts_of(study).instructions
    if text is not None:
        parts.append(str(markdown(text.markdown)))
    notes = [
        "Give a number for every question. If you cannot judge a response at all, skip the task. "
        "Submit before you leave a task: unsubmitted values may be lost."
    ]
    if any(not scale_points(construct.scale) for construct in constructs):
        notes.append(_NUMBERS)
    if any(construct.mark_question for construct in constructs):
        notes.append(_MARKS)
    parts += [f"<p>{note}</p>" for note in notes]
    for construct in constructs:
        parts.append(f"<h3>{escape(construct.name)}</h3><p>{escape(construct.question)}</p>")
        if construct.rules:
            rules = "".join(f"<li>{escape(rule)}</li>" for rule in construct.rules)
            parts.append(f"<ul>{rules}</ul>")
    return "\n".join(parts)
