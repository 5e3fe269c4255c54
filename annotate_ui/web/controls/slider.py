"""The slider: any value of a scale, with the anchors below it."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from annotate_ui.web.controls.control import Control
from study.settings.constructs import ConstructSpec

# Anchors are placed below the slider if they are few, short, and far enough apart (percent).
_MOST_ANCHORS = 5
_SHORT_ANCHOR = 26
_LEAST_GAP = 15.0


@dataclass(frozen=True)
class AnchorPlace:
    """An anchor with its position under the slider."""

    at: float
    """Percent of the way from the lowest value to the highest."""
    point: str
    text: str
    end: str
    """ "first" or "last" at the ends of the scale, else empty."""


def anchor_places(spec: ConstructSpec) -> tuple[AnchorPlace, ...]:
    """Return the anchors with their places, if some are between the ends and all have room."""
    scale = spec.scale
    anchors = sorted(spec.anchors.items(), key=lambda anchor: float(anchor[0]))
    at = [100 * (float(point) - scale.min) / (scale.max - scale.min) for point, _ in anchors]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    if not 3 <= len(at) <= _MOST_ANCHORS or min(gaps) < _LEAST_GAP:
        return ()
    if any(len(text) > _SHORT_ANCHOR for _, text in anchors):
        return ()
    ends = {0.0: "first", 100.0: "last"}
    return tuple(
        AnchorPlace(round(place, 2), point, text, ends.get(place, ""))
        for place, (point, text) in zip(at, anchors, strict=True)
    )


CONTROL = Control(
    name="slider",
    folder=Path(__file__).parent,
    input_kind="slider",
    misfit=lambda _: None,
    view=anchor_places,
)
