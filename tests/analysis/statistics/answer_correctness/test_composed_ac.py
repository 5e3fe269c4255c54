import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.errors import AnalysisError
from analysis.core.scales import Scale
from analysis.statistics.answer_correctness.composed_ac import (
    attainable_without_match,
    composed_ac,
    exact_matches,
)

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
