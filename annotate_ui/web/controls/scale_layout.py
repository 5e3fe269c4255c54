"""How a construct's scale stands on the page: points to choose from, and places of its anchors."""

from dataclasses import dataclass
from itertools import pairwise

from flask import Flask

from annotate_ui.tasks.step_view import ConstructView
from study.settings.constructs import ConstructSpec
from study.settings.study_toml import StudyConfig

_MOST_POINTS = 11
# Words that fit under a point of a row, and under their place on the slider.
_SHORT = 14
_SHORT_ANCHOR = 26
_MOST_ANCHORS = 5
_LEAST_GAP = 15.0


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


@dataclass(frozen=True)
class AnchorPlace:
    """An anchor at its place under the slider."""

    at: float
    """Percent of the way from the lowest value to the highest."""
    point: str
    text: str
    end: str
    """ "first" or "last" at the ends of the scale, else empty."""


def show_scales(app: Flask, config: StudyConfig) -> None:
    """Give templates `scale_points` and `anchor_places`, for a construct as a page shows it."""

    def points_of(construct: ConstructView) -> Points | None:
        return scale_points(construct, config.construct_spec(construct.key))

    app.add_template_global(points_of, "scale_points")
    app.add_template_global(anchor_places, "anchor_places")


def scale_points(construct: ConstructView, spec: ConstructSpec | None) -> Points | None:
    """Return the points of a scale of at most 11 that are all labelled, or that only rank.

    None for a scale that is no choice among points.
    """
    if construct.step is None or spec is None:
        return None
    count = round((construct.max - construct.min) / construct.step) + 1
    if not 2 <= count <= _MOST_POINTS:
        return None
    values = [construct.min + index * construct.step for index in range(count)]
    labels = {_number(float(point)): text for point, text in construct.anchors}
    points = tuple(Point(_number(value), labels.get(_number(value), "")) for value in values)
    if spec.scale.level != "ordinal" and not all(point.text for point in points):
        return None
    words = max(len(point.text) for point in points)
    return Points(points, short=words == 0 or (count <= _MOST_ANCHORS and words <= _SHORT))


def anchor_places(construct: ConstructView) -> tuple[AnchorPlace, ...]:
    """Return the anchors with their places, if some lie between the ends and all have room."""
    width = construct.max - construct.min
    at = [100 * (float(point) - construct.min) / width for point, _ in construct.anchors]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    if not 3 <= len(at) <= _MOST_ANCHORS or min(gaps) < _LEAST_GAP:
        return ()
    if any(len(text) > _SHORT_ANCHOR for _, text in construct.anchors):
        return ()
    ends = {0.0: "first", 100.0: "last"}
    return tuple(
        AnchorPlace(round(place, 2), point, text, ends.get(place, ""))
        for place, (point, text) in zip(at, construct.anchors, strict=True)
    )


def _number(value: float) -> str:
    # As the page's script writes it, so that a stored value finds its point.
    return f"{value:.10g}"
