"""What choosing a system by the judge costs, by hand and against t tests of scipy."""

import numpy as np
import pytest
from scipy import stats

from analysis.core.arrays import FloatArray
from analysis.statistics.agreement.choice_regret import Regret, choice_regret
from analysis.statistics.agreement.system_decisions import decisions


def regret(judge: FloatArray, people: FloatArray) -> Regret:
    found = choice_regret(decisions(judge, people, ()), judge.shape[1])
    assert isinstance(found, Regret)
    return found


def scores(queries: int, *means: float, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).normal(size=(queries, len(means))) * 10 + means


def test_of_two_systems_it_is_a_paired_t_test() -> None:
    people, judge = scores(30, 60, 45), scores(30, 50, 70, seed=1)
    found = regret(judge, people)
    apart = people[:, 0] - people[:, 1]
    assert (found.chosen, found.best) == (1, 0)
    assert found.value == pytest.approx(apart.mean())
    p = found.uncertainty.p_at_least(found.value, 20.0)
    # The degrees of freedom are those of the queries that decide, at most 29.
    assert p == pytest.approx(stats.ttest_1samp(apart, 20, alternative="less").pvalue, abs=0.01)
    low, high = found.uncertainty.interval(found.value, 0.05)
    assert found.uncertainty.p_at_least(found.value, high) == pytest.approx(0.05)
    assert found.uncertainty.p_at_most(found.value, low) == pytest.approx(0.05)


def test_the_best_system_has_no_regret() -> None:
    people = scores(40, 70, 60, 50)
    found = regret(people + 5, people)
    assert (found.chosen, found.value) == (0, 0)
    assert found.agreed < 0.01
    assert found.agreed_pair[0] == 0
    assert found.uncertainty.probability(0, -np.inf, 5) > 0.99


def test_more_systems_need_more() -> None:
    # The chosen one is 2 points behind the best; further systems are far behind.
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(60, 6)) * 8
    means = np.array([60.0, 58, 30, 30, 30, 30])
    judge = np.tile([50.0, 80, 0, 0, 0, 0], (60, 1)) + rng.normal(size=(60, 6))
    p = []
    for count in (2, 4, 6):
        found = regret(judge[:, :count], (noise + means)[:, :count])
        p.append(found.uncertainty.p_at_least(found.value, 5.0))
    single = p[0]
    assert p == pytest.approx([single, 1 - (1 - single) ** 3, 1 - (1 - single) ** 5])


def test_a_judge_that_ties_all_may_choose_the_worst() -> None:
    people = scores(40, 70, 60, 50)
    found = regret(np.full((40, 3), 50.0), people)
    assert found.chosen == 2
    assert found.value == pytest.approx(people[:, 0].mean() - people[:, 2].mean())
    assert found.agreed == 1


def test_systems_that_share_no_query_are_not_compared() -> None:
    people = scores(40, 70, 60, 50)
    people[:20, 2], people[20:, :2] = np.nan, np.nan
    found = choice_regret(decisions(people + 1, people, ()), 3)
    assert found == "the system that the judge prefers cannot be compared with every other one"
