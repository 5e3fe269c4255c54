"""The labeling interface of a stage: its texts, and a number field for each construct.

Texts are shown in `Text`, never in `HyperText`, which would run scripts in them. Numbers are
typed: the slider of Label Studio starts in the middle, which would anchor the rater.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from study.settings.constructs import ConstructSpec
from study.types import Sees

COMMENT = "comment"
TARGET = "response"
"""Name of the text that every control refers to."""

_HEADINGS: dict[Sees, str] = {
    "question": "Question",
    "response": "Response",
    "context": "Passages",
    "reference": "Reference answer",
}
# Label Studio accepts these as names of controls and preserves them in exports.
_CONTROL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_NOT_IN_XML = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe\uffff]")
_RESERVED = {COMMENT, TARGET, "question", "reference", "passages"}


@dataclass(frozen=True)
class Configuration:
    """A labeling configuration and the meaning of its controls."""

    xml: str
    controls: dict[str, dict[str, Any]]
    """Name of a control to its kind (`number`, `flags`, `comment`), construct and version."""


def configuration(
    fields: Sequence[Sees], constructs: Sequence[ConstructSpec], versions: Mapping[str, int]
) -> Configuration:
    """Return the configuration of a project that shows `fields` to rate `constructs`."""
    view = Element("View")
    for field in fields:
        _show(view, field)
    controls: dict[str, dict[str, Any]] = {}
    for construct in constructs:
        meaning = {"construct": construct.key, "construct_version": versions[construct.key]}
        name = control_name(construct.key)
        _ask(view, construct, name)
        controls[name] = {"kind": "number", **meaning}
        if construct.flags:
            _flags(view, construct, f"{name}_flags")
            flags = {"kind": "flags", "flags": list(construct.flags)}
            controls[f"{name}_flags"] = {**flags, **meaning}
    SubElement(
        view,
        "TextArea",
        name=COMMENT,
        toName=TARGET,
        placeholder="Comment (optional)",
        rows="2",
        maxSubmissions="1",
        editable="true",
    )
    controls[COMMENT] = {"kind": "comment"}
    indent(view)
    return Configuration(tostring(view, encoding="unicode"), controls)


def control_name(key: str) -> str:
    """Return the name of a construct's control: its key if that is valid, else a digest."""
    if _CONTROL_NAME.fullmatch(key) and key not in _RESERVED and not key.endswith("_flags"):
        return key
    return f"construct_{blake2b(key.encode(), digest_size=6).hexdigest()}"


def _show(view: Element, field: Sees) -> None:
    SubElement(view, "Header", value=_HEADINGS[field], size="4")
    if field != "context":
        SubElement(view, "Text", name=field, value=f"${field}", granularity="word")
        return
    each = SubElement(view, "Repeater", on="$passages", indexFlag="{{idx}}")
    SubElement(each, "Header", value="$passages[{{idx}}].title", size="5")
    SubElement(each, "Text", name="passage_{{idx}}", value="$passages[{{idx}}].text")


def _ask(view: Element, construct: ConstructSpec, name: str) -> None:
    scale = construct.scale
    SubElement(view, "Header", value=plain_text(f"{construct.name} ({scale})"), size="4")
    SubElement(view, "Header", value=plain_text(construct.question), size="5")
    hint = " · ".join(
        f"{point}: {words}"
        for point, words in sorted(construct.anchors.items(), key=lambda anchor: float(anchor[0]))
    )
    if hint:
        SubElement(view, "Header", value=plain_text(hint), size="6")
    SubElement(
        view,
        "Number",
        name=name,
        toName=TARGET,
        min=f"{scale.min:.15g}",
        max=f"{scale.max:.15g}",
        step="any" if scale.step is None else f"{scale.step:.15g}",
        required="true",
        requiredMessage=f"Give a number from {scale} for {plain_text(construct.name)}.",
        hint=plain_text(hint or str(scale)),
    )


def _flags(view: Element, construct: ConstructSpec, name: str) -> None:
    choices = SubElement(view, "Choices", name=name, toName=TARGET, choice="multiple")
    for flag in construct.flags:
        SubElement(choices, "Choice", value=plain_text(flag))


def plain_text(text: str) -> str:
    """Return a text of the study on one line, without characters that XML does not allow.

    `$` is replaced by a similar character, since it begins the name of a field in Label Studio.
    """
    return " ".join(_NOT_IN_XML.sub("�", text).split()).replace("$", "＄")
