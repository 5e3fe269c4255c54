from itertools import product

import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement import system_decisions as module
from analysis.statistics.agreement.system_decisions import (
    Decision,
    decisions,
    soft_pairwise_accuracy,
)

NA = float("nan")
NONE = np.empty((0, 40), dtype=np.uint8)


def scores(seed: int, shifts: list[float], noise: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, noise, (40, len(shifts))) + np.array(shifts)


@pytest.mark.parametrize(
    ("people", "judge", "expected"),
    [
        ([0, 3], [0, 3], "same"),
        ([0, 3], [3, 0], "opposite"),
        ([0, 3], [0, 0], "people_only"),
        ([0, 0], [0, 3], "judge_only"),
        ([0, 0], [0, 0], "neither"),
    ],
)
def test_each_kind_of_decision(people: list[float], judge: list[float], expected: Decision) -> None:
    decided = decisions(scores(1, judge), scores(2, people), NONE)
    assert decided.decisions == (expected,)
    assert decided.share == (expected in {"same", "neither"})
    assert decided.count(expected) == 1


def test_people_and_judge_decide_on_the_same_cells() -> None:
    people, judge = scores(3, [0, 3, 1]), scores(4, [0, 3, 1])
    judge[:10, 1] = NA
    spoiled = people.copy()
    # A rating without a judge's score beside it must not count.
    spoiled[:10, 1] = -1000
    assert decisions(judge, spoiled, NONE).decisions == decisions(judge, people, NONE).decisions
    assert decisions(judge, people, NONE).n_shared.tolist() == [30, 40, 30]


def test_the_order_of_systems_turns_no_decision() -> None:
    people, judge = scores(5, [0, 1, 2, 2]), scores(6, [0, 2, 1, 2])
    forward = decisions(judge, people, NONE)
    backward = decisions(judge[:, ::-1], people[:, ::-1], NONE)
    assert sorted(forward.decisions) == sorted(backward.decisions)


def test_with_many_queries_the_bootstrap_decides() -> None:
    rng = np.random.default_rng(7)
    people = rng.normal(size=(1200, 2)) + np.array([0, 0.5])
    weights = QueryResampling(1200, 300).bootstrap
    decided = decisions(people + 1, people, [weights])
    assert decided.people_intervals.method == "max_t_bootstrap"
    assert decided.decisions == ("same",)


def test_equal_everywhere_is_no_difference_and_one_query_is_undecided() -> None:
    flat = np.ones((5, 2))
    assert decisions(flat, flat, np.empty((0, 5), dtype=np.uint8)).decisions == ("neither",)
    single = decisions(flat[:1], flat[:1], np.empty((0, 1), dtype=np.uint8))
    assert single.decisions == ("undecided",)
    assert single.reason
    assert np.isnan(single.share)


def test_nothing_in_common_and_too_many_systems_have_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert decisions(np.full((40, 2), NA), scores(1, [0, 0]), NONE).reason
    assert decisions(np.ones((40, 1)), np.ones((40, 1)), NONE).reason
    monkeypatch.setattr(module, "PAIRS_COMPARED", 2)
    assert decisions(scores(1, [0, 0, 0]), scores(1, [0, 0, 0]), NONE).reason
    with pytest.raises(ValueError, match="shapes"):
        decisions(np.ones((3, 2)), np.ones((2, 2)), NONE)


GAP = float("nan")


def exact(apart: np.ndarray) -> float:
    """Share of all sign flips whose sum is at most the observed one, equal ones by half."""
    sums = np.array([np.dot(s, apart) for s in product((-1, 1), repeat=apart.size)])
    margin = apart.sum() - sums
    equal = np.abs(margin) < 1e-9
    return float(np.mean((margin < 0) & ~equal) + 0.5 * np.mean(equal))


def test_p_values_approach_those_of_all_permutations() -> None:
    rng = np.random.default_rng(0)
    judge, people = rng.normal(size=(2, 8, 3)).round(1) + np.array([0, 0.5, 1])
    accuracy = soft_pairwise_accuracy(judge, people, 40_000)
    for place, (i, j) in enumerate(zip(accuracy.first, accuracy.second, strict=True)):
        for scores, p in ((judge, accuracy.judge), (people, accuracy.people)):
            assert p[place] == pytest.approx(exact(scores[:, i] - scores[:, j]), abs=0.01)
    assert accuracy.value == pytest.approx(1 - np.abs(accuracy.judge - accuracy.people).mean())


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
    judge[:4, 0], people[4:9, 1] = GAP, GAP
    spoiled = people.copy()
    spoiled[:4, 0] = 1e6
    same = soft_pairwise_accuracy(judge, people)
    assert soft_pairwise_accuracy(judge, spoiled).value == same.value


def test_systems_that_are_equal_everywhere_are_even() -> None:
    accuracy = soft_pairwise_accuracy(np.ones((10, 2)), np.full((10, 2), 3.0))
    assert accuracy.judge.tolist() == accuracy.people.tolist() == [0.5]


def test_soft_accuracy_of_nothing_in_common_and_of_too_many_systems_has_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert soft_pairwise_accuracy(np.full((3, 2), GAP), np.ones((3, 2))).reason
    assert soft_pairwise_accuracy(np.ones((3, 1)), np.ones((3, 1))).reason
    monkeypatch.setattr(module, "PAIRS_COMPARED", 2)
    assert soft_pairwise_accuracy(np.ones((3, 3)), np.ones((3, 3))).reason
    with pytest.raises(ValueError, match="shapes"):
        soft_pairwise_accuracy(np.ones((3, 2)), np.ones((2, 3)))
