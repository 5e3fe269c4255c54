"""The page of a task: its texts on the left, its questions on the right, and their style.

Texts are shown in `Text`, never in `HyperText`, which would run scripts in them.
"""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, canonicalize, indent, tostring

from study.types import Sees

HEADINGS: dict[Sees, str] = {
    "question": "Question",
    "response": "Response",
    "context": "Passages",
    "reference": "Reference answer",
}
COMMENT = "comment"
TARGET = "response"
"""Name of the text that the controls refer to."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe\uffff]")
# Unless each control has a hotkey, Label Studio binds the digits 1 to 9 and then letters to it:
# typed outside a field, they would change ratings and tick remarks. No key has the code of a
# private-use character.
_FIRST_HOTKEY = 0xE000
# The wheel changes a number that has the focus: in Chromium and WebKit by its arrows, which are
# left out; in Firefox the pointer passes through the field. The hotkeys are not shown.
_PROTECTION = (
    "input[type=number]::-webkit-inner-spin-button { display: none; } "
    "@supports (-moz-appearance: none) { input[type=number]:focus { pointer-events: none; } } "
    "input[type=number] ~ sup, [class*=choice] sup, [class*=label__hotkey] { display: none; }"
)
# The questions stay in view while the texts are scrolled; they follow the texts where the page is
# narrow. Names of classes are those of these elements.
_LAYOUT = (
    ".ccrs-page { display: flex; gap: 24px; align-items: flex-start; } "
    ".ccrs-texts { flex: 1 1 0; min-width: 0; } "
    ".ccrs-questions { flex: 0 0 320px; position: sticky; top: 0; max-height: calc(100vh - 150px); "
    "overflow-y: auto; padding: 0 4px 8px; } "
    ".ccrs-construct { margin-bottom: 16px; } "
    # A comment needs no button: it is sent with the values.
    ".ccrs-questions textarea + div { display: none; } "
    ".ccrs-construct h4 { font-size: 14px; font-weight: normal; line-height: 1.35; } "
    ".ccrs-construct h4:first-child { font-size: 16px; font-weight: 600; } "
    "@media (max-width: 1100px) { .ccrs-page { flex-direction: column; align-items: stretch; } "
    ".ccrs-questions { flex: none; position: static; max-height: none; } }"
)


class LabelingPage:
    """A page to which texts and questions are added."""

    def __init__(self) -> None:
        self._view = Element("View", className="ccrs-page")
        for style in (_PROTECTION, _LAYOUT):
            SubElement(self._view, "Style").text = style
        self.texts = SubElement(self._view, "View", className="ccrs-texts")
        self.questions = SubElement(self._view, "View", className="ccrs-questions")

    def show(self, field: Sees) -> None:
        """Add a field of the query."""
        if field != "context":
            self._text(HEADINGS[field], field)
        else:
            header(self.texts, HEADINGS[field], size=5)
            each = SubElement(self.texts, "Repeater", on="$passages", indexFlag="{{idx}}")
            folded = SubElement(each, "Collapse", open="false")
            panel = SubElement(folded, "Panel", value="$passages[{{idx}}].title")
            SubElement(panel, "Text", name="passage_{{idx}}", value="$passages[{{idx}}].text")

    def _text(self, heading: str, name: str) -> None:
        header(self.texts, heading, size=5)
        SubElement(self.texts, "Text", name=name, value=f"${name}", granularity="word")

    def ask(self, name: str, *lines: str) -> Element:
        """Add a question with a heading and further lines; return its view."""
        view = SubElement(self.questions, "View", className="ccrs-construct")
        header(view, name, size=5)
        for line in lines:
            header(view, line)
        return view

    def choices(
        self, view: Element, name: str, labels: Iterable[str], *, single: bool = False, **more: str
    ) -> None:
        """Add boxes to tick: any of them, or a `single` one, which is required."""
        # Not "single-radio", whose value the arrow keys change.
        kind = {"choice": "single", "required": "true"} if single else {"choice": "multiple"}
        boxes = SubElement(view, "Choices", {"name": name, "toName": TARGET, **kind, **more})
        for label in labels:
            SubElement(boxes, "Choice", value=plain_text(label))

    def finished(self) -> str:
        """Add an optional comment, and return the page as XML."""
        SubElement(
            self.questions,
            "TextArea",
            name=COMMENT,
            toName=TARGET,
            placeholder="Comment (optional)",
            rows="2",
            maxSubmissions="1",
            editable="true",
        )
        controls = (e for e in self._view.iter() if e.tag in {"Number", "Choice", "Label"})
        for number, control in enumerate(controls):
            control.set("hotkey", chr(_FIRST_HOTKEY + number))
        indent(self._view)
        return tostring(self._view, encoding="unicode")


def header(view: Element, text: str, size: int = 6) -> None:
    """Add a line; size 5 is a heading."""
    SubElement(view, "Header", value=plain_text(text), size=str(size))


def same_page(xml: str, other: str) -> bool:
    """Whether two pages are the same, however they are written."""
    return canonicalize(xml, strip_text=True) == canonicalize(other, strip_text=True)


def plain_text(text: str) -> str:
    """Return a text of the study on one line, without characters that XML does not allow.

    `$` is replaced by a similar character, since it begins the name of a field in Label Studio.
    """
    return " ".join(_NOT_IN_XML.sub("�", text).split()).replace("$", "＄")
