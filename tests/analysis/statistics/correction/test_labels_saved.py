"""Ratings that a judge saves, and those that a wanted width needs."""

import numpy as np
import pytest

from analysis.statistics.correction.prediction_powered import (
    corrected,
    labels_needed,
    labels_saved,
)
from analysis.statistics.correction.query_sums import query_sums
from tests.analysis.statistics.correction.two_systems import simulated


def test_no_more_ratings_are_saved_than_are_missing() -> None:
    human, _ = simulated(9, queries=100, labels=40)
    whole, _ = simulated(9, queries=100, labels=100)
    sums = query_sums(human[:, 0], whole[:, 0], np.arange(100))
    corrected_mean, alone = corrected(sums), corrected(sums, lam=0.0)
    assert labels_saved(corrected_mean, alone, 40, 60) == pytest.approx(60, rel=0.3)
    assert labels_saved(corrected_mean, alone, 40, 60) <= 60


def test_saved_by_a_judge_that_follows_people_and_by_one_that_does_not() -> None:
    human, judge = simulated(1, queries=2000, labels=60)
    query = np.arange(2000)
    sums = query_sums(human[:, 0], judge[:, 0], query)
    alone = corrected(sums, lam=0.0)
    corrected_mean = corrected(sums)
    saved = labels_saved(corrected_mean, alone, 60, 1940)
    ratio = (alone.interval.high - alone.interval.low) / (
        corrected_mean.interval.high - corrected_mean.interval.low
    )
    assert saved == pytest.approx(60 * ratio**2 - 60)
    assert saved > 30
    noise = np.random.default_rng(2).normal(60, 40, 2000)
    worse = corrected(query_sums(human[:, 0], noise, query), lam=1.0)
    assert labels_saved(worse, alone, 60, 1940) < 0


def test_needed_is_where_the_width_is_reached() -> None:
    human, judge = simulated(3, queries=4000, labels=400)
    query = np.arange(4000)

    def reach(labels: int) -> float:
        known = human[:, 0].copy()
        known[labels:] = np.nan
        corrected_mean = corrected(query_sums(known, judge[:, 0], query))
        return (corrected_mean.interval.high - corrected_mean.interval.low) / 2

    known = human[:, 0].copy()
    known[80:] = np.nan
    pilot = corrected(query_sums(known, judge[:, 0], query))
    needed, reason = labels_needed(pilot, 1.5, 80)
    assert reason is None
    assert reach(int(needed)) == pytest.approx(1.5, rel=0.15)
    fewer, _ = labels_needed(pilot, 3.0, 80)
    assert fewer < needed / 3


def test_a_width_that_labels_cannot_reach() -> None:
    human, judge = simulated(4, queries=60, labels=40)
    corrected_mean = corrected(query_sums(human[:, 0], judge[:, 0], np.arange(60)))
    needed, reason = labels_needed(corrected_mean, 0.5, 40)
    assert np.isnan(needed)
    assert "judged responses alone" in str(reason)


def test_without_an_interval_no_labels_are_planned() -> None:
    corrected_mean = corrected(query_sums([5, np.nan], [4, 5], [0, 1]))
    needed, reason = labels_needed(corrected_mean, 5, 1)
    assert np.isnan(needed)
    assert reason
    assert np.isnan(labels_saved(corrected_mean, corrected_mean, 1, 1))
    with pytest.raises(ValueError, match="above 0"):
        labels_needed(corrected(query_sums([5, 6, 8], [4, 5, 5], [0, 1, 2])), 0, 3)
