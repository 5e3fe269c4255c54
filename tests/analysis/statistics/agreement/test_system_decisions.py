import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement import system_decisions as module
from analysis.statistics.agreement.system_decisions import Decision, decisions

NA = float("nan")
NONE = np.empty((0, 40), dtype=np.uint16)


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
    found = decisions(scores(1, judge), scores(2, people), NONE)
    assert found.found == (expected,)
    assert found.share == (expected in {"same", "neither"})
    assert found.count(expected) == 1


def test_both_decide_on_the_same_cells() -> None:
    people, judge = scores(3, [0, 3, 1]), scores(4, [0, 3, 1])
    judge[:10, 1] = NA
    spoiled = people.copy()
    # A rating without a judge's score beside it must not count.
    spoiled[:10, 1] = -1000
    assert decisions(judge, spoiled, NONE).found == decisions(judge, people, NONE).found
    assert decisions(judge, people, NONE).n_shared.tolist() == [30, 40, 30]


def test_the_order_of_systems_turns_no_decision() -> None:
    people, judge = scores(5, [0, 1, 2, 2]), scores(6, [0, 2, 1, 2])
    forward = decisions(judge, people, NONE)
    backward = decisions(judge[:, ::-1], people[:, ::-1], NONE)
    assert sorted(forward.found) == sorted(backward.found)


def test_with_many_queries_the_bootstrap_decides() -> None:
    rng = np.random.default_rng(7)
    people = rng.normal(size=(600, 2)) + np.array([0, 0.5])
    weights = QueryResampling(600, 300).bootstrap
    found = decisions(people + 1, people, weights)
    assert found.people_intervals.method == "max_t_bootstrap"
    assert found.found == ("same",)


def test_equal_everywhere_is_no_difference_and_one_query_is_undecided() -> None:
    flat = np.ones((5, 2))
    assert decisions(flat, flat, np.empty((0, 5), dtype=np.uint16)).found == ("neither",)
    single = decisions(flat[:1], flat[:1], np.empty((0, 1), dtype=np.uint16))
    assert single.found == ("undecided",)
    assert single.reason
    assert np.isnan(single.share)


def test_nothing_in_common_and_too_many_systems_have_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert decisions(np.full((40, 2), NA), scores(1, [0, 0]), NONE).reason
    assert decisions(np.ones((40, 1)), np.ones((40, 1)), NONE).reason
    monkeypatch.setattr(module, "PAIRS_DECIDED", 2)
    assert decisions(scores(1, [0, 0, 0]), scores(1, [0, 0, 0]), NONE).reason
    with pytest.raises(ValueError, match="shapes"):
        decisions(np.ones((3, 2)), np.ones((2, 2)), NONE)
