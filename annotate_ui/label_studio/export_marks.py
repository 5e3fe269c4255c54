"""Labels on the text of a response, as marks on its sentences.

Label Studio gives a label's place in Unicode characters; its early versions gave UTF-16 units. The
text that it stores with a label tells which, and that the label is on the response.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from annotate_ui.label_studio.annotations import MarkedParts
from annotate_ui.label_studio.export_inventory import ExportControl
from study.importing.importers import FormatOptions
from study.importing.rows import MarkedPart

LABELS = "labels"


def mark_controls(
    inventory: Mapping[str, ExportControl], options: FormatOptions
) -> dict[str, dict[str, Any]]:
    """Return the meaning of controls whose labels are marks, as `read_task` takes it.

    They are those that `options.controls` names, or whose labels it names; an empty construct
    leaves a label out.
    """
    controls = {}
    for name, control in inventory.items():
        labels = {
            label: options.controls[named]
            for _, label in control.labels
            for named in (name, label)
            if LABELS in control.types and named in options.controls
        }
        if labels:
            versions = dict.fromkeys(filter(None, labels.values()), 1)
            controls[name] = {"kind": "marks", "labels": labels, "versions": versions}
    return controls


def named_marks(controls: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the names of controls and of labels whose results are marks."""
    return {*controls, *(label for control in controls.values() for label in control["labels"])}


def parts_of(marks: MarkedParts) -> Iterator[MarkedPart | str]:
    """Yield the marked parts of a response, or why the place of one cannot be read."""
    for value in marks.parts:
        problem = _problem(value)
        text = value.get("text")
        yield problem or MarkedPart(
            start=value["start"], end=value["end"], text=text if isinstance(text, str) else None
        )


def _problem(value: Mapping[str, Any]) -> str | None:
    """Return why the place of a label cannot be read; None if it can."""
    if "paragraphs" in value or "globalOffsets" in value or isinstance(value.get("start"), str):
        return "is on HTML or on a dialog, whose places are not those of a text"
    ends = value.get("start"), value.get("end")
    if any(not isinstance(end, int) or isinstance(end, bool) or end < 0 for end in ends):
        return f"has no place in a text: start {ends[0]!r}, end {ends[1]!r}"
    return None
