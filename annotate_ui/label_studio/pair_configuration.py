"""The labeling interface of a comparison: two responses, and choices from the first to the second.

Label Studio's own control for pairs (Pairwise) has no tie and no degrees, which the scale of
preferences has.
"""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from annotate_ui.label_studio.configuration import (
    COMMENT,
    Configuration,
    add_comment,
    control_name,
    page,
    plain_text,
    protect,
    show,
)
from annotate_ui.label_studio.task_data import SIDES
from annotate_ui.tasks.comparisons import points
from study.scales import RatingScale
from study.settings.constructs import ConstructSpec
from study.types import Sees

# The words of the project's own pages.
_DEGREES = {1: ("",), 2: ("", "much "), 3: ("slightly ", "", "much ")}


def pair_configuration(
    fields: Sequence[Sees],
    constructs: Sequence[ConstructSpec],
    versions: Mapping[str, int],
    scale: RatingScale,
) -> Configuration:
    """Return the configuration of a project that compares pairs on `constructs`.

    `scale` is that of preferences; positive values mean that the second response is better.
    """
    view, texts, questions = page()
    for field in fields:
        if field == "response":
            for side in SIDES:
                SubElement(texts, "Header", value=f"Response {side}", size="5")
                name = f"response_{side}"
                SubElement(texts, "Text", name=name, value=f"${name}", granularity="word")
        else:
            show(texts, field)
    labels = choice_values(scale)
    controls = {}
    for construct in constructs:
        name = control_name(construct.key)
        _ask(SubElement(questions, "View", className="ccrs-construct"), construct, name, labels)
        controls[name] = {
            "kind": "preference",
            "construct": construct.key,
            "construct_version": versions[construct.key],
            "labels": labels,
        }
    add_comment(questions, "response_1")
    protect(view)
    indent(view)
    xml = tostring(view, encoding="unicode")
    return Configuration(xml, {**controls, COMMENT: {"kind": "comment"}})


def choice_values(scale: RatingScale) -> dict[str, float]:
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


def _ask(view: Element, construct: ConstructSpec, name: str, labels: Mapping[str, float]) -> None:
    SubElement(view, "Header", value=plain_text(construct.name), size="5")
    SubElement(view, "Header", value=plain_text(construct.question), size="6")
    asked = "Which response is better in this respect?"
    SubElement(view, "Header", value=asked, size="6")
    choices = SubElement(
        view,
        "Choices",
        name=name,
        toName="response_1",
        choice="single",
        required="true",
        requiredMessage=f"Choose an answer for {plain_text(construct.name)}.",
    )
    for label in labels:
        SubElement(choices, "Choice", value=label)
