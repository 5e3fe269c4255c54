from itertools import product

import numpy as np
import pytest

from analysis.statistics.agreement import soft_pairwise
from analysis.statistics.agreement.soft_pairwise import soft_pairwise_accuracy

NA = float("nan")


def exact(apart: np.ndarray) -> float:
    """Share of all sign flips whose sum is at most the observed one, equal ones by half."""
    sums = np.array([np.dot(s, apart) for s in product((-1, 1), repeat=apart.size)])
    margin = apart.sum() - sums
    equal = np.abs(margin) < 1e-9
    return float(np.mean((margin < 0) & ~equal) + 0.5 * np.mean(equal))


def test_p_values_approach_those_of_all_permutations() -> None:
    rng = np.random.default_rng(0)
    judge, people = rng.normal(size=(2, 8, 3)).round(1) + np.array([0, 0.5, 1])
    found = soft_pairwise_accuracy(judge, people, 40_000)
    for place, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
        for scores, p in ((judge, found.judge), (people, found.people)):
            assert p[place] == pytest.approx(exact(scores[:, i] - scores[:, j]), abs=0.01)
    assert found.value == pytest.approx(1 - np.abs(found.judge - found.people).mean())


def test_a_judge_equal_to_people_is_perfect_and_a_reversed_one_is_not() -> None:
    rng = np.random.default_rng(1)
    people = rng.normal(size=(60, 4)) + np.arange(4)
    assert soft_pairwise_accuracy(people, people).value == 1
    assert soft_pairwise_accuracy(-people, people).value < 0.01


def test_the_order_of_systems_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    judge, people = rng.integers(0, 5, (2, 30, 5)).astype(float)
    forward = soft_pairwise_accuracy(judge, people).value
    backward = soft_pairwise_accuracy(judge[:, ::-1], people[:, ::-1]).value
    assert backward == pytest.approx(forward, abs=1e-12)


def test_only_cells_with_both_values_enter() -> None:
    rng = np.random.default_rng(3)
    judge, people = rng.normal(size=(2, 20, 3))
    judge[:4, 0], people[4:9, 1] = NA, NA
    spoiled = people.copy()
    spoiled[:4, 0] = 1e6
    same = soft_pairwise_accuracy(judge, people)
    assert soft_pairwise_accuracy(judge, spoiled).value == same.value


def test_systems_that_are_equal_everywhere_are_even() -> None:
    found = soft_pairwise_accuracy(np.ones((10, 2)), np.full((10, 2), 3.0))
    assert found.judge.tolist() == found.people.tolist() == [0.5]


def test_nothing_in_common_and_too_many_systems_have_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert soft_pairwise_accuracy(np.full((3, 2), NA), np.ones((3, 2))).reason
    assert soft_pairwise_accuracy(np.ones((3, 1)), np.ones((3, 1))).reason
    monkeypatch.setattr(soft_pairwise, "PAIRS_COMPARED", 2)
    assert soft_pairwise_accuracy(np.ones((3, 3)), np.ones((3, 3))).reason
    with pytest.raises(ValueError, match="shapes"):
        soft_pairwise_accuracy(np.ones((3, 2)), np.ones((2, 3)))
