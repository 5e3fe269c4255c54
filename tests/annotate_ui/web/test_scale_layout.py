"""How scales stand on the page."""

import pytest

from annotate_ui.tasks.step_view import ConstructView, construct_view
from annotate_ui.web.controls.scale_layout import anchor_places, scale_points
from study.settings.constructs import ConstructSpec
from study.settings.study_toml import StudyConfig

FIVE = {"1": "useless", "2": "hardly", "3": "partly", "4": "mostly", "5": "entirely"}


def spec(scale: dict[str, object], anchors: dict[str, str]) -> ConstructSpec:
    return ConstructSpec.model_validate(
        {
            "key": "use",
            "name": "Usefulness",
            "question": "How useful?",
            "sees": ["response"],
            "scale": scale,
            "anchors": anchors,
        }
    )


def view(construct: ConstructSpec) -> ConstructView:
    return construct_view(construct, StudyConfig(name="s", constructs=(construct,)))


@pytest.mark.parametrize(
    ("scale", "anchors", "wanted"),
    [
        ({"min": 1, "max": 5, "step": 1}, FIVE, "12345"),
        ({"min": 1, "max": 5, "step": 1, "level": "ordinal"}, {"1": "low"}, "12345"),
        ({"min": 1, "max": 5, "step": 1}, {"1": "low", "5": "high"}, None),
        ({"min": 0, "max": 10, "step": 1, "level": "ordinal"}, {}, "012345678910"),
        ({"min": 0, "max": 11, "step": 1, "level": "ordinal"}, {}, None),
        ({"min": 0, "max": 1, "step": 0.25, "level": "ordinal"}, {}, "00.250.50.751"),
        ({"min": 0, "max": 100}, {"0": "low", "100": "high"}, None),
    ],
    ids=["labelled", "ordinal", "interval", "eleven", "twelve", "quarters", "no step"],
)
def test_points_to_choose_from(
    scale: dict[str, object], anchors: dict[str, str], wanted: str | None
) -> None:
    construct = spec(scale, anchors)
    found = scale_points(view(construct), construct)
    values = None if found is None else "".join(point.value for point in found.points)
    assert values == wanted


def test_points_stand_in_a_row_where_their_labels_are_short() -> None:
    scale: dict[str, object] = {"min": 1, "max": 5, "step": 1}
    long = {**FIVE, "3": "useful to some, and of no use to most others"}
    for anchors, short in ((FIVE, True), (long, False)):
        construct = spec(scale, anchors)
        found = scale_points(view(construct), construct)
        assert found is not None
        assert found.short is short
        assert [point.text for point in found.points] == list(anchors.values())


def test_anchors_between_the_ends_have_their_place() -> None:
    anchors = {"0": "shallow", "25": "names it", "60": "explains it", "100": "in full"}
    found = anchor_places(view(spec({"min": 0, "max": 100}, anchors)))
    assert [(one.at, one.end) for one in found] == [
        (0, "first"),
        (25, ""),
        (60, ""),
        (100, "last"),
    ]


@pytest.mark.parametrize(
    "anchors",
    [
        {"0": "low", "100": "high"},
        {"0": "low", "5": "a little", "100": "high"},
        {"0": "low", "50": "a sentence of more words than fit under a place", "100": "high"},
    ],
    ids=["only the ends", "too close", "too long"],
)
def test_other_anchors_stand_beside_or_below_each_other(anchors: dict[str, str]) -> None:
    assert anchor_places(view(spec({"min": 0, "max": 100}, anchors))) == ()
