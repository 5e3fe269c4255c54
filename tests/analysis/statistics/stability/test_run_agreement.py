"""Agreement of two scorings: by hand, and against plain formulas."""

import numpy as np
import pytest

from analysis.statistics.agreement.association import association
from analysis.statistics.stability.run_agreement import RUN_MEASURES, run_agreement


def measures(scores: np.ndarray, query: np.ndarray) -> dict[str, float]:
    points = run_agreement(scores, [(0, 1)], query).points()
    return dict(zip(RUN_MEASURES, points, strict=True))


def test_four_responses_by_hand() -> None:
    by_measure = measures(
        np.array([[10.0, 10], [20, 30], [50, 50], [60, 70]]), np.array([0, 0, 1, 1])
    )
    assert by_measure["share_equal"] == 2 / 4
    assert by_measure["mean_absolute_difference"] == 20 / 4
    # Deviations within queries: (-5, 5, -5, 5) and (-10, 10, -10, 10).
    assert by_measure["pearson"] == pytest.approx(1)
    # Means 35 and 40; variances 425 and 500, covariance 450.
    assert by_measure["ccc"] == pytest.approx(2 * 450 / (425 + 500 + 25))


def test_agreement_of_two_runs_is_the_association_of_two_scorers() -> None:
    rng = np.random.default_rng(2)
    query = np.sort(rng.integers(0, 30, 120))
    base = rng.normal(80, 10, 120)
    scores = np.column_stack([base, base + rng.normal(3, 5, 120), rng.normal(0, 1, 120)])
    scores[rng.random(scores.shape) < 0.1] = np.nan
    pairs = [(0, 1), (0, 2), (1, 2)]
    family = run_agreement(scores, pairs, query, 30)
    weights = rng.integers(0, 3, (4, 30)).astype(float)
    result = family.weighted_statistic(weights).reshape(4, 3, 4)
    for place, (i, j) in enumerate(pairs):
        x, y = scores[:, i], scores[:, j]
        for number, name, scope in ((1, "mae", "pooled"), (2, "pearson", "within_query")):
            other = association(name, x, y, query, scope, n_queries=30)
            assert result[:, place, number] == pytest.approx(other(weights), abs=1e-9)
        both = np.isfinite(x) & np.isfinite(y)
        for row, weight in enumerate(weights):
            # Weights are counts: responses so often.
            a, b = (np.repeat(v[both], weight[query[both]].astype(int)) for v in (x, y))
            spread = a.var() + b.var() + (a.mean() - b.mean()) ** 2
            ccc = 2 * np.cov(a, b, ddof=0)[0, 1] / spread
            assert result[row, place, 3] == pytest.approx(ccc, abs=1e-9)
        assert family.n_responses[4 * place] == both.sum()
        assert family.n_dropped[4 * place] == (np.isfinite(x) ^ np.isfinite(y)).sum()


def test_equal_but_for_rounding_is_equal() -> None:
    by_measure = measures(np.array([[0.1 + 0.2, 0.3], [0.5, 0.6]]), np.array([0, 0]))
    assert by_measure["share_equal"] == 0.5


def test_what_does_not_vary_has_its_reason() -> None:
    family = run_agreement(np.array([[5.0, 5], [5, 5]]), [(0, 1)], np.array([0, 0]))
    points = family.points()
    assert points[:2].tolist() == [1, 0]
    assert np.isnan(points[2:]).all()
    assert all(reason and "do not vary" in reason for reason in family.reasons[2:])
    apart = run_agreement(np.array([[5.0, np.nan], [np.nan, 5]]), [(0, 1)], np.array([0, 0]))
    assert np.isnan(apart.points()).all()
    assert set(apart.reasons) == {"no response has a score of both"}
