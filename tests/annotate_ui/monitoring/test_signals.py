"""Runs of equal values: their length, and what whole queries in another order would give."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotate_ui.monitoring.signals import _longest, longest_run


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_the_longest_run_is_the_longest_group(values: list[int]) -> None:
    expected = max(len(list(group)) for _, group in groupby(values))
    array = np.array([values, values[::-1]])
    assert _longest(array).tolist() == [expected, expected]


def test_a_run_across_queries_is_flagged_and_one_within_a_query_is_not() -> None:
    query = np.repeat(np.arange(30), 4)
    draw = np.random.default_rng(1)
    mixed = draw.integers(0, 6, 120) * 10.0
    tired = mixed.copy()
    tired[80:] = 50.0
    easy = np.where(query % 3 == 0, 100.0, mixed)
    assert longest_run(tired, query).p <= 0.001
    assert longest_run(tired, query).length >= 40
    assert longest_run(easy, query).p > 0.05
    # The easy queries are adjacent in the order of rating, which is chance.
    assert longest_run(mixed, query).expected <= 4


def test_a_constant_value_is_not_an_unusual_run() -> None:
    run = longest_run(np.full(40, 70.0), np.repeat(np.arange(10), 4))
    assert (run.length, run.expected, run.p) == (40, 40.0, 1.0)


def test_the_longest_run_with_the_same_seed_is_the_same() -> None:
    values = np.random.default_rng(2).integers(0, 3, 80).astype(float)
    query = np.repeat(np.arange(20), 4)
    assert longest_run(values, query, 5) == longest_run(values, query, 5)


def test_values_and_queries_go_together() -> None:
    with pytest.raises(ValueError, match=r"expected equal \(n,\)"):
        longest_run(np.zeros(3), np.zeros(2, dtype=np.int64))
