"""The cut of a graded score, chosen on other queries than those that it decides."""

import numpy as np
import pytest

from analysis.core.resampling import folds
from analysis.statistics.binary.best_cut import best_cut


def test_a_response_is_decided_by_the_cut_of_other_queries() -> None:
    # People pass from 60 on, but for a query in whose fold nothing between 20 and 60 is seen.
    scores = np.array([10.0, 20, 60, 70, 15, 65, 12, 75, 18, 40])
    people = np.array([0.0, 0, 1, 1, 0, 1, 0, 1, 0, 1])
    query = np.arange(10)
    chosen = best_cut(scores, people, query, count=10)
    assert chosen.cut == 40
    # Without the response of 40 itself the best cut is the next score, 60, which fails it.
    assert (chosen.lowest, chosen.highest) == (40, 60)
    assert chosen.verdicts.tolist() == [0, 0, 1, 1, 0, 1, 0, 1, 0, 0]


def test_responses_of_one_query_are_decided_together() -> None:
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(12), 3)
    people = (rng.random(36) < 0.5).astype(float)
    scores = people * 30 + rng.integers(0, 60, 36)
    chosen = best_cut(scores, people, query, seed=4, count=4)
    fold = folds(12, 4, 4)[query]
    for number in range(4):
        outside = fold != number
        alone = best_cut(scores[outside], people[outside], query[outside], count=2).cut
        inside = ~outside
        expected = (scores[inside] >= alone).astype(float)
        assert chosen.verdicts[inside] == pytest.approx(expected)
