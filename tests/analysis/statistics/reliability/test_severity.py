import numpy as np
import pytest
from scipy.stats import rankdata

from analysis.statistics.reliability.alpha import krippendorff_alpha
from analysis.statistics.reliability.severity import (
    by_scale_use,
    deviations,
    mid_ranks,
    rater_drift,
    severities,
)
from analysis.statistics.reliability.two_way import rater_groups, two_way
from tests.analysis.ragged import ratings, repeated

NA = float("nan")


def test_on_complete_data_it_is_the_distance_of_means() -> None:
    values = ratings(2, missing=0)
    points = severities(values, np.zeros(len(values), dtype=int)).points
    assert points == pytest.approx(values.mean(axis=0) - values.mean())


def test_raters_with_other_responses_are_compared_fairly() -> None:
    # Equal raters; the second has the weak responses only, and a mean 40 points lower.
    quality = np.r_[np.full(20, 80.0), np.full(20, 40.0)]
    values = np.column_stack([quality, quality, quality])
    values[:20, 1] = NA
    values[20:, 2] = NA
    severe = values + np.array([0, -6, 0])
    query = np.arange(40)
    assert severities(values, query).points == pytest.approx([0, 0, 0], abs=1e-9)
    points = severities(severe, query).points
    assert points[1] - points[0] == pytest.approx(-6)


def test_equals_the_additive_model_with_missing_cells() -> None:
    values = ratings(5)
    shared = np.isfinite(values).sum(axis=1) >= 2
    points = severities(values, np.arange(len(values))).points
    effects = two_way(values[shared]).rater_effects
    assert points - points.mean() == pytest.approx(effects)
    counts = np.isfinite(values[shared]).sum(axis=0)
    assert points @ counts == pytest.approx(0, abs=1e-8)


def test_a_weight_is_a_repetition() -> None:
    values, query = ratings(6, n=30), np.arange(30) // 3
    weights = np.array([1, 2, 0, 1, 1, 1, 1, 0, 3, 1])
    codes, (again,) = repeated(weights, query, values)
    values_of_weights = severities(values, query).weighted_statistic(
        weights[None, :].astype(float)
    )[0]
    assert values_of_weights == pytest.approx(severities(again, codes).points)


def test_a_rater_of_one_query_is_missing_where_that_is_left_out() -> None:
    values = ratings(7, n=20, missing=0)
    values[1:, 0] = NA
    values_of_weights = severities(values, np.arange(20)).weighted_statistic((1 - np.eye(20))[:3])
    assert np.isnan(values_of_weights[0, 0])
    assert np.isfinite(values_of_weights[0, 1:]).all()
    assert np.isfinite(values_of_weights[1:]).all()


def test_unconnected_raters_have_no_severity() -> None:
    apart = np.array([[1, 2, NA, NA], [3, 5, NA, NA], [NA, NA, 4, 6], [NA, NA, 1, 2]])
    assert rater_groups(apart).tolist() == [0, 0, 1, 1]
    assert "not connected" in str(severities(apart, range(4)).reason)
    assert np.isnan(severities(apart, range(4)).points).all()
    alone = np.array([[1.0, NA], [2, NA]])
    assert rater_groups(alone).tolist() == [0, -1]
    assert "two raters" in str(severities(alone, range(2)).reason)
    assert np.isnan(severities(np.full((2, 2), NA), range(2)).points).all()
    # Connected on the sample, not without the response that links them.
    linked = np.vstack([apart, [NA, 3, 4, NA]])
    assert np.isnan(severities(linked, range(5)).weighted_statistic((1 - np.eye(5))[4:])).all()


def test_drift_is_the_slope_of_deviations() -> None:
    rng = np.random.default_rng(0)
    quality = rng.normal(50, 10, 60)
    order = rng.permutation(60) + 1.0
    values = np.column_stack([quality + 0.2 * order, quality, quality])
    deviation = deviations(values, severities(values, np.arange(60)).points)
    result = rater_drift(deviation[:, 0], order, np.arange(60))
    assert result.point == pytest.approx(0.2)
    assert rater_drift(deviation[:, 1], order, np.arange(60)).point == pytest.approx(-0.1)
    weights = rng.integers(0, 3, 60)
    _, (y, x) = repeated(weights, np.arange(60), deviation[:, 0], order)
    expected = np.polyfit(x, y, 1)[0]
    assert result(weights[None, :])[0] == pytest.approx(expected)


def test_drift_without_an_order_says_so() -> None:
    assert "slope needs" in str(rater_drift([1.0, 2], [1.0, 2], [0, 1]).reason)
    assert "one position" in str(rater_drift([1.0, 2, 3], [4.0, 4, 4], [0, 1, 2]).reason)
    assert "slope needs" in str(rater_drift([NA] * 4, [NA] * 4, range(4)).reason)
    with pytest.raises(ValueError, match="position has shape"):
        rater_drift([1.0, 2], [1.0], [0, 1])


def test_mid_ranks_are_scipys_as_shares() -> None:
    values = ratings(1, n=30, raters=1, missing=0.3)[:, 0]
    known = np.isfinite(values)
    expected = (rankdata(values[known]) - 0.5) / known.sum()
    assert mid_ranks(values)[known] == pytest.approx(expected)
    assert np.isnan(mid_ranks(values)[~known]).all()
    assert mid_ranks([0.3, 0.1 + 0.2]).tolist() == [0.5, 0.5]


def test_severity_and_stretch_are_taken_out() -> None:
    quality = np.random.default_rng(0).normal(50, 10, 40)
    severe = np.column_stack([quality, quality - 20])
    severity = severities(severe, np.arange(40)).points
    assert krippendorff_alpha(by_scale_use(severe, "raw", severity), "interval") < 0.7
    assert krippendorff_alpha(by_scale_use(severe, "centered", severity), "interval") == 1
    bent = np.column_stack([quality, np.exp(quality / 10)])
    assert krippendorff_alpha(by_scale_use(bent, "ranks", severity), "interval") == 1


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="use 'logs'"):
        by_scale_use([[1.0]], "logs", [0.0])
