"""Systems on few ordered points, adjusted for raters' severity on the logit scale."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.core.arrays import FloatArray
from analysis.core.resampling import QueryResampling
from analysis.statistics.reliability.ordinal_systems import OrdinalSystems, ordinal_systems
from analysis.statistics.reliability.rater_balance import rater_balance

QUERIES, NAMES = 60, ("A", "B", "C")
QUERY, SYSTEM = (place.ravel() for place in np.indices((QUERIES, 3)))
PRODUCED = SYSTEM[:, None] == np.arange(3)
EFFECTS = np.array([0.0, 0.0, 2.5])
SEVERITY = np.array([-1.2, -0.8, 1.2, 0.8])


def table(by_system: bool, seed: int = 1) -> FloatArray:
    """Ratings 1 to 5; with `by_system` raters 1 and 2 rate A and mostly not the others."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=QUERIES)[QUERY] + EFFECTS[SYSTEM]
    latent = quality[:, None] + SEVERITY + rng.logistic(size=(quality.size, 4))
    values: FloatArray = 1.0 + np.searchsorted([-2.0, -0.7, 0.7, 2.0], latent.ravel()).reshape(
        latent.shape
    )
    if by_system:
        first = (SYSTEM == 0) ^ (QUERY % 5 == 0)
        values[first, 2:] = np.nan
        values[~first, :2] = np.nan
    return values


def fitted(ratings: FloatArray) -> OrdinalSystems:
    balance = rater_balance(ratings, QUERY, PRODUCED, QUERIES)
    return ordinal_systems(ratings, QUERY, PRODUCED, NAMES, balance)


def test_where_everyone_rated_everything_expected_points_are_the_means() -> None:
    ratings = table(by_system=False)
    model = fitted(ratings)
    for system in range(3):
        plain = ratings[system == SYSTEM].mean()
        assert model.mean(system).point == pytest.approx(plain, abs=0.05)


def test_severity_is_no_difference_between_systems() -> None:
    ratings = table(by_system=True)
    plain = [np.nanmean(ratings[system == SYSTEM]) for system in range(3)]
    assert plain[1] - plain[0] > 0.6
    complete = table(by_system=False)
    model = fitted(ratings)
    interval = QueryResampling(QUERIES).interval_of(model.mean(0))
    assert interval.low < complete[SYSTEM == 0].mean() < interval.high
    differences = model.differences("points")
    value, joint = differences[0, 1]
    assert joint.low < 0 < joint.high
    assert value == pytest.approx(model.mean(0).point - model.mean(1).point)
    odds, joint = model.differences("log_odds")[0, 2]
    assert joint.low < -2.5 < joint.high
    assert list(differences) == [(0, 1), (0, 2), (1, 2)]
    assert odds < 0


def test_order_of_raters_does_not_matter() -> None:
    ratings = table(by_system=True)
    first, again = fitted(ratings), fitted(ratings[:, [3, 1, 0, 2]])
    for system in range(3):
        assert again.mean(system).point == pytest.approx(first.mean(system).point, abs=1e-6)
        assert again.mean(system).values == pytest.approx(first.mean(system).values, abs=1e-5)


def test_values_without_a_query_add_up_to_the_jackknife() -> None:
    """The linearized values against fits of the remaining queries."""
    ratings = table(by_system=True)
    values = fitted(ratings).mean(0)
    for query in (3, 20):
        kept = query != QUERY
        codes = np.unique(QUERY[kept], return_inverse=True)[1]
        balance = rater_balance(ratings[kept], codes, PRODUCED[kept], QUERIES - 1)
        again = ordinal_systems(ratings[kept], codes, PRODUCED[kept], NAMES, balance).mean(0)
        moved = again.point - values.point
        assert values.values[query] - values.point == pytest.approx(moved, abs=0.002)


def test_systems_that_no_rater_links_are_not_compared() -> None:
    ratings = table(by_system=True)
    ratings[SYSTEM == 0, 2:] = np.nan
    ratings[SYSTEM > 0, :2] = np.nan
    model = fitted(ratings)
    value, interval = model.differences("points")[0, 1]
    assert np.isnan(value)
    assert str(interval.reason).startswith("no rater links A and B")
    assert np.isfinite(model.differences("points")[1, 2][0])
    assert np.isfinite(model.mean(0).point)


def test_a_system_at_the_end_has_no_figure() -> None:
    ratings = table(by_system=True)
    ratings[SYSTEM == 2] = np.where(np.isnan(ratings[SYSTEM == 2]), np.nan, 5.0)
    model = fitted(ratings)
    mean = model.mean(0)
    assert np.isnan(mean.point)
    assert str(mean.reason).startswith("all ratings of a system are the highest point, 5:")
    assert model.differences("points")[0, 1][1].reason == mean.reason
