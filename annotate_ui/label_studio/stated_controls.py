"""The controls of a project as its labeling configuration states them.

The configuration is read by label-studio-sdk, which is there where a project is on a server; a file
that was exported does not contain it.
"""

from collections.abc import Iterator
from typing import Any

from annotate_ui.label_studio.export_inventory import ExportControl
from annotate_ui.label_studio.value_ranges import STARS
from study.errors import StudyError

_TYPES = {
    "Number": "number",
    "Rating": "rating",
    "Choices": "choices",
    "Pairwise": "pairwise",
    "Ranker": "ranker",
    "TextArea": "textarea",
    "Labels": "labels",
}


def stated_controls(xml: str) -> dict[str, ExportControl]:
    """Return the controls of a labeling configuration.

    They have the choices and buckets that they offer, and the ends of their range. A control of a
    region or of an item (perRegion, perItem) rates no response and is left out.

    Raises
    ------
    StudyError
        The configuration cannot be read.
    """
    from label_studio_sdk.label_interface import LabelInterface

    if not xml.strip():
        return {}
    try:
        tags, _, _, tree = LabelInterface("<View/>").parse(xml)
    except Exception as error:  # noqa: BLE001  (whatever the SDK raises)
        raise StudyError(
            f"The labeling configuration of the project cannot be read: {error}. Correct it in "
            "Label Studio (Settings, Labeling Interface)."
        ) from None
    controls: dict[str, ExportControl] = {}
    for name, tag in tags.items():
        whole = not {"true"} & {tag.attr.get("perRegion"), tag.attr.get("perItem")}
        if tag.tag in _TYPES and whole:
            controls[name] = ExportControl({_TYPES[tag.tag]}, stated=_ends(tag))
    for element in tree.iter():
        # The SDK's own list of labels has neither nested choices nor buckets.
        if (name := element.get("name")) in controls and element.tag in _TYPES:
            controls[name].labels += [(0, label) for label in _offered(element)]
    return controls


def _ends(tag: Any) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value that a control takes; None: it states none."""
    if tag.tag == "Rating":
        most = _number(tag.attr.get("maxRating"))
        return None, float(STARS[1]) if most is None else most
    if tag.tag == "Number":
        return _number(tag.attr.get("min")), _number(tag.attr.get("max"))
    return None, None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _offered(element: Any) -> Iterator[str]:
    if element.tag == "Ranker":
        for bucket in element.iter("Bucket"):
            yield bucket.get("name", "")
        return

    def below(parent: Any, path: str) -> Iterator[str]:
        for choice in parent:
            if choice.tag in {"Choice", "Label"}:
                label = path + (choice.get("alias") or choice.get("value") or "")
                yield label
                yield from below(choice, f"{label}/")
            else:
                yield from below(choice, path)

    if element.tag in {"Choices", "Labels"}:
        yield from below(element, "")
