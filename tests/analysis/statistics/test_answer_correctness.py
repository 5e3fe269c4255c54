import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.errors import AnalysisError
from analysis.statistics.answer_correctness import (
    attainable_without_match,
    composed_ac,
    composed_ac_as_published,
    exact_matches,
    unit_check,
    unit_check_with_parts,
)
from study.base.scales import Scale

POINTS = Scale(0, 100)
SHARE = st.floats(0, 1)


def test_a_match_judged_100_gives_100() -> None:
    # Both parts on 0 to 100: .7 * 100 + .3 * 100.
    assert composed_ac([100.0], [100.0], 0.7).tolist() == [100.0]


def test_the_papers_slip_is_refused() -> None:
    # EM in 0 and 1 beside an LLM part in points: .3 * 100 + .7 * 1 = 30.7 of the paper's table 15.
    assert composed_ac([100.0], [1.0], 0.7)[0] == pytest.approx(30.7)
    with pytest.raises(AnalysisError, match="an exact match is 1; on a scale of 0 to 100"):
        composed_ac([100.0], [1.0], 0.7, POINTS)


def test_a_missing_part_leaves_the_whole_missing() -> None:
    assert np.isnan(composed_ac([np.nan, 50], [100, np.nan], 0.5)).all()


def test_the_largest_value_without_a_match() -> None:
    assert attainable_without_match(0.7, POINTS) == pytest.approx(30)
    assert attainable_without_match(0.5, Scale(1, 5)) == pytest.approx(3)


def test_matches_are_counted() -> None:
    assert exact_matches([100, 0, np.nan, 100], POINTS) == 2


def test_lambda_outside_0_to_1_is_refused() -> None:
    with pytest.raises(AnalysisError, match="lambda 2"):
        composed_ac([1.0], [1.0], 2)


@given(SHARE, st.floats(0, 100), st.sampled_from([0.0, 100.0]))
def test_the_whole_lies_between_its_parts(weight: float, llm: float, em: float) -> None:
    whole = float(composed_ac([llm], [em], weight, POINTS)[0])
    assert min(llm, em) - 1e-9 <= whole <= max(llm, em) + 1e-9


#: Weights for which lambda / (1 - lambda) is whole: a match counted as 1 shifts k by that.
COLLIDING = (0.5, 2 / 3, 0.75, 0.8, 0.9)


def parts(seed: int = 0, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    llm = rng.integers(0, 21, n) * 5.0
    em = np.where(rng.random(n) < 0.1, 100.0, 0.0)
    llm[:2], em[:2] = 100.0, 100.0
    return llm, em


def test_a_match_judged_100_comes_to_30_7_as_published() -> None:
    # .3 * 100 + .7 * 1: the maximum of all six systems in table 15 of Muhamed 2025.
    assert composed_ac_as_published([100.0, 100.0, 40.0], [100.0, 0.0, np.nan], 0.7)[
        :2
    ] == pytest.approx([30.7, 30.0])
    assert np.isnan(composed_ac_as_published([40.0], [np.nan], 0.7)).all()
    with pytest.raises(AnalysisError, match="lambda 2"):
        composed_ac_as_published([1.0], [1.0], 2)


@pytest.mark.parametrize("weight", [0.7, 0.6, 0.3, *COLLIDING])
def test_with_the_parts_it_is_told_for_every_lambda(weight: float) -> None:
    llm, em = parts()
    slip = unit_check_with_parts(composed_ac_as_published(llm, em, weight), llm, em == 100, weight)
    sound = unit_check_with_parts(composed_ac(llm, em, weight), llm, em == 100, weight)
    assert (slip.unit, slip.value) == ("slip", 1.0)
    assert (sound.unit, sound.value) == ("consistent", 0.0)


def test_with_parts_that_do_not_make_it_up_nothing_is_told() -> None:
    llm, em = parts()
    for ac, reason in (
        (llm, "without a match it is not 0.3 times"),
        (np.where(em > 0, 50.0, 0.3 * llm), "adds neither 0.7 nor 70 points throughout"),
    ):
        result = unit_check_with_parts(ac, llm, em == 100, 0.7)
        assert result.unit == "cannot tell"
        assert reason in str(result.reason)
    none = unit_check_with_parts(0.3 * llm, llm, np.zeros(llm.size, dtype=bool), 0.7)
    assert none.reason == "no scored response matches a reference exactly"


@pytest.mark.parametrize("weight", [0.7, 0.6, 0.55, 0.85])
def test_from_the_column_alone_both_are_told(weight: float) -> None:
    llm, em = parts()
    slip = unit_check(composed_ac_as_published(llm, em, weight), weight)
    assert (slip.unit, slip.reason) == ("slip", None)
    assert unit_check(composed_ac(llm, em, weight), weight).unit == "consistent"


@pytest.mark.parametrize("weight", COLLIDING)
def test_where_the_two_collide_a_column_without_a_top_match_can_not_be_told(weight: float) -> None:
    llm, em = parts()
    llm = np.minimum(llm, 80.0)
    check = unit_check(composed_ac_as_published(llm, em, weight), weight)
    assert check.unit == "cannot tell"
    assert "nearly every value of a match counted as 1 also arises without one" in str(check.reason)
    assert np.isnan(check.value)


def test_at_one_half_a_match_judged_1_looks_like_the_slip() -> None:
    # .5 * 100 + .5 * 1 = 50.5 = .5 * 1 + .5 * 100.
    assert "judged close to 0" in str(unit_check([10.0, 20.5, 50.5], 0.5).reason)


def test_without_a_match_nothing_is_told() -> None:
    llm, _ = parts()
    check = unit_check(0.3 * llm, 0.7)
    assert check.reason == (
        "no value is above 30, the largest without a match, so that there may be no match"
    )


def test_means_of_repeats_are_off_the_grid() -> None:
    llm, em = parts()
    mean = (composed_ac_as_published(llm, em, 0.7) + composed_ac_as_published(llm + 1, em, 0.7)) / 2
    assert "means of repeats" in str(unit_check(mean, 0.7).reason)
    assert "means of repeats" in str(unit_check([1 / 3, 70.1], 0.7).reason)


def test_one_value_off_the_grid_is_enough() -> None:
    llm, em = parts()
    column = composed_ac_as_published(llm, em, 0.7)
    column[7] = 12.34
    assert unit_check(column, 0.7).unit == "cannot tell"


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_weight_of_0_or_1_composes_nothing(weight: float) -> None:
    assert "one part alone" in str(unit_check([1.0], weight).reason)


def test_the_unit_of_no_values_is_not_told() -> None:
    assert unit_check([np.nan], 0.7).reason == "there are no values"


@given(
    st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([0.7, 0.5, 2 / 3, 0.9, 0.35]),
)
def test_the_check_of_the_unit_never_names_the_wrong_unit(
    pairs: list[tuple[int, bool]], weight: float
) -> None:
    llm = np.array([k for k, _ in pairs], dtype=float)
    em = np.array([100.0 if match else 0.0 for _, match in pairs])
    assert unit_check(composed_ac_as_published(llm, em, weight), weight).unit != "consistent"
    assert unit_check(composed_ac(llm, em, weight), weight).unit != "slip"
