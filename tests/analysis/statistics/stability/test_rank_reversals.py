"""How often another scoring puts two systems in another order."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from analysis.statistics.stability.rank_reversals import (
    EQUAL_SCORINGS,
    NO_QUERY,
    ONE_QUERY,
    ONE_SCORING,
    flip_bounds,
    flips_of_queries,
    flips_of_repeats,
    flips_of_runs,
)


def chance(distance: float) -> float:
    return float(2 * ndtr(distance) * ndtr(-distance))


def test_three_runs_by_hand() -> None:
    # Differences of means 1, 2 and -1.5: mean .5, variance 3.25; two of three pairs are opposite.
    first = np.array([[1.0, 1], [2, 2], [-2, -1]])
    flips = flips_of_runs(np.stack([first, np.zeros((3, 2))], axis=2))
    assert flips.value[0] == pytest.approx(chance(0.5 / np.sqrt(3.25)))
    assert (flips.opposite[0], flips.tied[0], flips.compared) == (2, 0, 3)
    assert flips.n_queries[0] == 2


def test_two_repeats_by_hand() -> None:
    # By query the differences are (2, 4), (1, 1), (3, -1): variances 2, 0, 8 about means 3, 1, 1.
    apart = np.array([[2.0, 1, 3], [4, 1, -1]])
    flips = flips_of_repeats(np.stack([apart, np.zeros((2, 3))], axis=2))
    assert flips.value[0] == pytest.approx(chance((5 / 3) / np.sqrt(10 / 9)))
    assert flips.opposite[0] == 0


def test_rank_reversals_with_other_queries_by_hand() -> None:
    flips = flips_of_queries(np.array([[3.0, 1], [5, 5], [6, 2]]))
    # Differences 2, 0, 4: mean 2, variance 4, its mean's 4/3.
    assert flips.value[0] == pytest.approx(chance(2 / np.sqrt(4 / 3)))


@pytest.mark.parametrize("df", [1, 2, 7, 60])
@pytest.mark.parametrize("distance", [0.0, 0.6, 2.5])
def test_the_interval_is_that_of_the_noncentral_t(df: int, distance: float) -> None:
    low, high = flip_bounds(np.array([distance]), 3.0, np.array([float(df)]), 0.95)
    t = distance * np.sqrt(3)

    def at(share: float) -> float:
        ends = np.linspace(-12, 30, 4201)
        return float(ends[np.nanargmin(np.abs(stats.nct.cdf(t, df, ends) - share))])

    near, far = at(0.975) / np.sqrt(3), at(0.025) / np.sqrt(3)
    assert low[0] == pytest.approx(min(chance(near), chance(far)), abs=0.01)
    assert high[0] == pytest.approx(0.5 if near <= 0 else chance(near), abs=0.01)


def test_identical_scorings_never_flip_and_equal_means_are_no_order() -> None:
    single = np.random.default_rng(0).normal(80, 9, (20, 3))
    for same in (flips_of_runs(np.stack([single] * 3)), flips_of_repeats(np.stack([single] * 2))):
        assert same.value.tolist() == [0, 0, 0]
        assert set(same.reasons) == {EQUAL_SCORINGS}
        assert same.mean[0] == 0
        assert same.mean[3] == EQUAL_SCORINGS
    # Means that are equal within rounding are a tie, and no flip.
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    tied = flips_of_runs(np.stack([np.column_stack([a, b])] * 2))
    assert (tied.opposite[0], tied.tied[0], tied.compared) == (0, 1, 1)


def test_pure_noise_flips_like_a_coin() -> None:
    rng = np.random.default_rng(1)
    flips = flips_of_repeats(rng.normal(0, 1, (6, 400, 12)))
    compared = flips.compared * flips.value.size
    assert flips.opposite.sum() / compared == pytest.approx(0.5, abs=0.06)
    assert flips.mean[1] < 0.5
    assert flips.mean[2] == pytest.approx(0.5, abs=0.02)


def test_a_pair_rests_on_the_queries_that_every_scoring_has() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 1, (2, 10, 3))
    scores[0, :4, 0] = np.nan
    scores[1, :, 2] = np.nan
    flips = flips_of_runs(scores)
    assert flips.n_queries.tolist() == [6, 0, 0]
    assert flips.reasons[1:] == (NO_QUERY, NO_QUERY)
    assert flips.mean[0] == flips.value[0]


def test_origin_unit_and_order_of_the_points_change_nothing() -> None:
    scores = np.random.default_rng(4).normal(50, 9, (3, 30, 4))
    flips = flips_of_runs(scores)
    moved = flips_of_runs(1e6 + 0.01 * scores)
    assert moved.value == pytest.approx(flips.value, abs=1e-6)
    assert moved.high == pytest.approx(flips.high, abs=1e-6)
    turned = flips_of_runs(scores[::-1, ::-1, ::-1])
    assert np.sort(turned.value) == pytest.approx(np.sort(flips.value))
    assert sorted(turned.opposite) == sorted(flips.opposite)


def test_too_little_has_its_reason() -> None:
    assert flips_of_runs(np.zeros((1, 5, 2))).mean[3] == ONE_SCORING
    assert flips_of_repeats(np.zeros((1, 5, 2))).reason == ONE_SCORING
    assert flips_of_queries(np.array([[1.0, 2]])).reasons == (ONE_QUERY,)
    assert flips_of_runs(np.zeros((2, 5, 1))).mean[3] == "there is one system: two are needed"
    assert "more than" in str(flips_of_runs(np.zeros((2, 1, 70))).reason)
    with pytest.raises(ValueError, match="expected"):
        flips_of_runs(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="expected"):
        flips_of_queries(np.zeros(5))
