"""Intervals hold the truth of simulated scorings as often as they say.

120 rounds have a standard error of .02; the manual has the figures of 1,000.
"""

import pytest

from tests.analysis.statistics.stability.simulated import (
    coverage_of_queries,
    coverage_of_repeats,
    coverage_of_runs,
    coverage_of_shares,
)


def test_flips_between_repeats() -> None:
    pair, mean = coverage_of_repeats(120, 1, queries=40, repeats=2)
    assert pair >= 0.89
    assert mean >= 0.95


def test_flips_where_hardly_an_answer_moves() -> None:
    pair, mean = coverage_of_repeats(120, 1, queries=60, repeats=3, sure=(1.0, 1.0, 1.0, 0.9))
    assert pair >= 0.87
    assert mean >= 0.95


@pytest.mark.parametrize("runs", [2, 5], ids=["two", "five"])
def test_flips_between_runs(runs: int) -> None:
    pair, mean = coverage_of_runs(120, 1, runs)
    assert pair >= 0.89
    assert mean >= 0.95


def test_flips_between_samples_of_queries() -> None:
    pair, mean = coverage_of_queries(120, 1, queries=40)
    assert pair >= 0.89
    assert mean >= 0.95


def test_shares_of_the_components_and_distances_of_runs() -> None:
    for name, covered in coverage_of_shares(60, 1, queries=30).items():
        assert covered >= 0.86, name
