"""The switch: a few named values as large buttons, each with a key, such as yes and no."""

from dataclasses import dataclass
from pathlib import Path

from annotate_ui.web.controls.control import Control
from annotate_ui.web.controls.points import scale_points
from study.settings.constructs import ConstructSpec

_KEYS = "0123456789"


@dataclass(frozen=True)
class Choice:
    """A value that can be chosen, with its label and the key that chooses it."""

    value: str
    text: str
    key: str


def choices(spec: ConstructSpec) -> tuple[Choice, ...]:
    """Return the points of a scale that are all labelled and whole numbers from 0 to 9.

    The keys of two points are the first letters of their labels if these differ; other keys are
    the values. Empty for any other scale.
    """
    scale = scale_points(spec)
    if scale is None or not all(p.text and p.value in _KEYS for p in scale.points):
        return ()
    points = scale.points
    letters = [point.text[0].lower() for point in points]
    named = len(points) == 2 and len(set(letters)) == 2 and all(map(str.isalpha, letters))
    keys = letters if named else [point.value for point in points]
    return tuple(Choice(p.value, p.text, key) for p, key in zip(points, keys, strict=True))


def _misfit(spec: ConstructSpec) -> str | None:
    if not choices(spec):
        return "a scale of 2 to 10 whole numbers from 0 to 9, each with an anchor"
    return None


CONTROL = Control(
    name="switch",
    folder=Path(__file__).parent,
    input_kind="button",
    misfit=_misfit,
    view=choices,
    typed=False,
)
