import pytest

from analysis.core.errors import AnalysisError
from analysis.core.scales import parse_scale
from study.base.scales import Scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("0:100", Scale(0, 100)),
        ("-2:2", Scale(-2, 2)),
        ("1:5:1", Scale(1, 5, 1)),
        ("1:5:1:ordinal", Scale(1, 5, 1, "ordinal")),
        ("0:1::nominal", Scale(0, 1, None, "nominal")),
    ],
)
def test_a_scale_is_read_from_text(text: str, scale: Scale) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("100", "MIN:MAX"),
        ("a:b", "MIN:MAX"),
        ("0:1:2:3:4", "MIN:MAX"),
        ("5:1", "below"),
        ("0:1:7", "step 7"),
        ("0:inf", "finite"),
        ("0:1:1:cardinal", "nominal, ordinal, interval, ratio"),
    ],
)
def test_a_wrong_scale_says_what_is_right(text: str, says: str) -> None:
    with pytest.raises(AnalysisError, match=says):
        parse_scale(text)


def test_scales_are_common_by_their_ends() -> None:
    assert Scale(0, 100).same_points(Scale(0, 100, 1, "ordinal"))
    assert not Scale(0, 100).same_points(Scale(0, 1))
