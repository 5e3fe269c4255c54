"""Points: the values of a short scale as radio buttons."""

from dataclasses import dataclass
from pathlib import Path

from annotate_ui.web.controls.control import Control
from study.settings.constructs import ConstructSpec

_MOST_POINTS = 11
# Characters under a point of a row, and points whose labels fit in one.
_SHORT = 14
_MOST_LABELS = 5


@dataclass(frozen=True)
class Point:
    """A value that can be chosen, as it is typed, with its label."""

    value: str
    text: str


@dataclass(frozen=True)
class Points:
    """The points of a scale that is chosen from."""

    points: tuple[Point, ...]
    short: bool
    """Whether they fit in a row."""


def scale_points(spec: ConstructSpec) -> Points | None:
    """Return the points of a scale with 2 to 11 that are all labelled, or that is ordinal.

    None for any other scale.
    """
    scale = spec.scale
    if scale.step is None:
        return None
    count = round((scale.max - scale.min) / scale.step) + 1
    if not 2 <= count <= _MOST_POINTS:
        return None
    values = [_number(scale.min + index * scale.step) for index in range(count)]
    labels = {_number(float(point)): text for point, text in spec.anchors.items()}
    points = tuple(Point(value, labels.get(value, "")) for value in values)
    if scale.level != "ordinal" and not all(point.text for point in points):
        return None
    longest = max(len(point.text) for point in points)
    return Points(points, short=longest == 0 or (count <= _MOST_LABELS and longest <= _SHORT))


def _number(value: float) -> str:
    # As the page's script writes it, so that a stored value finds its point.
    return f"{value:.10g}"


def _misfit(spec: ConstructSpec) -> str | None:
    if scale_points(spec) is None:
        return "a scale with 2 to 11 points that is ordinal or has an anchor at each point"
    return None


CONTROL = Control(
    name="points",
    folder=Path(__file__).parent,
    input_kind="button",
    misfit=_misfit,
    view=scale_points,
)
