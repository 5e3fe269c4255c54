"""Ranks with the places that significant differences leave."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.core.arrays import FloatArray
from analysis.statistics.discrimination.ranks import ranks, ranks_of_differences


def test_which_places_are_possible() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2:] = better[1, 2:] = True  # A and B are better than C and D
    ranking = ranks([0.6, 0.5, 0.3, 0.2], better)
    assert [(r.rank, r.best, r.worst, r.group) for r in ranking] == [
        (1, 1, 2, 1), (2, 1, 2, 1), (3, 3, 4, 2), (4, 3, 4, 2),
    ]  # fmt: skip


FIRST, SECOND = np.triu_indices(3, 1)  # pairs AB, AC, BC


def test_ranks_of_differences() -> None:
    point = np.array([-4.0, 1.0, 5.0])
    reach = np.array([3.0, 2.0, 3.0])
    ranking = ranks_of_differences(FIRST, SECOND, point, point - reach, point + reach)
    assert [(r.rank, r.best, r.worst, r.group) for r in ranking] == [
        (2, 2, 3, 2), (1, 1, 1, 1), (3, 2, 3, 2),
    ]  # fmt: skip


def test_a_pair_without_an_interval_leaves_both_places() -> None:
    nan: FloatArray = np.full(3, np.nan)
    ranking = ranks_of_differences(FIRST, SECOND, np.array([1.0, 2.0, 1.0]), nan, nan)
    assert [(r.rank, r.best, r.worst) for r in ranking] == [(1, 1, 3), (2, 1, 3), (3, 1, 3)]
    with pytest.raises(ValueError, match="a difference is undefined"):
        ranks_of_differences(FIRST, SECOND, np.array([1.0, np.nan, 1.0]), nan, nan)
