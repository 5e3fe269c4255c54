"""The labeling interface of a project: a control for each construct, and what its results mean.

The values of a scale with few points are boxes to tick; other numbers are typed: the slider of
Label Studio starts in the middle, which would anchor the rater.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import isclose
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from annotate_ui.label_studio.page_layout import COMMENT, TARGET, LabelingPage, header, plain_text
from study.base.scales import Scale
from study.settings.constructs import ConstructSpec
from study.types import Sees

NOTHING_TO_MARK = "No sentence to mark"

# Label Studio accepts these as names of controls and preserves them in exports.
_CONTROL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_ENDINGS = ("_flags", "_marks", "_unmarked")
_RESERVED = {COMMENT, TARGET, "question", "reference", "passages"}
# A scale with more points is typed as a number.
_MOST_POINTS = 11

Controls = dict[str, dict[str, Any]]


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
    page, controls = LabelingPage(), Controls()
    for field in fields:
        page.show(field)
    for construct in constructs:
        controls |= _rating(page, construct, versions[construct.key])
    controls[COMMENT] = {"kind": "comment"}
    return Configuration(page.finished(), controls)


def _rating(page: LabelingPage, construct: ConstructSpec, version: int) -> Controls:
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
    controls: Controls = {name: {"kind": "number", **meaning, **of_value}}
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
    ours = key in _RESERVED or key.endswith(_ENDINGS)
    if _CONTROL_NAME.fullmatch(key) and not ours:
        return key
    return f"construct_{blake2b(key.encode(), digest_size=6).hexdigest()}"
