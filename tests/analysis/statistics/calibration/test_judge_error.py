import numpy as np
import pytest

from analysis.statistics.calibration.judge_error import error_by_level, error_by_system_given_human

QUERIES, SYSTEMS = 80, 4
QUERY = np.repeat(np.arange(QUERIES), SYSTEMS)
SYSTEM = np.tile(np.arange(SYSTEMS), QUERIES)
PRODUCED = np.eye(SYSTEMS, dtype=bool)[SYSTEM]


def made(seed: int, favor: float = 0.0, raters: int = 3) -> tuple[np.ndarray, ...]:
    """True values that rise from system to system, noisy raters, a judge with a slope of .8."""
    rng = np.random.default_rng(seed)
    n = QUERY.size
    true = 50 + 8 * rng.normal(size=QUERIES)[QUERY] + 10 * rng.normal(size=n) + 8 * SYSTEM
    judge = 10 + 0.8 * true + np.where(SYSTEM == 0, favor, 0) + 3 * rng.normal(size=n)
    return true, judge, true[:, None] + 12 * rng.normal(size=(n, raters))


def effects(seed: int, favor: float, raters: int = 3) -> np.ndarray:
    _, judge, ratings = made(seed, favor, raters)
    return error_by_system_given_human(judge, ratings, QUERY, PRODUCED).effects.points()


def test_a_favorite_is_found_and_better_systems_are_none() -> None:
    mean = np.mean([effects(seed, 8.0) for seed in range(40)], axis=0)
    assert mean == pytest.approx([6, -2, -2, -2], abs=0.5)


def test_the_value_of_one_noisy_rater_makes_the_better_system_a_favorite() -> None:
    mean = np.mean([effects(seed, 0.0, raters=1) for seed in range(40)], axis=0)
    assert mean[3] - mean[0] > 4


def test_with_one_rating_each_it_is_the_regression_on_value_and_system() -> None:
    _, judge, ratings = made(0, raters=1)
    ratings[::9] = np.nan
    kept = np.isfinite(ratings[:, 0])
    human = ratings[kept, 0]
    coded = PRODUCED[kept][:, :-1].astype(float) - PRODUCED[kept][:, -1:]
    design = np.column_stack([np.ones(human.size), human, coded])
    fitted = np.linalg.lstsq(design, judge[kept] - human)[0][2:]
    by_system = error_by_system_given_human(judge, ratings, QUERY, PRODUCED)
    assert by_system.noise == "in_reference"
    assert by_system.effects.points() == pytest.approx([*fitted, -fitted.sum()])
    assert by_system.effects.n_responses.sum() == kept.sum()


def test_effects_sum_to_0_and_do_not_depend_on_origin_or_order() -> None:
    _, judge, ratings = made(1)
    ratings[np.random.default_rng(0).random(ratings.shape) < 0.2] = np.nan
    by_system = error_by_system_given_human(judge, ratings, QUERY, PRODUCED)
    points = by_system.effects.points()
    assert by_system.noise == "removed"
    assert points.sum() == pytest.approx(0)
    order = np.random.default_rng(1).permutation(QUERY.size)
    shuffled = error_by_system_given_human(
        judge[order] + 3, ratings[order][:, ::-1] + 3, QUERY[order], PRODUCED[order]
    )
    assert shuffled.effects.points() == pytest.approx(points)


def test_one_system_or_no_variation_has_its_reason() -> None:
    _, judge, ratings = made(2)
    alone = error_by_system_given_human(judge, ratings, QUERY, PRODUCED[:, :1])
    assert "2 systems" in str(alone.effects.reasons[0])
    flat = error_by_system_given_human(judge, np.full((QUERY.size, 1), 50.0), QUERY, PRODUCED)
    assert flat.effects.reasons == ["people's values do not vary within a system"] * SYSTEMS
    assert np.isnan(flat.effects.points()).all()
    none = error_by_system_given_human(judge, np.full((QUERY.size, 2), np.nan), QUERY, PRODUCED)
    assert np.isnan(none.effects.points()).all()


def test_a_system_without_ratings_is_left_out_and_the_others_stand() -> None:
    _, judge, ratings = made(3)
    ratings[SYSTEM == 2] = np.nan
    result = error_by_system_given_human(judge, ratings, QUERY, PRODUCED).effects
    assert np.isnan(result.points()).tolist() == [False, False, True, False]
    assert result.reasons[2] == "no response of it has both values"


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
