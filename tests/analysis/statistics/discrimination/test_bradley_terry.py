"""Bradley-Terry strengths: by hand, against a logistic regression, where they exist, coverage."""

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.core.resampling import QueryResampling
from analysis.statistics.discrimination.bradley_terry import (
    NOT_LINKED,
    ONE_SYSTEM,
    BradleyTerry,
    strengths,
    wins_by_query,
)


def test_two_systems_have_the_log_odds_of_their_wins() -> None:
    # 9 wins against 3: log(9 / 3), half above and half below 0.
    found = strengths([[0, 9], [3, 0]])
    assert found == pytest.approx([np.log(3) / 2, -np.log(3) / 2])


def test_strengths_are_those_of_largest_likelihood() -> None:
    wins = np.random.default_rng(1).integers(1, 20, (5, 5)) / 2

    def minus_log_likelihood(free: np.ndarray) -> float:
        s = np.append(free, -free.sum())
        odds = np.log1p(np.exp(s[None, :] - s[:, None]))
        return float((wins * odds * (1 - np.eye(5))).sum())

    best = minimize(minus_log_likelihood, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    assert strengths(wins) == pytest.approx(np.append(best, -best.sum()), abs=1e-6)


def test_wins_far_apart_are_found_too() -> None:
    # A chain: each beats the next one 1000 to 1, the others never meet.
    wins = np.zeros((6, 6))
    for place in range(5):
        wins[place, place + 1], wins[place + 1, place] = 1000, 1
    assert np.diff(strengths(wins)) == pytest.approx(np.full(5, -np.log(1000)))


def test_one_more_win_for_all_pairs_leaves_equal_strengths_equal() -> None:
    assert strengths(np.ones((4, 4))) == pytest.approx(np.zeros(4))


@pytest.mark.parametrize(
    "wins",
    [
        [[0, 5], [0, 0]],
        # The first two win all comparisons with the last two.
        [[0, 1, 2, 2], [1, 0, 2, 2], [0, 0, 0, 1], [0, 0, 1, 0]],
        # Two groups that never meet.
        [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
    ],
)
def test_strengths_without_a_maximum_are_undefined(wins: list[list[float]]) -> None:
    assert np.isnan(strengths(wins)).all()
    together = strengths([wins, np.ones_like(wins)])
    assert np.isnan(together[0]).all()
    assert together[1] == pytest.approx(0)
    model = BradleyTerry(np.asarray([wins], dtype=np.float64), 4)
    assert model.statistic(0).reason == NOT_LINKED


def test_nothing_compared_has_its_reason() -> None:
    assert BradleyTerry(np.zeros((2, 3, 3)), 0).statistic(0).reason == ONE_SYSTEM


def test_a_tie_is_half_a_win_of_each_and_a_positive_value_a_win_of_the_second() -> None:
    wins = wins_by_query(
        np.array([0, 0]), np.array([1, 2]), np.array([0.0, 2.0]), np.array([0, 1]), (2, 3)
    )
    assert wins[0].tolist() == [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]
    assert wins[1].tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_the_interval_covers_where_queries_differ() -> None:
    generator = np.random.default_rng(7)
    truth = np.array([0.6, 0.1, -0.2, -0.5])
    queries, simulations = 60, 300
    first, second = np.triu_indices(4, 1)
    # Within a query the systems have strengths of their own: comparisons are not independent.
    draws = truth + generator.normal(0, 0.8, (200_000, 4))
    chance = (1 / (1 + np.exp(draws[:, first] - draws[:, second]))).mean(axis=0)
    sums = np.zeros((4, 4))
    sums[second, first], sums[first, second] = chance, 1 - chance
    target = strengths(sums)
    covered = 0
    for simulation in range(simulations):
        of_query = truth + generator.normal(0, 0.8, (queries, 4))
        odds = of_query[:, second] - of_query[:, first]
        values = np.where(generator.random(odds.shape) < 1 / (1 + np.exp(-odds)), 1.0, -1.0)
        query = np.repeat(np.arange(queries), len(first))
        wins = wins_by_query(
            np.tile(first, queries), np.tile(second, queries), values.ravel(), query, (queries, 4)
        )
        system = simulation % 4
        interval = QueryResampling(queries, 100, 0, 0.95).interval(
            BradleyTerry(wins, values.size).statistic(system)
        )
        covered += interval.low <= target[system] <= interval.high
    # Three standard errors of 300 simulations.
    assert covered / simulations == pytest.approx(0.95, abs=0.038)
