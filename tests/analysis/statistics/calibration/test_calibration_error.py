import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.resampling import QueryResampling
from analysis.statistics.calibration.calibration_error import (
    calibration_error_squared,
    equal_count_bins,
    reliability_diagram,
    upper_bound_of_square,
)
from tests.analysis.ragged import repeated

QUERIES, SYSTEMS = 30, 4
QUERY = np.repeat(np.arange(QUERIES), SYSTEMS)


def perfect(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A judge whose score is people's expected value, but for a shift; noise by query and more."""
    rng = np.random.default_rng(seed)
    judge = 5 * np.round(10 + 3 * rng.normal(size=QUERY.size))
    noise = 5 * rng.normal(size=QUERIES)[QUERY] + 8 * rng.normal(size=QUERY.size)
    return judge, judge + shift + noise


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(1, 12))
def test_bins_rise_with_the_values_and_never_part_equals(values: list[int], count: int) -> None:
    bins = equal_count_bins([float(v) for v in values], count)
    assert set(bins) == set(range(bins.max() + 1))
    assert bins.max() < count
    order = np.argsort(values, kind="stable")
    assert (np.diff(bins[order]) >= 0).all()
    for value in set(values):
        assert len(set(bins[np.array(values) == value])) == 1


def test_bins_without_ties_are_of_equal_size() -> None:
    assert np.bincount(equal_count_bins(np.arange(40.0), 10)).tolist() == [4] * 10
    assert equal_count_bins([np.nan, 3.0]).tolist() == [-1, 0]
    assert equal_count_bins([]).size == 0


def test_the_diagram_holds_peoples_means() -> None:
    judge, human = perfect(0, shift=-7)
    human[5] = np.nan
    diagram = reliability_diagram(judge, human, QUERY)
    kept = np.isfinite(human)
    bins = equal_count_bins(judge[kept])
    for number, mean in enumerate(diagram.human.points()):
        inside = bins == number
        assert mean == pytest.approx(human[kept][inside].mean())
        assert diagram.judge[number] == pytest.approx(judge[kept][inside].mean())
        assert diagram.human.n_responses[number] == inside.sum()


def test_debiased_it_is_the_mean_product_of_different_queries() -> None:
    # Two bins: differences 1 and 3 of two queries, product 3; 2 and -2, product -4; mean -.5.
    judge, human = np.array([10.0, 10, 50, 50]), np.array([11.0, 13, 52, 48])
    error = calibration_error_squared(judge, human, np.array([0, 1, 0, 1]), count=2)
    assert error.point == pytest.approx(-0.5)
    plain = calibration_error_squared(judge, human, np.array([0, 1, 0, 1]), count=2, debiased=False)
    assert plain.point == pytest.approx((2**2 + 0) / 2)


def test_the_plain_error_never_covers_a_perfect_judge_and_the_bound_does() -> None:
    resampling = QueryResampling(QUERIES, 300)
    points, plain_covers, bound_covers, shifted_covers = [], 0, 0, 0
    for seed in range(200):
        judge, human = perfect(seed)
        error = calibration_error_squared(judge, human, QUERY)
        points.append(error.point)
        bound_covers += upper_bound_of_square(error, resampling)[0] >= 0
        plain = calibration_error_squared(judge, human, QUERY, debiased=False)
        plain_covers += resampling.interval(plain, scheme="bootstrap").low <= 0
        shifted = calibration_error_squared(judge, human + 5, QUERY)
        shifted_covers += upper_bound_of_square(shifted, resampling)[0] >= 25
    assert plain_covers == 0
    assert abs(np.mean(points)) < 3 * np.std(points) / np.sqrt(200)
    assert min(points) < 0
    assert bound_covers / 200 > 0.93
    assert shifted_covers / 200 > 0.91


def test_weights_of_a_jackknife_are_queries_left_out() -> None:
    judge, human = perfect(1)
    weights = np.ones(QUERIES)
    weights[3] = 0
    error = calibration_error_squared(judge, human, QUERY)
    # The bins of the sample stay; here they are the judge's own levels in both.
    query, (x, y) = repeated(weights, QUERY, judge, human)
    bins = equal_count_bins(judge)
    total = 0.0
    for number in np.unique(bins):
        levels = set(judge[bins == number])
        inside = np.array([value in levels for value in x])
        d = np.bincount(query[inside], (y - x)[inside], QUERIES)
        n = np.bincount(query[inside], minlength=QUERIES)
        pairs = n.sum() ** 2 - (n**2).sum()
        total += n.sum() * (d.sum() ** 2 - (d**2).sum()) / pairs
    assert error(weights[None])[0] == pytest.approx(total / x.size)


@pytest.mark.parametrize(
    ("judge", "human", "reason"),
    [
        ([np.nan, 3.0], [2.0, np.nan], "no response has both values"),
        ([1.0, 1.0], [2.0, 3.0], "no bin has 2"),
    ],
)
def test_undefined_has_its_reason(judge: list[float], human: list[float], reason: str) -> None:
    error = calibration_error_squared(judge, human, np.zeros(2, dtype=int), 1)
    assert np.isnan(error.point)
    assert reason in str(error.reason)
    bound, why = upper_bound_of_square(error, QueryResampling(1, 100))
    assert np.isnan(bound)
    assert why == error.reason


def test_a_judge_equal_to_people_has_an_error_of_0_and_a_bound_of_0() -> None:
    values = np.arange(12.0)
    error = calibration_error_squared(values, values, np.arange(12) % 6, count=3)
    assert error.point == 0
    assert upper_bound_of_square(error, QueryResampling(6, 100)) == (0.0, None)
