import numpy as np
import pytest

from analysis.statistics.discrimination.fixed_point import fixed_point


@pytest.mark.parametrize(
    ("values", "integers", "unit"),
    [
        ([3, 1, 2], [2, 0, 1], 1),
        ([66.67, 33.33], [3334, 0], 100),
        ([200 / 3, 100 / 3, 0], [200, 100, 0], 3),
        ([0.1 + 0.2, 0.3, 0.0], [3, 3, 0], 10),
        ([1 / 3, 0.25, 0.0], [4, 3, 0], 12),
        ([-2.5, 0, np.nan], [0, 5, 0], None),
    ],
)
def test_decimals_and_fractions_are_exact(
    values: list[float], integers: list[int], unit: float | None
) -> None:
    found = fixed_point(values)
    assert found.exact
    if unit is None:
        assert found.unit == 10
        assert found.integers.tolist() == [0, 25, 0]
    else:
        assert (found.integers.tolist(), found.unit) == (integers, unit)


def test_any_other_values_are_rounded_to_a_grid_and_say_so() -> None:
    values = np.random.default_rng(0).normal(size=50)
    found = fixed_point(values, largest=2**30)
    assert not found.exact
    assert found.integers.max() <= 2**30
    back = found.integers / found.unit + found.offset
    assert back == pytest.approx(values, abs=0.6 / found.unit)


def test_huge_values_around_a_level_keep_their_differences() -> None:
    found = fixed_point([1e9, 1e9 + 1, 1e9 + 3], largest=2**40)
    assert found.integers.tolist() == [0, 1, 3]


def test_nothing_is_nothing() -> None:
    found = fixed_point([np.nan, np.nan])
    assert found.integers.tolist() == [0, 0]
    with pytest.raises(ValueError, match="infinite"):
        fixed_point([np.inf])
