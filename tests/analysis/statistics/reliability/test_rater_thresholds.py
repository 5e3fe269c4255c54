"""Thresholds of each rater and the test of equal spacing, against R's ordinal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from analysis.core.arrays import FloatArray
from analysis.statistics.reliability.cumulative_logit import fit, model_of
from analysis.statistics.reliability.ordinal_systems import ordinal_systems
from analysis.statistics.reliability.rater_balance import rater_balance
from analysis.statistics.reliability.rater_thresholds import ONE_RATER, TWO_POINTS, equal_spacing
from tests.analysis.statistics.reliability.test_cumulative_logit import FOLDER, frame, ratings

#: rater_thresholds.R wrote it from ordinal_ratings.csv; the file names date and versions.
STORED: dict[str, Any] = json.loads((FOLDER / "rater_thresholds.json").read_text(encoding="utf-8"))
DESIGNS = [name for name in STORED if name != "made_by"]
SHARED = json.loads((FOLDER / "ordinal_systems.json").read_text(encoding="utf-8"))

QUERIES, NAMES = 60, ("ann", "ben", "cem", "dee")
QUERY, SYSTEM = (place.ravel() for place in np.indices((QUERIES, 3)))
PRODUCED = SYSTEM[:, None] == np.arange(3)


def simulated(spread: tuple[float, ...], seed: int = 1) -> FloatArray:
    """Ratings 1 to 5 of four raters whose thresholds are these times as far apart."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=QUERIES)[QUERY] + np.array([0.0, 0.5, 1.0])[SYSTEM]
    latent = quality[:, None] + np.array([-0.5, 0.5, 0.0, 0.3]) + rng.logistic(size=(180, 4))
    thresholds = np.array([-1.0, 0.0, 1.0, 2.0])
    columns = [
        1.0 + np.searchsorted(0.5 + times * (thresholds - 0.5), column)
        for times, column in zip(spread, latent.T, strict=True)
    ]
    return np.column_stack(columns)


@pytest.mark.parametrize("design", DESIGNS)
def test_equal_to_r(design: str) -> None:
    """`clmm2` with `nominal = ~ rater` stops at a slope of 1e-7 of the mean log likelihood."""
    expected = STORED[design]
    fitted = fit(ratings(frame(design)), by_rater=True)
    assert fitted.thresholds == pytest.approx(np.array(expected["thresholds"]), abs=2e-4)
    assert fitted.systems[1:] == pytest.approx(expected["systems"], abs=2e-4)
    assert fitted.query_sd == pytest.approx(expected["query_sd"], abs=2e-4)
    assert fitted.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_without_spread_of_queries_the_likelihood_is_that_of_clm(design: str) -> None:
    expected = STORED[design]["fixed"]
    model = model_of(ratings(frame(design)), by_rater=True)
    thresholds = np.array(expected["thresholds"])
    own = np.column_stack([thresholds[:, 0], np.log(np.diff(thresholds, axis=1))])
    values, slopes = model.by_query(np.r_[own.ravel(), expected["systems"], 0.0])
    assert values.sum() == pytest.approx(expected["log_likelihood"], abs=1e-7)
    assert slopes.sum(axis=0)[:-1] == pytest.approx(np.zeros(slopes.shape[1] - 1), abs=1e-5)
    # R compares it with `clm(value ~ system + rater)`.
    shared = SHARED[design]["fixed"]["log_likelihood"]
    assert 2 * (values.sum() - shared) == pytest.approx(expected["ratio"], abs=1e-6)


@pytest.mark.parametrize("design", DESIGNS)
def test_slopes_are_those_of_the_likelihood(design: str) -> None:
    model = model_of(ratings(frame(design)), by_rater=True)
    at = model.start() + np.random.default_rng(5).normal(0, 0.3, model.n_parameters)
    slopes = model.by_query(at)[1]
    for place in range(at.size):
        step = np.zeros(at.size)
        step[place] = 1e-5
        change = (model.by_query(at + step)[0] - model.by_query(at - step)[0]) / 2e-5
        assert slopes[:, place] == pytest.approx(change, abs=1e-4)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_test_is_the_ratio_of_the_likelihoods(design: str) -> None:
    table = frame(design)
    responses = table[["query", "system"]].drop_duplicates().reset_index(drop=True)
    wide = table.pivot_table("value", ["query", "system"], "rater").reindex(
        list(responses.itertuples(index=False, name=None))
    )
    systems = np.unique(responses["system"], return_inverse=True)[1]
    produced = systems[:, None] == np.arange(systems.max() + 1)
    query = np.unique(responses["query"], return_inverse=True)[1]
    test = equal_spacing(wide.to_numpy(), query, produced, tuple(wide.columns))
    ratio = 2 * (STORED[design]["log_likelihood"] - SHARED[design]["log_likelihood"])
    assert test.statistic == pytest.approx(ratio, abs=1e-4)
    assert test.df == STORED[design]["fixed"]["df"]
    assert test.n_responses == len(responses)


def test_raters_who_avoid_the_ends_are_told_from_severe_ones() -> None:
    alike = equal_spacing(simulated((1, 1, 1, 1)), QUERY, PRODUCED, NAMES)
    assert alike.p > 0.05
    assert alike.df == 9
    apart = equal_spacing(simulated((1, 1, 1, 2)), QUERY, PRODUCED, NAMES)
    assert apart.p < 0.001


def test_order_of_raters_and_a_system_of_none_make_no_difference() -> None:
    table = simulated((1, 1.5, 1, 1))
    expected = equal_spacing(table, QUERY, PRODUCED, NAMES)
    moved = equal_spacing(table[:, ::-1], QUERY, PRODUCED[:, :2], NAMES[::-1])
    assert moved.statistic == pytest.approx(expected.statistic, abs=1e-5)


def test_what_cannot_be_tested_has_a_reason() -> None:
    table = simulated((1, 1, 1, 1))
    never = table.copy()
    never[never[:, 1] == 1, 1] = 2
    reason = equal_spacing(never, QUERY, PRODUCED, NAMES).reason
    assert str(reason).startswith("ben never chose 1, which others chose:")
    two = np.where(table > 3, 1.0, 0.0)
    assert equal_spacing(two, QUERY, PRODUCED, NAMES).reason == TWO_POINTS
    assert equal_spacing(table[:, :1], QUERY, PRODUCED, NAMES).reason == ONE_RATER
    nothing = np.full(table.shape, np.nan)
    assert equal_spacing(nothing, QUERY, PRODUCED, NAMES).reason == "there are no ratings"


def test_where_everyone_rated_everything_expected_points_are_the_means() -> None:
    table = simulated((1, 1, 1, 2))
    balance = rater_balance(table, QUERY, PRODUCED, QUERIES)
    model = ordinal_systems(table, QUERY, PRODUCED, ("A", "B", "C"), balance, by_rater=True)
    for system in range(3):
        plain = table[system == SYSTEM].mean()
        assert model.mean(system).point == pytest.approx(plain, abs=0.05)
