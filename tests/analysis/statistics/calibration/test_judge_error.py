import numpy as np
import pytest

from analysis.statistics.calibration.judge_error import error_by_level

QUERIES, SYSTEMS = 80, 4
QUERY = np.repeat(np.arange(QUERIES), SYSTEMS)
SYSTEM = np.tile(np.arange(SYSTEMS), QUERIES)


def made(seed: int, favor: float = 0.0, raters: int = 3) -> tuple[np.ndarray, ...]:
    """True values that rise from system to system, noisy raters, a judge with a slope of .8."""
    rng = np.random.default_rng(seed)
    n = QUERY.size
    true = 50 + 8 * rng.normal(size=QUERIES)[QUERY] + 10 * rng.normal(size=n) + 8 * SYSTEM
    judge = 10 + 0.8 * true + np.where(SYSTEM == 0, favor, 0) + 3 * rng.normal(size=n)
    return true, judge, true[:, None] + 12 * rng.normal(size=(n, raters))


def test_halves_take_the_regression_to_the_mean_out_of_the_levels() -> None:
    split, whole = [], []
    for seed in range(30):
        true, _, ratings = made(seed)
        by_level = error_by_level(true, ratings, QUERY)
        assert by_level.split == "halves"
        split.append(by_level.error.points())
        single = error_by_level(true, ratings[:, :1], QUERY)
        assert single.split == "none"
        whole.append(single.error.points())
    # The judge is the truth itself: no level has an error, yet against one rater each has one.
    assert np.abs(np.mean(split, axis=0)).max() < 0.6
    assert np.mean(whole, axis=0)[0] > 5
    assert np.mean(whole, axis=0)[-1] < -5


def test_levels_count_responses_and_leave_single_ratings_out() -> None:
    _, judge, ratings = made(4)
    ratings[:10, 1:] = np.nan
    judge[-1] = np.nan
    by_level = error_by_level(judge, ratings, QUERY, levels=1)
    assert by_level.error.n_responses.tolist() == [QUERY.size - 11]
    assert by_level.error.n_dropped.tolist() == [11]
    # Each response is there with both halves, so that one bin has about the mean of all ratings.
    assert by_level.level[0] == pytest.approx(ratings[10:-1].mean(), abs=1)


def test_no_values_make_no_levels() -> None:
    by_level = error_by_level([np.nan, 3.0], [[2.0], [np.nan]], [0, 1])
    assert by_level.error.points().size == 0
    with pytest.raises(ValueError, match="expected"):
        error_by_level([1.0], [1.0], [0])
