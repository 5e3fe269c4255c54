import numpy as np
import pytest
from scipy import optimize, stats

from analysis.statistics.reliability.icc import icc
from analysis.statistics.reliability.reml import reml
from analysis.statistics.reliability.two_way import connected_groups, two_way
from analysis.statistics.reliability.variance_components import (
    bias_for_raters_like_these,
    moment_components,
    satterthwaite_df,
    sem,
    spearman_brown,
    variance_components,
)
from tests.analysis.ragged import ratings
from tests.analysis.statistics.reliability.test_icc import SHROUT_FLEISS

NA = float("nan")


def test_mean_squares_of_shrout_and_fleiss() -> None:
    table = two_way(SHROUT_FLEISS)
    # Their Table 3: BMS 11.24, JMS 32.49, EMS 1.02.
    assert table.ms_response == pytest.approx(11.241667, abs=5e-7)
    assert table.ms_rater == pytest.approx(32.486111, abs=5e-7)
    assert table.ms_residual == pytest.approx(1.019444, abs=5e-7)
    assert (table.per_response, table.per_rater, table.df_residual) == pytest.approx((4, 6, 15))


def test_reml_equals_the_analysis_of_variance_on_complete_data() -> None:
    for values in (SHROUT_FLEISS, ratings(0, n=50, missing=0)):
        expected = moment_components(two_way(values))
        assert min(expected) > 0
        assert reml(values, (1, 1))[:3] == pytest.approx(expected, rel=1e-9)
        c = variance_components(values)
        assert (c.response, c.rater, c.residual) == pytest.approx(expected)
        assert c.mean == pytest.approx(values.mean())


def dense_criterion(values: np.ndarray, components: np.ndarray) -> float:
    """-2 log restricted likelihood from the full covariance matrix."""
    row, column = np.nonzero(np.isfinite(values))
    y, single = values[row, column], np.ones(row.size)
    response = (row[:, None] == row).astype(float)
    rater = (column[:, None] == column).astype(float)
    inverse = np.linalg.inv(
        components[0] * response + components[1] * rater + components[2] * np.eye(row.size)
    )
    information = single @ inverse @ single
    residual = y - (single @ inverse @ y) / information
    return float(
        np.log(information) + residual @ inverse @ residual - np.linalg.slogdet(inverse)[1]
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reml_maximizes_the_dense_restricted_likelihood(seed: int) -> None:
    values = ratings(seed, n=25, raters=3, missing=0.3, step=None)
    values = values[np.isfinite(values).any(axis=1)]
    c = variance_components(values)
    at = np.array([c.response, c.rater, c.residual])
    slope = optimize.approx_fprime(at, lambda x: dense_criterion(values, x), 1e-5 * at)
    inside = at > 1e-9
    assert (at * slope)[inside] == pytest.approx(0, abs=1e-3)
    assert (slope[~inside] >= -1e-3).all()


def test_a_component_at_its_bound_is_zero() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0, 10, (40, 1)) + rng.normal(0, 5, (40, 3))
    values -= values.mean(axis=0)
    c = variance_components(values)
    assert c.rater == 0
    assert c.residual > 0
    ragged = np.where(rng.random(values.shape) < 0.2, NA, values)
    assert variance_components(ragged).rater >= 0


def test_additive_ratings_have_no_residual() -> None:
    values = np.arange(5.0)[:, None] * 10 + np.array([0.0, 1.0, 5.0])
    values[1, 2] = NA
    c = variance_components(values)
    assert c.residual == 0
    assert c.response == pytest.approx(250)
    assert c.rater == pytest.approx(7)


def test_shift_and_scale() -> None:
    values = ratings(5)
    c, moved = variance_components(values), variance_components(3 * values + 1000)
    assert moved.response == pytest.approx(9 * c.response, rel=1e-6)
    assert moved.rater == pytest.approx(9 * c.rater, rel=1e-6)
    assert moved.mean == pytest.approx(3 * c.mean + 1000)


def test_connected_groups() -> None:
    apart = np.array([[1, 2, NA, NA], [NA, NA, 3, 4], [NA, NA, NA, NA]])
    assert connected_groups(apart) == 2
    apart[0, 2] = 5
    assert connected_groups(apart) == 1
    c = variance_components([[1, 2, NA, NA], [NA, NA, 3, 4]])
    assert np.isnan(c.response)
    assert "2 groups" in str(c.reason)
    with pytest.raises(ValueError, match="2 groups"):
        two_way([[1, 2, NA, NA], [NA, NA, 3, 4]])


def test_variance_components_of_no_ratings() -> None:
    c = variance_components(np.full((3, 2), NA))
    assert c.n_ratings == 0
    assert c.reason is not None


def test_degrees_of_freedom_by_satterthwaite() -> None:
    assert satterthwaite_df([2.0], [7]) == pytest.approx(7)
    # Welch: (4/8 + 9/12)^2 / ((4/8)^2/7 + (9/12)^2/11).
    assert satterthwaite_df([4 / 8, 9 / 12], [7, 11]) == pytest.approx(
        1.25**2 / (0.25 / 7 + 0.5625 / 11)
    )
    assert np.isnan(satterthwaite_df([0.0, 0.0], [3, 3]))


def test_bias_without_rater_variance_is_a_t_interval_over_queries() -> None:
    rng = np.random.default_rng(6)
    values = np.round(rng.normal(50, 10, (30, 3)))
    values -= values.mean(axis=0) - 50
    judge = values.mean(axis=1) + rng.normal(4, 3, 30)
    estimate = bias_for_raters_like_these(judge, values, np.arange(30))
    difference = judge - values.mean(axis=1)
    reach = stats.t.ppf(0.975, 29) * stats.sem(difference)
    assert estimate.rater_error == pytest.approx(0, abs=1e-12)
    assert estimate.value == pytest.approx(difference.mean())
    assert estimate.interval.high - estimate.value == pytest.approx(reach)


def test_bias_with_severe_raters_is_as_uncertain_as_raters_differ() -> None:
    rng = np.random.default_rng(7)
    severity = np.array([-6.0, 0.0, 6.0])
    truth = rng.normal(50, 10, 400)
    values = truth[:, None] + severity + rng.normal(0, 4, (400, 3))
    estimate = bias_for_raters_like_these(truth + 5, values, np.repeat(np.arange(100), 4))
    # Variance 36 of 3 raters: standard error sqrt(36 / 3).
    assert estimate.rater_error == pytest.approx(np.sqrt(12), rel=0.05)
    assert estimate.query_error < 0.3
    assert estimate.df == pytest.approx(2, abs=0.1)
    assert estimate.interval.method == "t_by_source"


def test_bias_counts_and_reasons() -> None:
    values = np.array([[1, 2], [3, 5], [2, 2], [NA, NA], [4, 4]], dtype=float)
    judge = np.array([2, NA, 3, 3, 5.0])
    estimate = bias_for_raters_like_these(judge, values, np.array([0, 0, 1, 1, 2]))
    # Differences 2 - 1.5, 3 - 2, 5 - 4; one response lacks the judge, one the raters.
    assert estimate.value == pytest.approx(2.5 / 3)
    assert (estimate.n_responses, estimate.n_dropped, estimate.n_queries) == (3, 2, 3)
    one_query = bias_for_raters_like_these(judge, values, np.zeros(5, dtype=int))
    assert one_query.value == estimate.value
    assert "at least 2 queries" in str(one_query.interval.reason)
    nothing = bias_for_raters_like_these(np.full(5, NA), values, np.arange(5))
    assert np.isnan(nothing.value)
    assert "no response has both" in str(nothing.interval.reason)
    single = bias_for_raters_like_these(judge, values[:, :1], np.arange(5))
    assert "at least 2 raters" in str(single.interval.reason)
    same = np.array([[1, 1], [2, 2], [3, 3.0]])
    exact = bias_for_raters_like_these(same[:, 0] + 1, same, np.arange(3))
    assert exact.value == 1
    # One response that differs by a step of 1: an error of 1/3, t(2) = 4.303.
    assert exact.interval.high - 1 == pytest.approx(4.303 / 3, abs=1e-3)


# Shrout and Fleiss (1979): residual mean square 1.019444, rater mean square 32.486111, 6 responses.


def test_shrout_and_fleiss() -> None:
    consistency, narrow = sem(SHROUT_FLEISS, "consistency")
    assert consistency == pytest.approx(np.sqrt(1.019444), abs=1e-6)
    assert narrow.low < consistency < narrow.high
    agreement, wide = sem(SHROUT_FLEISS, "agreement")
    rater = (32.486111 - 1.019444) / 6
    assert agreement == pytest.approx(np.sqrt(rater + 1.019444), abs=1e-6)
    # Three degrees of freedom between raters say little about raters like these.
    assert wide.high > 3 * agreement


@pytest.mark.slow
def test_covers_with_few_raters() -> None:
    hits, trials = 0, 150
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        values = rng.normal(0, 15, (60, 1)) + rng.normal(0, 5, 4) + rng.normal(0, 10, (60, 4))
        values[rng.random(values.shape) < 0.2] = np.nan
        interval = sem(values)[1]
        hits += interval.low <= np.sqrt(125) <= interval.high
    # Nominal .95 with a standard error of .018.
    assert hits / trials > 0.9


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_spearman_brown_is_the_reliability_of_a_mean(missing: float) -> None:
    values = ratings(3, missing=missing)
    for letter in ("A", "C"):
        single = icc(values, f"{letter},1")
        for k in (1, 2, 7):
            expected = icc(values, f"{letter},k", k)
            assert spearman_brown(single, k) == pytest.approx(expected)
    assert np.isnan(spearman_brown(-0.6, 3))
    with pytest.raises(ValueError, match="k = 0"):
        spearman_brown(0.5, 0)


def test_undefined_errors_say_why() -> None:
    value, interval = sem([[1.0], [2.0]])
    assert np.isnan(value)
    assert "2 raters" in str(interval.reason)
    value, interval = sem([[1.0, 2], [3, 4], [7, 8]], "consistency")
    assert value == 0
    assert "no residual" in str(interval.reason)
    with pytest.raises(ValueError, match="kind 'both'"):
        sem(SHROUT_FLEISS, "both")


@pytest.mark.parametrize(("raters", "overlap"), [(2, 1.0), (2, 0.2), (3, 0.2)])
def test_bias_covers_with_few_raters_or_little_overlap(raters: int, overlap: float) -> None:
    """With the rater component by REML .89, .87 and .89: by chance it is often 0."""
    rng = np.random.default_rng(5)
    query = np.repeat(np.arange(100), 4)
    covered = []
    for _ in range(400):
        truth = 60 + rng.normal(0, 10, 100)[query] + rng.normal(0, 12, 400)
        severity = rng.normal(0, 3.1, raters)
        values = truth[:, None] + severity + rng.normal(0, 11, (400, raters))
        first = rng.integers(raters, size=400)
        other = (first + 1 + rng.integers(raters - 1, size=400)) % raters
        place = np.arange(raters)
        rated = (place == first[:, None]) | (
            (place == other[:, None]) & (rng.random(400) < overlap)[:, None]
        )
        judge = truth + 6 + rng.normal(0, 12, 400)
        interval = bias_for_raters_like_these(judge, np.where(rated, values, NA), query).interval
        covered.append(interval.low <= 6 <= interval.high)
    # At .95 fewer than 370 of 400 happens once in 80.
    assert np.mean(covered) >= 0.925
