from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.statistics.agreement import pair_outcomes
from analysis.statistics.agreement.pairwise_accuracy import (
    PairScope,
    accuracy_by_threshold,
    pairwise_accuracy,
    pairwise_accuracy_out_of_fold,
)
from analysis.statistics.calibration.recalibration import folds

NA = float("nan")
SCOPES: tuple[PairScope, ...] = ("pooled", "within_query")


def by_hand(
    x: np.ndarray, y: np.ndarray, query: np.ndarray, scope: str, threshold: float
) -> tuple[int, int]:
    """Pairs ordered alike, and pairs, one after the other."""
    alike = total = 0
    for i, j in combinations(range(len(x)), 2):
        if scope == "within_query" and query[i] != query[j]:
            continue
        if not np.isfinite([x[i], x[j], y[i], y[j]]).all():
            continue
        total += 1
        dx, dy = x[i] - x[j], y[i] - y[j]
        tied = abs(dx) <= threshold + 1e-9
        alike += bool(dy == 0) if tied else bool(dx * dy > 0)
    return alike, total


def test_the_published_example_of_ties() -> None:
    gold, metric = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]
    query = np.zeros(5, dtype=int)
    for scope in SCOPES:
        assert pairwise_accuracy(metric, gold, query, scope).point == 0.6
        assert pairwise_accuracy(metric, gold, query, scope, 2).point == 0.4
        accuracies = accuracy_by_threshold(metric, gold, query, scope)
        assert accuracies.alike.max() / accuracies.n_pairs == 0.7


def test_accuracies_at_all_thresholds() -> None:
    query = np.zeros(4, dtype=int)
    for scope in SCOPES:
        accuracies = accuracy_by_threshold([0, 2, 6, 8], [1, 1, 1, 4], query, scope)
        assert accuracies.thresholds.tolist() == [0, 2, 4, 6, 8]
        assert accuracies.alike.tolist() == [3, 3, 4, 4, 3]
        assert (accuracies.best, accuracies.n_pairs) == (4, 6)


@given(st.integers(0, 10_000), st.sampled_from([0, 0.1, 0.2, 0.3]), st.sampled_from(SCOPES))
def test_counts_equal_those_of_going_through_the_pairs(
    seed: int, threshold: float, scope: PairScope
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    # 0.1 + 0.2 and 0.3 are one difference.
    x, y = rng.integers(0, 6, n) * 0.1, rng.integers(0, 4, n).astype(float)
    x[rng.random(n) < 0.1] = NA
    query = rng.integers(0, 4, n)
    accuracy = pairwise_accuracy(x, y, query, scope, threshold, n_queries=4)
    alike, total = by_hand(x, y, query, scope, threshold)
    assert accuracy.n_pairs == total
    if not total:
        assert accuracy.reason
        return
    assert accuracy.point == pytest.approx(alike / total)
    sizes = np.bincount(query[np.isfinite(x)], minlength=4)
    left = np.flatnonzero(sizes >= (2 if scope == "within_query" else 1))
    expected = []
    for code in left:
        kept = query != code
        fewer, of = by_hand(x[kept], y[kept], query[kept], scope, threshold)
        expected.append(fewer / of if of else NA)
    assert accuracy.without_each_query == pytest.approx(np.array(expected), nan_ok=True)
    each = accuracy_by_threshold(x, y, query, scope, n_queries=4)
    for at, alike_there in zip(each.thresholds, each.alike, strict=True):
        point = pairwise_accuracy(x, y, query, scope, at, n_queries=4).point
        assert point == pytest.approx(alike_there / each.n_pairs)


@given(st.integers(0, 1000), st.floats(0.5, 20), st.floats(-50, 50))
def test_accuracy_does_not_depend_on_the_order_or_the_scale(
    seed: int, factor: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, (2, 20)).astype(float)
    query, order = np.arange(20) // 4, rng.permutation(20)
    for scope in (*SCOPES, "between_queries"):
        point = pairwise_accuracy(x, y, query, scope).point
        assert pairwise_accuracy(x[order], y[order], query[order], scope).point == point
        scaled = pairwise_accuracy(factor * x + shift, y, query, scope)
        if scope != "between_queries":
            assert scaled.point == pytest.approx(point)


def test_many_distinct_scores_take_a_grid_of_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_outcomes, "SCORES_TRIED", 10)
    rng = np.random.default_rng(0)
    x, y, query = rng.random(40), rng.integers(0, 3, 40).astype(float), np.arange(40) // 4
    accuracies = accuracy_by_threshold(x, y, query)
    assert accuracies.thresholds.size == pair_outcomes.GRID + 1
    best = pairwise_accuracy(x, y, query, threshold=accuracies.best)
    assert best.point == pytest.approx(accuracies.alike.max() / accuracies.n_pairs)


def test_too_many_distinct_values_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_outcomes, "CELLS", 10)
    monkeypatch.setattr("analysis.statistics.agreement.pairwise_accuracy.CELLS", 10)
    accuracy = pairwise_accuracy(np.arange(9.0), np.arange(9.0), np.arange(9))
    assert accuracy.reason is not None
    assert "too many to compare" in accuracy.reason


def test_out_of_fold_uses_thresholds_of_other_queries_on_pairs_inside_a_fold() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 80).astype(float)
    x = y * 10 + rng.normal(0, 6, 80).round()
    query = np.arange(80) // 4
    fold = folds(20, 10, 0)[query]
    for scope in SCOPES:
        alike = total = 0
        for number in range(10):
            inside = fold == number
            best = accuracy_by_threshold(x[~inside], y[~inside], query[~inside], scope).best
            expected = by_hand(x[inside], y[inside], query[inside], scope, best)
            alike, total = alike + expected[0], total + expected[1]
        outside = pairwise_accuracy_out_of_fold(x, y, query, scope)
        assert outside.point == pytest.approx(alike / total)
        assert outside.n_pairs == total


def test_calibration_on_noise_flatters_in_sample_and_not_out_of_fold() -> None:
    gains, honest = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 101, 60).astype(float), rng.integers(0, 2, 60).astype(float)
        query = np.arange(60) // 4
        best = accuracy_by_threshold(x, y, query, "within_query")
        gains.append(best.alike.max() / best.n_pairs)
        honest.append(pairwise_accuracy_out_of_fold(x, y, query, "within_query").point)
    assert np.mean(gains) > np.mean(honest) + 0.02


@pytest.mark.parametrize("scope", ["pooled", "within_query", "between_queries"])
def test_nothing_to_compare_has_a_reason(scope: PairScope) -> None:
    for x in ([], [1.0], [NA, NA]):
        query = np.arange(len(x))
        for computed in (
            pairwise_accuracy(x, x, query, scope),
            pairwise_accuracy_out_of_fold(x, x, query, scope),
        ):
            assert computed.reason
            assert np.isnan(computed.point)
        assert accuracy_by_threshold(x, x, query, scope).best == 0


def test_a_negative_threshold_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold"):
        pairwise_accuracy([1, 2], [1, 2], [0, 0], threshold=-1)
