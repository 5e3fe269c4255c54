"""What differs between runs, and how far scores move with it."""

import numpy as np
import pytest

from analysis.statistics.stability.run_factors import (
    half_mean_square,
    never_alone,
    pairs_by_difference,
)

PLAIN = {"model": "a", "prompts": "p", "seed": "1"}


def test_pairs_stand_under_what_differs_and_nothing_else() -> None:
    runs = [PLAIN, {**PLAIN, "seed": "2"}, {**PLAIN, "model": "b", "prompts": "o"}]
    result = pairs_by_difference(runs)
    assert result == {
        ("seed",): [(0, 1)],
        ("model", "prompts"): [(0, 2)],
        ("model", "prompts", "seed"): [(1, 2)],
    }
    assert next(iter(result)) == ("seed",)
    # Seeds differ alone once; model and prompts always together.
    assert never_alone(list(result)) == {"model": ("prompts",), "prompts": ("model",)}


def test_alike_runs_differ_in_nothing_and_a_missing_attribute_differs() -> None:
    assert pairs_by_difference([PLAIN, dict(PLAIN)]) == {(): [(0, 1)]}
    assert pairs_by_difference([{"seed": "1"}, {}]) == {("seed",): [(0, 1)]}
    assert never_alone([("a", "b"), ("a", "c")]) == {"a": (), "b": ("a",), "c": ("a",)}


def test_half_the_mean_square_by_hand() -> None:
    single, two = np.array([10.0, 20, 30, np.nan]), np.array([12.0, 20, 34, 5])
    family = half_mean_square([(single, two)], np.array([0, 0, 1, 1]))
    point, shift = family.points()
    # (4 + 0 + 16) / 3 / 2, and the mean difference is -2.
    assert point == pytest.approx(20 / 6)
    assert shift == pytest.approx(4 / 2)
    assert family.n_responses[0] == 3
    assert family.n_dropped[0] == 1


def test_pairs_count_by_their_responses() -> None:
    nan = np.nan
    first = (np.array([1.0, 1, 1]), np.array([3.0, 3, 3]))
    second = (np.array([1.0, nan, nan]), np.array([5.0, nan, nan]))
    point, shift = half_mean_square([first, second], np.array([0, 1, 2])).points()
    assert point == pytest.approx((3 * 4 + 16) / 4 / 2)
    assert shift == pytest.approx(point)


def test_identical_scorings_differ_by_nothing_and_others_may_share_no_response() -> None:
    single = np.array([1.0, 2, 3])
    assert half_mean_square([(single, single)], np.array([0, 1, 2])).points().tolist() == [0, 0]
    family = half_mean_square(
        [(np.array([1.0, np.nan]), np.array([np.nan, 1.0]))], np.array([0, 1])
    )
    assert np.isnan(family.points()).all()
    assert family.reasons[0] == "no response has a score of both"
