import math

import pytest

from analysis.core.estimates import Estimate
from analysis.render.decision_words import _level
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    listed,
    percent,
    points,
    threshold_amount,
)
from analysis.render.page import typographic
from study.base.scales import Scale


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.414, ".41"), (-0.14, "-.14"), (1.0, "1.00"), (-0.001, ".00"), (0.999, "1.00"), (0, ".00")],
)
def test_correlations_have_no_leading_zero(value: float, text: str) -> None:
    assert correlation(value) == text


def test_an_end_near_0_shows_its_side() -> None:
    estimate = Estimate("pearson", value=0.1, ci_low=-0.003, ci_high=0.21)
    assert between(estimate) == "[-.003, .21]"
    assert between(Estimate("pearson", value=0.1)) == ""


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (Scale(0, 100), "-11 points"),
        (Scale(0, 10), "-11.2 points"),
        (Scale(1, 5), "-11.2 points"),
        (Scale(0, 1), "-11.23"),
        (None, "-11 points"),
    ],
)
def test_points_are_rounded_to_suit_the_scale(scale: Scale | None, text: str) -> None:
    assert amount(-11.23, scale) == text


def test_one_point_is_singular_and_nothing_is_minus_zero() -> None:
    assert amount(1.2, None) == "1 point"
    assert amount(-0.8, None) == "-1 point"
    assert points(-0.3, None) == "0"


def test_an_end_in_points_shows_its_side_with_as_many_digits_as_that_takes() -> None:
    estimate = Estimate("bias", value=1.0, ci_low=0.3, ci_high=1.6)
    assert between(estimate, Scale(0, 100), in_points=True) == "[0.3, 1.6]"
    assert amount(1.0, Scale(0, 100), (0.3, 1.6)) == "1.0 points"
    noise = Estimate("bias", value=1.0, ci_low=1e-13, ci_high=1.6)
    assert between(noise, Scale(0, 100), in_points=True) == "[0, 2]"
    assert between(Estimate("pearson", value=0.1, ci_low=-0.0003, ci_high=0.2)) == "[-.0003, .20]"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.78, "78%"), (0, "0%"), (1, "100%"), (0.001, "under 1%"), (0.999, "over 99%")],
)
def test_a_percentage_is_never_a_false_0_or_100(share: float, text: str) -> None:
    assert percent(share) == text
    assert percent(math.nan) == "undefined"


def test_lists_and_counts_read_as_prose() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([*"abcdefgh"]) == "a, b, c, d, e, f and 2 more"
    assert counted(1, "query", "queries") == "1 query"
    assert counted(4719, "query", "queries") == "4,719 queries"


def test_minus_signs_are_set_before_numbers_only() -> None:
    assert typographic("non-inferior -.14 [-3, 2]") == "non-inferior −.14 [−3,\u00a02]"


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [
        (5.0, Scale(0, 100), "5 points"),
        (0.05, Scale(1, 5), "0.05 points"),
        (0.2, Scale(1, 5), "0.2 points"),
        (1.0, Scale(0, 100), "1 point"),
        (0.05, Scale(0, 1), "0.05"),
        (2.5, Scale(0, 100), "2.5 points"),
    ],
)
def test_a_threshold_has_all_of_its_digits(value: float, scale: Scale, text: str) -> None:
    assert threshold_amount(value, scale) == text


@pytest.mark.parametrize(
    ("level", "text"),
    [(0.9, "90%"), (0.975, "97.5%"), (0.999, "99.9%"), (0.99975, "99.98%"), (0.999999, "99.9999%")],
)
def test_the_level_of_an_interval_is_never_100_percent(level: float, text: str) -> None:
    assert _level(level) == text
