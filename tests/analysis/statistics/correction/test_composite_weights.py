"""Learned weights against scipy's, and what may not change them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import nnls

from analysis.statistics.correction.composite_weights import (
    FOLDS,
    composite_weights,
    out_of_fold,
    scaled,
)
from tests.analysis.ragged import repeated


def sample(seed: int, queries: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (n, 3), an overall rating of .7, .3 and -.2 times them plus noise, and queries."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), 4)
    scores = 50 + 12 * rng.normal(size=(query.size, 3)) + 6 * rng.normal(size=queries)[query, None]
    overall = scores @ [0.7, 0.3, -0.2] + 5 * rng.normal(size=query.size)
    return scores, overall, query


@given(st.integers(0, 10_000))
def test_composite_weights_equal_scipys_nnls(seed: int) -> None:
    scores, overall, query = sample(seed, queries=12)
    weights_family = composite_weights(scores, overall, query, 12)
    expected, _ = nnls(scores - scores.mean(axis=0), overall - overall.mean())
    assert weights_family.points() == pytest.approx(expected, abs=1e-4)
    assert (weights_family.points()[expected == 0] == 0).all()


def test_a_construct_that_lowers_the_overall_rating_has_no_weight() -> None:
    scores, overall, query = sample(1)
    assert composite_weights(scores, overall, query, 30).points()[2] == 0


def test_of_weights_is_the_sample_with_queries_repeated() -> None:
    scores, overall, query = sample(1, queries=10)
    times = np.array([0, 2, 1, 1, 3, 0, 1, 1, 2, 1])
    codes, (x, y) = repeated(times, query, scores, overall)
    expected = composite_weights(x, y, codes, int(codes.max()) + 1).points()
    family = composite_weights(scores, overall, query, 10)
    assert family.weighted_statistic(times[None, :].astype(float))[0] == pytest.approx(expected)


def test_equal_constructs_share_their_weight() -> None:
    scores, overall, query = sample(2)
    scores[:, 1] = scores[:, 0]
    first, second, _ = composite_weights(scores, overall, query, 30).points()
    assert first == pytest.approx(second, rel=1e-3)


def test_out_of_fold_never_sees_the_querys_own_ratings() -> None:
    scores, overall, query = sample(3)
    result = out_of_fold(scores, overall, query, 30, seed=5)
    assert np.isfinite(result).all()
    assert np.corrcoef(result, overall)[0, 1] > 0.8
    changed = overall.copy()
    changed[query == 4] += 1000
    again = out_of_fold(scores, changed, query, 30, seed=5)
    assert again[query == 4] == pytest.approx(result[query == 4])
    assert again[query != 4] != pytest.approx(result[query != 4])
    assert FOLDS == 5


def test_every_fold_has_the_same_variance_of_the_composite() -> None:
    scores, _, _ = sample(4)
    weights = np.array([[0.7, 0.3, 0.0], [0.1, 0.1, 0.1], [0.0, 0.0, 0.0], [np.nan] * 3])
    result = scaled(weights, scores)
    assert (scores @ result[:2].T).std(axis=0) == pytest.approx(1)
    assert result[0] == pytest.approx(result[0].sum() * weights[0])
    assert (result[2] == 0).all()
    assert np.isnan(result[3]).all()


def test_noise_is_not_turned_into_a_negative_correlation() -> None:
    """An intercept of each fold's own would make unrelated scores correlate at about -.1."""
    result = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores, query = rng.normal(size=(80, 2)), np.repeat(np.arange(20), 4)
        overall = rng.normal(size=80)
        values = out_of_fold(scores, overall, query, 20, seed)
        if values.std() > 0:
            result.append(np.corrcoef(values, overall)[0, 1])
    assert np.mean(result) > -0.1


@pytest.mark.parametrize("column", ["scores", "overall"])
def test_composite_weights_need_variation(column: str) -> None:
    scores, overall, query = sample(4)
    if column == "scores":
        scores[:, 1] = 3
    else:
        overall[:] = 3
    weights_family = composite_weights(scores, overall, query, 30)
    assert np.isnan(weights_family.points()).all()
    assert "all equal" in str(weights_family.reasons[0])
    assert np.isnan(out_of_fold(scores, overall, query, 30)).all()


def test_too_few_and_wrong() -> None:
    few = composite_weights(np.ones((3, 2)), np.ones(3), np.arange(3), 3)
    assert "too few" in str(few.reasons[0])
    empty = composite_weights(np.ones((0, 2)), np.ones(0), np.zeros(0, dtype=int), 3)
    assert np.isnan(empty.points()).all()
    assert out_of_fold(np.ones((2, 2)), np.ones(2), np.zeros(2, dtype=int), 1).size == 2
    with pytest.raises(ValueError, match="complete"):
        composite_weights([[1, np.nan]], [1], [0], 1)
    with pytest.raises(ValueError, match="expected"):
        composite_weights([1, 2], [1, 2], [0, 1], 2)
