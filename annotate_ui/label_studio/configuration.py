"""The labeling configuration of a stage: what is shown, and a number for each construct.

Texts stand in `Text`, which shows them as they are; never in `HyperText`, which runs what is in
them. Numbers are typed: the slider of Label Studio begins at the middle, which is an anchor.
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
"""The text that every control belongs to."""

_HEADINGS: dict[Sees, str] = {
    "question": "Question",
    "response": "Response",
    "context": "Passages",
    "reference": "Reference answer",
}
# Label Studio takes these as names of controls, and keeps them in its exports.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_NOT_IN_XML = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe\uffff]")
_RESERVED = {COMMENT, TARGET, "question", "reference", "passages"}


@dataclass(frozen=True)
class Configuration:
    """A labeling configuration, and what its controls mean."""

    xml: str
    controls: dict[str, dict[str, Any]]
    """Name of a control to kind (`number`, `flags`, `comment`), construct and its version."""


def configuration(
    fields: Sequence[Sees], constructs: Sequence[ConstructSpec], versions: Mapping[str, int]
) -> Configuration:
    """Return the configuration of a project that shows `fields` and asks for `constructs`."""
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
        placeholder="Comment, if you like",
        rows="2",
        maxSubmissions="1",
        editable="true",
    )
    controls[COMMENT] = {"kind": "comment"}
    indent(view)
    return Configuration(tostring(view, encoding="unicode"), controls)


def control_name(key: str) -> str:
    """Return the name of a construct's control: its key, or a digest where that is no name."""
    if _PLAIN.fullmatch(key) and key not in _RESERVED and not key.endswith("_flags"):
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
    SubElement(view, "Header", value=plain(f"{construct.name} ({scale})"), size="4")
    SubElement(view, "Header", value=plain(construct.question), size="5")
    hint = " · ".join(
        f"{point}: {words}"
        for point, words in sorted(construct.anchors.items(), key=lambda anchor: float(anchor[0]))
    )
    if hint:
        SubElement(view, "Header", value=plain(hint), size="6")
    SubElement(
        view,
        "Number",
        name=name,
        toName=TARGET,
        min=f"{scale.min:.15g}",
        max=f"{scale.max:.15g}",
        step="any" if scale.step is None else f"{scale.step:.15g}",
        required="true",
        requiredMessage=f"Give a number from {scale} for {plain(construct.name)}.",
        hint=plain(hint or str(scale)),
    )


def _flags(view: Element, construct: ConstructSpec, name: str) -> None:
    choices = SubElement(view, "Choices", name=name, toName=TARGET, choice="multiple")
    for flag in construct.flags:
        SubElement(choices, "Choice", value=plain(flag))


def plain(text: str) -> str:
    """Return a text of the study as it is shown: on one line, and of characters that XML has.

    `$` begins the name of a field there, so another sign stands in for it.
    """
    return " ".join(_NOT_IN_XML.sub("�", text).split()).replace("$", "＄")
