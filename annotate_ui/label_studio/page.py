"""The page of a project: its labeling configuration and the words on it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from html import escape
from math import isclose
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from annotate_ui.participants.consent import markdown, texts_of
from study.base.scales import Scale
from study.settings.constructs import ConstructSpec
from study.study import Study
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
NOTHING_TO_MARK = "No sentence to mark"
# Label Studio accepts these as names of controls and preserves them in exports.
_CONTROL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_ENDINGS = ("_flags", "_marks", "_unmarked")
_RESERVED = {COMMENT, TARGET, "question", "reference", "passages"}
# A scale with more points is typed as a number.
_MOST_POINTS = 11
Controls = dict[str, dict[str, Any]]
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


def header(view: Element, text: str, size: int = 6) -> None:
    """Add a line; size 5 is a heading."""
    SubElement(view, "Header", value=plain_text(text), size=str(size))


def plain_text(text: str) -> str:
    """Return a text of the study on one line, without characters that XML does not allow.

    `$` is replaced by a similar character, since it begins the name of a field in Label Studio.
    """
    return " ".join(_NOT_IN_XML.sub("�", text).split()).replace("$", "＄")


@dataclass(frozen=True)
class Configuration:
    """A labeling configuration and the meaning of its controls."""

    xml: str
    controls: Controls
    """Name of a control to what its results mean, by which `AnnotationReader` reads them.

    `kind` is one of
    - `number`: a value of `construct` in `construct_version`. Where it is chosen, `labels` has the
      number of each choice;
    - `preference`: the better one of two responses, with `labels` as above, or of a Pairwise;
    - `ranking`: the order of the items of a list, with the numbers of its buckets as `labels`;
    - `marks`: labels on the response, `labels` with the construct of each and `versions` of the
      constructs; `none` names the control that says that there is nothing to mark (`unmarked`);
    - `flags`: remarks, a list; `comment`.
    """


def configuration(
    fields: Sequence[Sees], constructs: Sequence[ConstructSpec], versions: Mapping[str, int]
) -> Configuration:
    """Return the configuration of a project that shows `fields` to rate `constructs`."""
    page, controls = Element("View", className="ccrs-page"), Controls()
    for style in (_PROTECTION, _LAYOUT):
        SubElement(page, "Style").text = style
    texts = SubElement(page, "View", className="ccrs-texts")
    for field in fields:
        header(texts, HEADINGS[field], size=5)
        if field != "context":
            text = {"name": field, "value": f"${field}", "granularity": "word"}
            SubElement(texts, "Text", text)
        else:
            each = SubElement(texts, "Repeater", on="$passages", indexFlag="{{idx}}")
            folded = SubElement(each, "Collapse", open="false")
            panel = SubElement(folded, "Panel", value="$passages[{{idx}}].title")
            SubElement(panel, "Text", name="passage_{{idx}}", value="$passages[{{idx}}].text")
    questions = SubElement(page, "View", className="ccrs-questions")
    for construct in constructs:
        controls |= _rating(questions, construct, versions[construct.key])
    comment = {"name": COMMENT, "toName": TARGET, "placeholder": "Comment (optional)"}
    comment |= {"rows": "2", "maxSubmissions": "1", "editable": "true"}
    SubElement(questions, "TextArea", comment)
    controls[COMMENT] = {"kind": "comment"}
    keyed = (element for element in page.iter() if element.tag in {"Number", "Choice", "Label"})
    for number, control in enumerate(keyed):
        control.set("hotkey", chr(_FIRST_HOTKEY + number))
    indent(page)
    return Configuration(tostring(page, encoding="unicode"), controls)


def _rating(questions: Element, construct: ConstructSpec, version: int) -> Controls:
    """Add the controls of a construct: value, remarks and marks; return their meaning."""
    name, scale = control_name(construct.key), construct.scale
    view = SubElement(questions, "View", className="ccrs-construct")
    header(view, f"{construct.name} ({scale})", size=5)
    header(view, construct.question)
    meaning = {"construct": construct.key, "construct_version": version}
    message = plain_text(f"Give a number from {scale} for {construct.name}.")
    labels = {point: float(point) for point in scale_points(scale)}
    if labels:
        # Not "single-radio", whose value the arrow keys change.
        single = {"choice": "single", "required": "true", "showInline": "true"}
        _choices(view, name, labels, **single, requiredMessage=message)
    else:
        number = {"name": name, "toName": TARGET, "required": "true", "requiredMessage": message}
        number |= {"min": f"{scale.min:.15g}", "max": f"{scale.max:.15g}"}
        number["step"] = "any" if scale.step is None else f"{scale.step:.15g}"
        SubElement(view, "Number", number, hint=plain_text(str(scale)))
    value_labels = {"labels": labels} if labels else {}
    controls: Controls = {name: {"kind": "number", **meaning, **value_labels}}
    for point, words in sorted(construct.anchors.items(), key=lambda anchor: float(anchor[0])):
        header(view, f"{point}: {words}")
    if construct.flags:
        _choices(view, f"{name}_flags", construct.flags)
        controls[f"{name}_flags"] = {"kind": "flags", **meaning, "flags": list(construct.flags)}
    if construct.mark_question is not None:
        header(view, construct.mark_question)
        label, none = plain_text(construct.name), f"{name}_unmarked"
        marks = SubElement(view, "Labels", name=f"{name}_marks", toName=TARGET)
        SubElement(marks, "Label", value=label)
        # An answer without any label says nothing: it may have been forgotten.
        _choices(view, none, [NOTHING_TO_MARK])
        mark_labels = {"labels": {label: construct.key}, "versions": {construct.key: version}}
        controls[f"{name}_marks"] = {"kind": "marks", **mark_labels, "none": none}
        controls[none] = {"kind": "unmarked"}
    return controls


def _choices(
    view: Element, name: str, labels: Iterable[str], *, choice: str = "multiple", **more: str
) -> None:
    """Add boxes to tick, one or any of them."""
    boxes = SubElement(view, "Choices", {"name": name, "toName": TARGET, "choice": choice, **more})
    for label in labels:
        SubElement(boxes, "Choice", value=plain_text(label))


def scale_points(scale: Scale) -> list[str]:
    """Return the points of a scale that has few; empty for any other scale."""
    steps = (scale.max - scale.min) / scale.step if scale.step is not None else _MOST_POINTS
    if scale.step is None or steps >= _MOST_POINTS or not isclose(steps, round(steps)):
        return []
    return [f"{scale.min + index * scale.step:.10g}" for index in range(round(steps) + 1)]


def control_name(key: str) -> str:
    """Return the name of a construct's control: its key if that is valid, else a digest."""
    ours = key in _RESERVED or key.endswith(_ENDINGS)
    if _CONTROL_NAME.fullmatch(key) and not ours:
        return key
    return f"construct_{blake2b(key.encode(), digest_size=6).hexdigest()}"


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
