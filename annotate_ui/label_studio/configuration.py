"""The labeling interface of a project: a control for each construct, and what its results mean.

The values of a scale with few points are boxes to tick; other numbers are typed: the slider of
Label Studio starts in the middle, which would anchor the rater. Label Studio's own control for
pairs (Pairwise) has no tie and no degrees, which the scale of preferences has.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import isclose
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from annotate_ui.label_studio.page_layout import COMMENT, LabelingPage, header, plain_text
from annotate_ui.tasks.comparisons import points
from annotate_ui.tasks.stages import stages
from study.base.scales import Scale
from study.settings.constructs import ConstructSpec
from study.types import Sees

TARGET = "response"
REQUEST = "show_"
"""Beginning of the names of controls that open texts."""
NOTHING_TO_MARK = "No sentence to mark"

_NAMES: dict[Sees, str] = {
    "question": "the question",
    "response": "the response",
    "context": "the passages",
    "reference": "the reference answer",
}
# Label Studio accepts these as names of controls and preserves them in exports.
_CONTROL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_ENDINGS = ("_flags", "_marks", "_unmarked")
_RESERVED = {COMMENT, TARGET, "response_1", "response_2", "question", "reference", "passages"}
# A scale with more points is typed as a number.
_MOST_POINTS = 11
# The words of the project's own pages.
_DEGREES = {1: ("",), 2: ("", "much "), 3: ("slightly ", "", "much ")}

Controls = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Configuration:
    """A labeling configuration and the meaning of its controls."""

    xml: str
    controls: Controls
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
    page, controls = LabelingPage(TARGET), Controls()
    open_fields: list[Sees] = []
    for number, (shown, asked) in enumerate(_parts(fields, constructs, on_request)):
        if number:
            _open_on_request(page, shown, controls)
        open_fields += shown
        for field in shown:
            page.show(field)
        for construct in asked:
            more = {"fields": list(open_fields)} if on_request else {}
            controls |= _rating(page, construct, versions[construct.key], more)
    controls[COMMENT] = {"kind": "comment"}
    return Configuration(page.finished(), controls)


def pair_configuration(
    fields: Sequence[Sees],
    constructs: Sequence[ConstructSpec],
    versions: Mapping[str, int],
    scale: Scale,
) -> Configuration:
    """Return the configuration of a project that compares pairs on `constructs`.

    `scale` is that of preferences; positive values mean that the second response is better.
    """
    page, controls = LabelingPage("response_1"), Controls()
    for field in fields:
        page.show(field)
    labels = choice_values(scale)
    for construct in constructs:
        asked = "Which response is better in this respect?"
        view = page.ask(construct.name, construct.question, asked)
        name, message = control_name(construct.key), f"Choose an answer for {construct.name}."
        page.choices(view, name, labels, single=True, requiredMessage=plain_text(message))
        version = {"construct": construct.key, "construct_version": versions[construct.key]}
        controls[name] = {"kind": "preference", **version, "labels": labels}
    controls[COMMENT] = {"kind": "comment"}
    return Configuration(page.finished(), controls)


def choice_values(scale: Scale) -> dict[str, float]:
    """Return the value of each choice, from the first response's side to the second's."""
    offered = points(scale)
    sides = {
        "1": [value for value in reversed(offered) if value < 0],
        "2": [value for value in offered if value > 0],
    }
    labels = {0.0: "Both are equally good"}
    for side, values in sides.items():
        degrees = _DEGREES.get(len(values), ())
        for number, value in enumerate(values):
            strength = f", {number + 1} of {len(values)}" if len(values) > 3 else ""
            degree = degrees[number] if degrees else ""
            labels[value] = f"Response {side} is {degree}better{strength}"
    return {labels[value]: value for value in offered}


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


def _open_on_request(page: LabelingPage, fields: Sequence[Sees], controls: Controls) -> None:
    """Add a control that opens `fields`; what follows is shown with them."""
    name = REQUEST + "_".join(fields)
    label = "Show " + " and ".join(_NAMES[field] for field in fields)
    request = SubElement(page.texts, "View", className="ccrs-request")
    header(request, "Answer the questions before you continue.")
    page.choices(request, name, [label])
    controls[name] = {"kind": "request", "fields": list(fields)}
    opened = {"visibleWhen": "choice-selected", "whenTagName": name, "whenChoiceValue": label}
    page.texts = SubElement(page.texts, "View", opened)
    page.questions = SubElement(page.questions, "View", opened)


def _rating(
    page: LabelingPage, construct: ConstructSpec, version: int, more: Mapping[str, Any]
) -> Controls:
    """Add the controls of a construct: value, remarks and marks; return their meaning."""
    name, scale = control_name(construct.key), construct.scale
    view = page.ask(f"{construct.name} ({scale})", construct.question)
    meaning = {"construct": construct.key, "construct_version": version}
    message = plain_text(f"Give a number from {scale} for {construct.name}.")
    labels = {point: float(point) for point in scale_points(scale)}
    if labels:
        page.choices(view, name, labels, single=True, showInline="true", requiredMessage=message)
    else:
        _number_field(view, name, scale, message)
    of_value = {"labels": labels} if labels else {}
    controls: Controls = {name: {"kind": "number", **meaning, **of_value, **more}}
    for point, words in sorted(construct.anchors.items(), key=lambda anchor: float(anchor[0])):
        header(view, f"{point}: {words}")
    if construct.flags:
        page.choices(view, f"{name}_flags", construct.flags)
        controls[f"{name}_flags"] = {"kind": "flags", **meaning, "flags": list(construct.flags)}
    if construct.mark_question is not None:
        header(view, construct.mark_question)
        label, none = plain_text(construct.name), f"{name}_unmarked"
        marks = SubElement(view, "Labels", name=f"{name}_marks", toName=TARGET)
        SubElement(marks, "Label", value=label)
        # An answer without any label says nothing: it may have been forgotten.
        page.choices(view, none, [NOTHING_TO_MARK])
        of_marks = {"labels": {label: construct.key}, "versions": {construct.key: version}}
        controls[f"{name}_marks"] = {"kind": "marks", **of_marks, "none": none}
        controls[none] = {"kind": "unmarked"}
    return controls


def _number_field(view: Element, name: str, scale: Scale, message: str) -> None:
    SubElement(
        view,
        "Number",
        name=name,
        toName=TARGET,
        required="true",
        requiredMessage=message,
        min=f"{scale.min:.15g}",
        max=f"{scale.max:.15g}",
        step="any" if scale.step is None else f"{scale.step:.15g}",
        hint=plain_text(str(scale)),
    )


def scale_points(scale: Scale) -> list[str]:
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
