import numpy as np
import pytest

from analysis.statistics.calibration.error_by_system import error_by_system_given_human

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


def test_with_one_rating_each_it_is_the_cubic_regression_on_value_and_system() -> None:
    _, judge, ratings = made(0, raters=1)
    ratings[::9] = np.nan
    kept = np.isfinite(ratings[:, 0])
    human = ratings[kept, 0]
    coded = PRODUCED[kept][:, :-1].astype(float) - PRODUCED[kept][:, -1:]
    unit = (human - 60) / 20
    design = np.column_stack([coded, unit[:, None] ** np.arange(4)])
    fitted = np.linalg.lstsq(design, judge[kept] - human)[0][:-4]
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


def test_a_judge_cut_at_the_maximum_favors_no_system() -> None:
    """With a line in people's value the effects were -0.8, 0.6, 0.7 and -0.5."""
    mean = np.zeros(SYSTEMS)
    for seed in range(40):
        _, judge, ratings = made(seed)
        cut = np.minimum(judge, 65)
        mean += error_by_system_given_human(cut, ratings, QUERY, PRODUCED).effects.points() / 40
    assert np.abs(mean).max() < 0.4


def test_numbers_of_ratings_may_differ() -> None:
    """Half of the systems were rated twice a response, the others four times."""
    mean = np.zeros(SYSTEMS)
    for seed in range(40):
        _, judge, ratings = made(seed, 8.0, raters=4)
        ratings[SYSTEM < 2, 2:] = np.nan
        mean += error_by_system_given_human(judge, ratings, QUERY, PRODUCED).effects.points() / 40
    assert mean == pytest.approx([6, -2, -2, -2], abs=0.6)


def test_people_with_two_values_have_a_curve_of_few_powers() -> None:
    _, judge, ratings = made(5, raters=2)
    result = error_by_system_given_human(judge, 1.0 * (ratings > 60), QUERY, PRODUCED).effects
    assert np.isfinite(result.points()).all()
