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
    result = fixed_point(values)
    assert result.exact
    if unit is None:
        assert result.unit == 10
        assert result.integers.tolist() == [0, 25, 0]
    else:
        assert (result.integers.tolist(), result.unit) == (integers, unit)


def test_any_other_values_are_rounded_to_a_grid_and_say_so() -> None:
    values = np.random.default_rng(0).normal(size=50)
    integers = fixed_point(values, largest=2**30)
    assert not integers.exact
    assert integers.integers.max() <= 2**30
    back = integers.integers / integers.unit + integers.offset
    assert back == pytest.approx(values, abs=0.6 / integers.unit)


def test_huge_values_around_a_level_keep_their_differences() -> None:
    integers = fixed_point([1e9, 1e9 + 1, 1e9 + 3], largest=2**40)
    assert integers.integers.tolist() == [0, 1, 3]


def test_missing_numbers_are_0_and_infinite_ones_are_refused() -> None:
    integers = fixed_point([np.nan, np.nan])
    assert integers.integers.tolist() == [0, 0]
    with pytest.raises(ValueError, match="infinite"):
        fixed_point([np.inf])
