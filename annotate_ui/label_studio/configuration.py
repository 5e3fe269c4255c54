"""The labeling interface of a stage: its texts, and a control for each construct.

Texts are shown in `Text`, never in `HyperText`, which would run scripts in them. The values of a
scale with few points are boxes to tick; other numbers are typed: the slider of Label Studio starts
in the middle, which would anchor the rater.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import isclose
from typing import Any
from xml.etree.ElementTree import Element, SubElement, canonicalize, fromstring, indent, tostring

from annotate_ui.tasks.stages import stages
from study.scales import RatingScale
from study.settings.constructs import ConstructSpec
from study.types import Sees

COMMENT = "comment"
TARGET = "response"
"""Name of the text that every control refers to."""
REQUEST = "show_"
"""Beginning of the names of controls that open texts."""

NOTHING_TO_MARK = "No sentence to mark"

_HEADINGS: dict[Sees, str] = {
    "question": "Question",
    "response": "Response",
    "context": "Passages",
    "reference": "Reference answer",
}
_NAMES: dict[Sees, str] = {
    "question": "the question",
    "response": "the response",
    "context": "the passages",
    "reference": "the reference answer",
}
# Label Studio accepts these as names of controls and preserves them in exports.
_CONTROL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_NOT_IN_XML = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe\uffff]")
# A scale with more points is typed as a number.
_MOST_POINTS = 11
# Unless each control has a hotkey, Label Studio binds the digits 1 to 9 and then letters to it:
# typed outside a field, they would change ratings and tick remarks. No key has the code of a
# private-use character.
_FIRST_HOTKEY = 0xE000
# The wheel changes a number that has the focus: in Chromium and WebKit by its arrows, which are
# left out; in Firefox the pointer passes through the field. The hotkeys are not shown.
_STYLE = (
    "input[type=number]::-webkit-inner-spin-button { display: none; } "
    "@supports (-moz-appearance: none) { input[type=number]:focus { pointer-events: none; } } "
    "input[type=number] ~ sup, [class*=choice] sup, [class*=label__hotkey] { display: none; }"
)
# Texts on the left and questions on the right, which stay in view while the texts are scrolled;
# one below the other where the page is narrow. Names of classes are those of these elements.
_LAYOUT = (
    ".ccrs-page { display: flex; gap: 24px; align-items: flex-start; } "
    ".ccrs-texts { flex: 1 1 0; min-width: 0; } "
    ".ccrs-questions { flex: 0 0 320px; position: sticky; top: 0; max-height: calc(100vh - 150px); "
    "overflow-y: auto; padding: 0 4px 8px; } "
    ".ccrs-construct { margin-bottom: 16px; } "
    # A comment needs no button: it is sent with the values.
    ".ccrs-questions textarea + div { display: none; } "
    ".ccrs-construct h4, .ccrs-request h4 { font-size: 14px; font-weight: normal; "
    "line-height: 1.35; } "
    ".ccrs-construct h4:first-child { font-size: 16px; font-weight: 600; } "
    "@media (max-width: 1100px) { .ccrs-page { flex-direction: column; align-items: stretch; } "
    ".ccrs-questions { flex: none; position: static; max-height: none; } }"
)
_ENDINGS = ("_flags", "_marks", "_unmarked")
_RESERVED = {COMMENT, TARGET, "response_1", "response_2", "question", "reference", "passages"}


@dataclass(frozen=True)
class Configuration:
    """A labeling configuration and the meaning of its controls."""

    xml: str
    controls: dict[str, dict[str, Any]]
    """Name of a control to what its results mean, by which `AnnotationReader` reads them.

    `kind` is one of
    - `number`: a value of `construct` in `construct_version`. Where it is chosen, `labels` has the
      number of each choice; where texts are opened on request, `fields` are those of its stage;
    - `preference`: the better one of two responses, with `labels` as above, or of a Pairwise;
    - `ranking`: the order of the items of a list, with the numbers of its buckets as `labels`;
    - `marks`: labels on the response, `labels` with the construct of each and `versions` of the
      constructs; `none` names the control that says that there is nothing to mark (`unmarked`);
    - `flags`: remarks, a list; `comment`; `request`: opens the texts of a stage, its `fields`.
    """


def configuration(
    fields: Sequence[Sees],
    constructs: Sequence[ConstructSpec],
    versions: Mapping[str, int],
    *,
    on_request: bool = False,
) -> Configuration:
    """Return the configuration of a project that shows `fields` to rate `constructs`.

    With `on_request` the rater opens the texts of each later stage, and its constructs with them.
    """
    view, texts, questions = page()
    all_questions = questions
    controls: dict[str, dict[str, Any]] = {}
    open_fields: list[Sees] = []
    for number, (shown, asked) in enumerate(_parts(fields, constructs, on_request)):
        if number:
            texts, questions = _on_request(texts, questions, shown, controls)
        open_fields += shown
        for field in shown:
            show(texts, field)
        for construct in asked:
            control = _construct(questions, construct, versions[construct.key], controls)
            if on_request:
                control["fields"] = list(open_fields)
    add_comment(all_questions, TARGET)
    controls[COMMENT] = {"kind": "comment"}
    protect(view)
    indent(view)
    return Configuration(tostring(view, encoding="unicode"), controls)


def page() -> tuple[Element, Element, Element]:
    """Return the view of a page, and those of its texts and its questions."""
    view = Element("View", className="ccrs-page")
    SubElement(view, "Style").text = _LAYOUT
    texts = SubElement(view, "View", className="ccrs-texts")
    return view, texts, SubElement(view, "View", className="ccrs-questions")


def add_comment(view: Element, target: str) -> None:
    """Add an optional comment; `target` is a text of the page."""
    SubElement(
        view,
        "TextArea",
        name=COMMENT,
        toName=target,
        placeholder="Comment (optional)",
        rows="2",
        maxSubmissions="1",
        editable="true",
    )


def _parts(
    fields: Sequence[Sees], constructs: Sequence[ConstructSpec], on_request: bool
) -> list[tuple[list[Sees], list[ConstructSpec]]]:
    """Return the fields and constructs that appear together: all at once, or stage by stage."""
    if not on_request:
        return [(list(fields), list(constructs))]
    parts: list[tuple[list[Sees], list[ConstructSpec]]] = []
    left = list(fields)
    ordered = stages(constructs)
    for stage in ordered:
        shown = [field for field in left if field in stage.fields or stage is ordered[-1]]
        left = [field for field in left if field not in shown]
        parts.append((shown, [c for c in constructs if c.key in stage.construct_keys]))
    return parts


def _on_request(
    texts: Element, questions: Element, fields: Sequence[Sees], controls: dict[str, dict[str, Any]]
) -> tuple[Element, Element]:
    """Add a control that opens `fields`; return the views of their texts and questions."""
    name = REQUEST + "_".join(fields)
    label = "Show " + " and ".join(_NAMES[field] for field in fields)
    request = SubElement(texts, "View", className="ccrs-request")
    SubElement(request, "Header", value="Answer the questions before you continue.", size="6")
    choices = SubElement(request, "Choices", name=name, toName=TARGET, choice="multiple")
    SubElement(choices, "Choice", value=label)
    controls[name] = {"kind": "request", "fields": list(fields)}
    opened = {"visibleWhen": "choice-selected", "whenTagName": name, "whenChoiceValue": label}
    return SubElement(texts, "View", opened), SubElement(questions, "View", opened)


def _construct(
    view: Element, construct: ConstructSpec, version: int, controls: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Add the controls of a construct; return the meaning of that of its value."""
    meaning = {"construct": construct.key, "construct_version": version}
    name = control_name(construct.key)
    points = scale_points(construct.scale)
    one = SubElement(view, "View", className="ccrs-construct")
    _ask(one, construct, name, points)
    labels = {"labels": {point: float(point) for point in points}} if points else {}
    controls[name] = {"kind": "number", **labels, **meaning}
    if construct.flags:
        _flags(one, construct, f"{name}_flags")
        flags = {"kind": "flags", "flags": list(construct.flags)}
        controls[f"{name}_flags"] = {**flags, **meaning}
    if construct.mark_question is not None:
        controls |= _marks(one, construct, name, version)
    return controls[name]


def _marks(
    view: Element, construct: ConstructSpec, name: str, version: int
) -> dict[str, dict[str, Any]]:
    """Add the controls that mark sentences of the response; return their meaning."""
    label, none = plain_text(construct.name), f"{name}_unmarked"
    SubElement(view, "Header", value=plain_text(construct.mark_question or ""), size="6")
    labels = SubElement(view, "Labels", name=f"{name}_marks", toName=TARGET)
    SubElement(labels, "Label", value=label)
    # An answer without any label says nothing: it may have been forgotten.
    choices = SubElement(view, "Choices", name=none, toName=TARGET, choice="multiple")
    SubElement(choices, "Choice", value=NOTHING_TO_MARK)
    marks = {"kind": "marks", "labels": {label: construct.key}, "none": none}
    return {
        f"{name}_marks": {**marks, "versions": {construct.key: version}},
        none: {"kind": "unmarked"},
    }


def protected(xml: str) -> str:
    """Return a configuration in which neither hotkeys nor the wheel change a value.

    It is returned as it is if it is protected already.
    """
    view = fromstring(xml)  # noqa: S314 (the server's own parser has accepted it)
    return tostring(view, encoding="unicode") if protect(view) else xml


def same_page(xml: str, other: str) -> bool:
    """Whether two configurations are the same, however they are written."""
    return canonicalize(xml, strip_text=True) == canonicalize(other, strip_text=True)


def protect(view: Element) -> bool:
    """Give every control a hotkey that no key has, and the page its style; return if changed."""
    changed = False
    used = {element.get("hotkey") for element in view.iter()}
    unused = (chr(code) for code in range(_FIRST_HOTKEY, 0xF900) if chr(code) not in used)
    for element in view.iter():
        if element.tag in {"Number", "Choice", "Label"} and element.get("hotkey") is None:
            element.set("hotkey", next(unused))
            changed = True
    if not any(style.text == _STYLE for style in view.findall("Style")):
        style = Element("Style")
        style.text = _STYLE
        view.insert(0, style)
        changed = True
    return changed


def scale_points(scale: RatingScale) -> list[str]:
    """Return the points of a scale that has few; empty for any other scale."""
    steps = (scale.max - scale.min) / scale.step if scale.step is not None else _MOST_POINTS
    if scale.step is None or steps >= _MOST_POINTS or not isclose(steps, round(steps)):
        return []
    return [f"{scale.min + index * scale.step:.10g}" for index in range(round(steps) + 1)]


def control_name(key: str) -> str:
    """Return the name of a construct's control: its key if that is valid, else a digest."""
    ours = key in _RESERVED or key.startswith(REQUEST) or key.endswith(_ENDINGS)
    if _CONTROL_NAME.fullmatch(key) and not ours:
        return key
    return f"construct_{blake2b(key.encode(), digest_size=6).hexdigest()}"


def show(view: Element, field: Sees) -> None:
    """Add a field of the query."""
    if field != "context":
        SubElement(view, "Header", value=_HEADINGS[field], size="5")
        SubElement(view, "Text", name=field, value=f"${field}", granularity="word")
        return
    SubElement(view, "Header", value=_HEADINGS[field], size="5")
    each = SubElement(view, "Repeater", on="$passages", indexFlag="{{idx}}")
    folded = SubElement(each, "Collapse", open="false")
    panel = SubElement(folded, "Panel", value="$passages[{{idx}}].title")
    SubElement(panel, "Text", name="passage_{{idx}}", value="$passages[{{idx}}].text")


def _ask(view: Element, construct: ConstructSpec, name: str, points: Sequence[str]) -> None:
    scale = construct.scale
    SubElement(view, "Header", value=plain_text(f"{construct.name} ({scale})"), size="5")
    SubElement(view, "Header", value=plain_text(construct.question), size="6")
    attributes = {
        "name": name,
        "toName": TARGET,
        "required": "true",
        "requiredMessage": f"Give a number from {scale} for {plain_text(construct.name)}.",
    }
    if points:
        # Not "single-radio", whose value the arrow keys change.
        choices = SubElement(view, "Choices", attributes, choice="single", showInline="true")
        for point in points:
            SubElement(choices, "Choice", value=point)
    else:
        SubElement(
            view,
            "Number",
            attributes,
            min=f"{scale.min:.15g}",
            max=f"{scale.max:.15g}",
            step="any" if scale.step is None else f"{scale.step:.15g}",
            hint=plain_text(str(scale)),
        )
    for point, words in sorted(construct.anchors.items(), key=lambda anchor: float(anchor[0])):
        SubElement(view, "Header", value=plain_text(f"{point}: {words}"), size="6")


def _flags(view: Element, construct: ConstructSpec, name: str) -> None:
    choices = SubElement(view, "Choices", name=name, toName=TARGET, choice="multiple")
    for flag in construct.flags:
        SubElement(choices, "Choice", value=plain_text(flag))


def plain_text(text: str) -> str:
    """Return a text of the study on one line, without characters that XML does not allow.

    `$` is replaced by a similar character, since it begins the name of a field in Label Studio.
    """
    return " ".join(_NOT_IN_XML.sub("�", text).split()).replace("$", "＄")
