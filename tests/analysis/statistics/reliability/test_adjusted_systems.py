"""Differences between systems that different raters rated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems, adjusted_systems
from analysis.statistics.reliability.rater_balance import linked_groups, rater_balance

QUERIES = 30

#: How likely each of three raters leaves out a response, by system.
UNEVEN = np.array([[0.7, 0.3, 0.1], [0.3, 0.3, 0.3], [0.1, 0.3, 0.7]])


@dataclass(frozen=True)
class Design:
    ratings: FloatArray
    query: IntArray
    produced: BoolArray

    def fitted(self) -> AdjustedSystems | None:
        names = tuple("ABCDE"[: self.produced.shape[1]])
        return adjusted_systems(self.ratings, self.query, self.produced, QUERIES, names)


def nested(seed: int, overlap: float, raters: int = 4, severity: float = 10) -> Design:
    """Two systems that are equally good; half of the raters each, but for the overlap."""
    rng = np.random.default_rng(seed)
    query, system = (place.ravel() for place in np.indices((QUERIES, 2)))
    half = raters // 2
    rater = system * half + query % half
    swapped = rng.permuted(np.tile(np.arange(QUERIES) < overlap * QUERIES, (2, 1)), axis=1)
    rater = np.where(swapped[system, query], (rater + half) % raters, rater)
    value = 60 + rng.normal(0, 9, QUERIES)[query] + rng.normal(0, 10, query.size)
    ratings = np.full((query.size, raters), np.nan)
    ratings[np.arange(query.size), rater] = value + rng.normal(0, severity, raters)[rater]
    return Design(ratings, query, system[:, None] == np.arange(2))


FIRST_PAIR = np.array([0]), np.array([1])


def test_raters_who_rate_every_system_are_balanced() -> None:
    design = nested(0, 0)
    complete = Design(np.ones_like(design.ratings), design.query, design.produced)
    balance = rater_balance(complete.ratings, design.query, design.produced, QUERIES)
    assert balance.balanced
    assert balance.connected
    assert balance.imbalance[0, 1] == 0
    assert complete.fitted() is None


def test_one_rater_is_balanced() -> None:
    design = nested(0, 0)
    assert Design(np.ones((2 * QUERIES, 1)), design.query, design.produced).fitted() is None


def test_raters_by_lot_are_balanced() -> None:
    rng = np.random.default_rng(4)
    by_lot = []
    for seed in range(40):
        design = nested(seed, 0)
        ratings = np.repeat(np.nanmean(design.ratings, axis=1)[:, None], 4, axis=1)
        ratings[rng.permuted(np.tile([0.0, 1, 2, 3], (len(ratings), 1)), axis=1) > 1] = np.nan
        by_lot.append(Design(ratings, design.query, design.produced).fitted() is None)
    assert np.mean(by_lot) > 0.95


def test_raters_of_one_system_each_give_no_difference() -> None:
    fitted = nested(0, 0).fitted()
    assert fitted is not None
    assert fitted.balance.imbalance[0, 1] == 1
    assert not fitted.balance.connected
    result = fitted.differences(*FIRST_PAIR)
    assert np.isnan(result.values[0])
    assert result.reasons[0] == (
        "no rater links A and B, also not over other systems: a difference may come from the raters"
    )


def test_systems_are_linked_over_others() -> None:
    rated = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]) > 0
    assert linked_groups(rated).tolist() == [0, 0, 0, 1, -1]


@pytest.mark.slow
def test_with_a_little_overlap_raters_are_taken_out() -> None:
    """Plain means differ by the raters' severity; adjusted ones do not by more than their error."""
    plain, adjusted, covered = [], [], []
    for seed in range(60):
        design = nested(seed, 0.1)
        fitted = design.fitted()
        assert fitted is not None
        value = np.nanmean(design.ratings, axis=1)
        means = [value[design.produced[:, place]] for place in range(2)]
        difference = means[0] - means[1]
        error = difference.std(ddof=1) / np.sqrt(QUERIES)
        plain.append(abs(difference.mean()) <= 2.05 * error)
        result = fitted.differences(*FIRST_PAIR)
        covered.append(result.low[0] <= 0 <= result.high[0])
        adjusted.append(result.values[0])
    assert np.mean(plain) < 0.75  # intervals over queries alone take raters for systems
    assert np.mean(covered) > 0.9
    assert np.abs(np.mean(adjusted)) < 3 * np.std(adjusted) / np.sqrt(60)


def test_intervals_of_several_pairs_are_wider_than_that_of_one() -> None:
    rng = np.random.default_rng(1)
    query, system = (place.ravel() for place in np.indices((QUERIES, 3)))
    ratings = rng.normal(50, 10, (query.size, 3))
    ratings[rng.random(ratings.shape) < UNEVEN[system]] = np.nan
    fitted = Design(ratings, query, system[:, None] == np.arange(3)).fitted()
    assert fitted is not None
    all_pairs = fitted.differences(*np.triu_indices(3, 1))
    alone = fitted.differences(*FIRST_PAIR)
    assert all_pairs.values[0] == alone.values[0]
    assert all_pairs.high[0] - all_pairs.low[0] > 1.1 * (alone.high[0] - alone.low[0])


def test_a_system_with_more_spread_has_a_wider_interval() -> None:
    rng = np.random.default_rng(2)
    query, system = (place.ravel() for place in np.indices((QUERIES, 3)))
    spread = np.array([1.0, 1.0, 20.0])[system]
    ratings = (50 + spread * rng.normal(0, 1, query.size))[:, None] + rng.normal(0, 1, (1, 3))
    ratings = np.repeat(ratings, 1, axis=1)
    ratings[rng.random(ratings.shape) < UNEVEN[system]] = np.nan
    fitted = Design(ratings, query, system[:, None] == np.arange(3)).fitted()
    assert fitted is not None
    means = fitted.means()
    widths = means.high - means.low
    assert widths[2] > 1.2 * widths[0]


def test_p_of_being_better_follows_the_difference() -> None:
    fitted = nested(3, 0.2).fitted()
    assert fitted is not None
    assert fitted.better(0, 1) == pytest.approx(1 - fitted.better(1, 0))
    assert (fitted.better(0, 1) < 0.5) == (fitted.differences(*FIRST_PAIR).values[0] > 0)


def test_queries_that_are_alike_give_differences_with_intervals() -> None:
    # Neither queries nor raters differ, so that no source of error is shared by two differences.
    ratings = np.array([[1, 0], [np.nan, 1], [0, 1], [1, 1], [1, 1]])
    produced = np.array([0, 1, 2, 3, 0])[:, None] == np.arange(4)
    query = np.repeat(np.arange(QUERIES), len(ratings))
    shape = (QUERIES, 1)
    fitted = Design(np.tile(ratings, shape), query, np.tile(produced, shape)).fitted()
    assert fitted is not None
    first, second = np.triu_indices(4, 1)
    found = fitted.differences(first, second)
    assert np.isfinite([found.values, found.low, found.high, found.p]).all()
    # As wide as independent differences at once, hence wider than one by itself.
    single = fitted.differences(first[:1], second[:1])
    assert found.high[0] - found.low[0] > single.high[0] - single.low[0]


def test_ratings_without_an_error_give_the_reason() -> None:
    design = nested(0, 0.2)
    exact = design.produced @ [30.0, 70.0] + np.where(np.isfinite(design.ratings), 0, np.nan).T
    fitted = Design(exact.T, design.query, design.produced).fitted()
    assert fitted is not None
    found = fitted.differences(*FIRST_PAIR)
    assert found.reasons[0] == (
        "systems and raters explain every rating exactly, so that there is no error"
    )
    assert np.isnan(found.values[0])
