import subprocess
import sys
from functools import partial
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import stats

from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.association import Measure, association
from tests.analysis.ragged import repeated

MEASURES: tuple[Measure, ...] = get_args(Measure)
pearson, spearman, kendall_tau_b, mae, bias = (partial(association, m) for m in MEASURES)
CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "kendall_tau_b")
SCOPES: tuple[Scope, ...] = get_args(Scope)
CASES = [(m, s) for m in MEASURES for s in SCOPES if (m, s) != ("bias", "within_query")]
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}
NA = float("nan")


def scores(
    seed: int, queries: int = 40, systems: int = 4, step: float | None = 5, missing: float = 0.1
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x, y, query codes and who produced which response."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), systems)
    truth = 60 + rng.normal(0, 12, queries)[query] + rng.normal(0, 12, query.size)
    x, y = truth + rng.normal(5, 10, query.size), truth + rng.normal(0, 10, query.size)
    if step is not None:
        x, y = step * np.round(x / step), step * np.round(y / step)
    x[rng.random(query.size) < missing] = NA
    y[rng.random(query.size) < missing] = NA
    return x, y, query, np.tile(np.eye(systems, dtype=bool), (queries, 1))


@pytest.mark.parametrize("measure", CORRELATIONS)
@pytest.mark.parametrize("step", [5, None])
def test_pooled_correlations_equal_scipy(measure: Measure, step: float | None) -> None:
    x, y, query, _ = scores(1, step=step)
    both = np.isfinite(x) & np.isfinite(y)
    statistic = association(measure, x, y, query)
    assert statistic.point == pytest.approx(SCIPY[measure](x[both], y[both])[0], abs=1e-9)
    assert statistic.n_responses == both.sum()
    assert statistic.n_dropped == (np.isfinite(x) ^ np.isfinite(y)).sum()


@pytest.mark.parametrize("measure", CORRELATIONS)
@pytest.mark.parametrize("scope", ["pooled", "within_query"])
def test_one_huge_value_leaves_scipys_figure(measure: Measure, scope: Scope) -> None:
    rng = np.random.default_rng(11)
    query, y = np.repeat(np.arange(30), 3), rng.integers(0, 101, 90).astype(float)
    x = y / 100 + rng.normal(0, 0.2, 90)
    x[7] = 1e15
    statistic = association(measure, x, y, query, scope)
    if scope == "pooled":
        assert statistic.point == pytest.approx(SCIPY[measure](x, y)[0], abs=1e-9)
    # Resamples that lack the value keep all digits of the others.
    without = np.ones((1, 30))
    without[0, 2] = 0
    kept = query != 2
    alone = association(measure, x[kept], y[kept], query[kept], scope, n_queries=30)
    assert statistic(without)[0] == pytest.approx(alone.point, abs=1e-9)
    assert 0.5 < alone.point < 1


@pytest.mark.parametrize("scope", SCOPES)
def test_an_offset_leaves_pearson_as_it_is(scope: Scope) -> None:
    rng = np.random.default_rng(12)
    # Sixteenths, which stay exact on top of 1e9.
    query, y = np.repeat(np.arange(30), 4), rng.integers(0, 17, 120) / 16
    x = rng.integers(0, 17, 120) / 16 + y
    produced = np.tile(np.eye(4, dtype=bool), (30, 1))
    plain = pearson(x, y, query, scope, produced=produced).point
    high = pearson(x + 1e9, y + 1e9, query, scope, produced=produced).point
    # Means of queries are rounded to the digits that stand beside 1e9.
    assert high == pytest.approx(plain, abs=1e-6 if scope == "between_queries" else 1e-9)
    if scope == "pooled":
        assert high == pytest.approx(stats.pearsonr(x + 1e9, y + 1e9)[0], abs=1e-9)


def test_float_noise_makes_no_order_between_deviations() -> None:
    # Deviations of -0.05 and 0.05 in both queries, computed from 90 and from 0.
    x, query = np.array([90.1, 90.2, 0.1, 0.2]), np.array([0, 0, 1, 1])
    y = np.array([1, 2, 1, 2.0])
    assert spearman(x, y, query, "within_query").point == 1


def test_kendall_of_the_scipy_documentation() -> None:
    tau = kendall_tau_b([12, 2, 1, 12, 2], [1, 4, 7, 1, 0], np.arange(5)).point
    # 1 concordant and 5 discordant pairs, 8 untied in x and 9 in y: -4 / sqrt(72).
    assert tau == pytest.approx(-4 / np.sqrt(72))
    assert round(tau, 7) == -0.4714045
    # Deutsch et al. (2023): gold 1 2 2 3 4 against metric 2 1 1.5 5 3.
    gold = kendall_tau_b([2, 1, 1.5, 5, 3], [1, 2, 2, 3, 4], np.arange(5)).point
    assert round(gold, 6) == 0.316228


@pytest.mark.parametrize("measure", CORRELATIONS)
def test_query_means_and_system_means_equal_scipy(measure: Measure) -> None:
    x, y, query, produced = scores(2, systems=5)
    both = np.isfinite(x) & np.isfinite(y)
    by_query = [
        (x[both & (query == q)].mean(), y[both & (query == q)].mean())
        for q in range(40)
        if (both & (query == q)).any()
    ]
    between = association(measure, x, y, query, "between_queries")
    assert between.point == pytest.approx(SCIPY[measure](*zip(*by_query, strict=True))[0], abs=1e-9)
    by_system = [(x[both & p].mean(), y[both & p].mean()) for p in produced.T]
    system = association(measure, x, y, query, "system_level", produced=produced)
    assert system.point == pytest.approx(SCIPY[measure](*zip(*by_system, strict=True))[0], abs=1e-9)


def test_within_query_by_hand() -> None:
    x = np.array([1, 2, 3, 10, 12, 7.0])
    y = np.array([1, 3, 2, 5, 5, 9.0])
    query = np.array([0, 0, 0, 1, 1, 2])
    # Deviations (-1, 0, 1, -1, 1) and (-1, 1, 0, 0, 0): 1 / sqrt(4 * 2). Query 2 stands alone.
    r = pearson(x, y, query, "within_query")
    assert r.point == pytest.approx(1 / np.sqrt(8))
    assert (r.n_responses, r.n_dropped, r.n_queries) == (5, 1, 2)
    # Query 0: 2 concordant, 1 discordant of 3; query 1: tied in y: 1 / sqrt(4 * 3).
    assert kendall_tau_b(x, y, query, "within_query").point == pytest.approx(1 / np.sqrt(12))
    rho = stats.spearmanr([-1, 0, 1, -1, 1], [-1, 1, 0, 0, 0])[0]
    assert spearman(x, y, query, "within_query").point == pytest.approx(rho)


def test_pooled_association_need_not_hold_within_queries() -> None:
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(200), 4)
    level = rng.normal(0, 10, 200)[query]
    x, y = level + rng.normal(0, 5, 800), level + rng.normal(0, 5, 800)
    # Expected: 100 / 125 pooled, 0 within.
    assert pearson(x, y, query).point == pytest.approx(0.8, abs=0.05)
    assert pearson(x, y, query, "within_query").point == pytest.approx(0, abs=0.1)


def test_differences_by_hand() -> None:
    x, y = np.array([1, 2, 9.0, NA]), np.array([3, 2, 5.0, 1])
    query, produced = np.array([0, 0, 1, 1]), np.array([[1, 0], [0, 1], [1, 1], [1, 1]], dtype=bool)
    assert bias(x, y, query).point == pytest.approx(2 / 3)
    assert mae(x, y, query).point == 2
    assert bias(x, y, query, "between_queries").point == pytest.approx((-1 + 4) / 2)
    assert mae(x, y, query, "between_queries").point == pytest.approx((1 + 4) / 2)
    assert mae(x, y, query, "within_query").point == 1
    # System 0: (-2 + 4) / 2; system 1: (0 + 4) / 2. A shared response counts for both.
    assert bias(x, y, query, "system_level", produced=produced).point == 1.5
    assert bias(x, y, query, items=produced[:, 0]).point == 1


@pytest.mark.parametrize(("measure", "scope"), CASES)
@pytest.mark.parametrize("step", [5, None])
def test_weights_equal_repeating_queries(measure: Measure, scope: Scope, step: float) -> None:
    x, y, query, produced = scores(4, step=step)
    produced = produced if scope == "system_level" else None
    statistic = association(measure, x, y, query, scope, produced=produced)
    weights = np.concatenate([np.ones((1, 40)), QueryResampling(40, 4).bootstrap])
    for row, value in zip(weights, statistic(weights), strict=True):
        arrays = (x, y) if produced is None else (x, y, produced)
        codes, (x_r, y_r, *rest) = repeated(row, query, *arrays)
        again = association(
            measure, x_r, y_r, codes, scope, produced=rest[0] if rest else None
        ).point
        assert value == pytest.approx(again, abs=1e-9)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, query, _ = scores(5, step=None)
    weights = QueryResampling(40, 30).bootstrap
    whole = spearman(x, y, query)(weights)
    monkeypatch.setattr("analysis.core.query_statistic.BLOCK_NUMBERS", 1000)
    assert spearman(x, y, query)(weights) == pytest.approx(whole)


cells = st.one_of(st.integers(0, 4).map(float), st.just(NA))
rows = st.lists(st.tuples(cells, cells, st.integers(0, 3)), min_size=0, max_size=14)


def as_arrays(drawn: list[tuple[float, float, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = np.array(drawn, dtype=float).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(int)


@given(rows, st.sampled_from(CASES))
@example([(0.0, 2.0, 0), (1.0, 1.0, 0), (2.0, 0.0, 0)], ("kendall_tau_b", "pooled"))
def test_undefined_exactly_when_there_is_a_reason(
    drawn: list[tuple[float, float, int]], case: tuple[Measure, Scope]
) -> None:
    x, y, query = as_arrays(drawn)
    produced = query[:, None] == np.arange(4)
    statistic = association(case[0], x, y, query, case[1], produced=produced)
    assert np.isnan(statistic.point) == (statistic.reason is not None)
    if case[0] in CORRELATIONS:
        assert not abs(statistic.point) > 1
    statistic(np.zeros((1, statistic.contributing.size)))


@given(rows, st.sampled_from(CORRELATIONS), st.sampled_from(SCOPES[:3]))
def test_symmetry_sign_and_self_agreement(
    drawn: list[tuple[float, float, int]], measure: Measure, scope: Scope
) -> None:
    x, y, query = as_arrays(drawn)
    value = association(measure, x, y, query, scope).point
    swapped = association(measure, y, x, query, scope).point
    negated = association(measure, x, -y, query, scope).point
    assert swapped == pytest.approx(value, abs=1e-12, nan_ok=True)
    assert negated == pytest.approx(-value, abs=1e-12, nan_ok=True)
    itself = association(measure, x, x, query, scope)
    assert itself.reason is not None or itself.point == pytest.approx(1)


@given(rows, st.randoms(use_true_random=False), st.sampled_from(CORRELATIONS))
def test_order_of_items_does_not_matter(drawn, random, measure) -> None:
    x, y, query = as_arrays(drawn)
    order = list(range(len(drawn)))
    random.shuffle(order)
    for scope in ("pooled", "within_query"):
        value = association(measure, x, y, query, scope).point
        shuffled = association(measure, x[order], y[order], query[order], scope).point
        assert shuffled == pytest.approx(value, abs=1e-12, nan_ok=True)


def why(statistic: QueryStatistic) -> str:
    assert np.isnan(statistic.point)
    assert statistic.reason is not None
    return statistic.reason


def test_reasons_name_the_cause() -> None:
    x, y, query = np.arange(6.0), np.full(6, 5.0), np.repeat(np.arange(3), 2)
    names = ("run-1", "rater A")
    assert (
        why(pearson(x, y, query, names=names)) == "rater A gives every response the same value (5)"
    )
    noisy = np.array([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3])
    assert "the same value" in why(pearson(x, noisy, query))
    assert "at least 3 responses, there are 2" in why(spearman(x[:2], x[:2], query[:2]))
    assert "at least 3 queries, there are 1" in why(
        pearson(x[:2], x[:2], query[:2], "between_queries")
    )
    assert "of any query" in why(
        kendall_tau_b(query.astype(float), x, query, "within_query", names=names)
    )
    assert "in queries of two or more, there are 0" in why(
        pearson(x, x, np.arange(6), "within_query")
    )
    assert "no response has both" in why(bias(x, np.full(6, NA), query))
    two = np.tile(np.eye(2, dtype=bool), (3, 1))
    assert "at least 3, there are 2" in why(pearson(x, x, query, "system_level", produced=two))
    three = np.tile(np.eye(3, dtype=bool), (2, 1))
    flat = why(pearson(x, y, query, "system_level", produced=three, names=names))
    assert flat == "rater A gives every system the same mean (5)"
    none = np.zeros((6, 3), dtype=bool)
    assert "no system" in why(mae(x, y, query, "system_level", produced=none))


def test_mistakes_are_named() -> None:
    x, query = np.arange(4.0), np.arange(4)
    with pytest.raises(ValueError, match="measure 'ccc': expected one of pearson"):
        association("ccc", x, x, query)
    with pytest.raises(ValueError, match="scope 'system': expected one of pooled"):
        pearson(x, x, query, "system")
    with pytest.raises(ValueError, match="0 by construction"):
        bias(x, x, query, "within_query")
    with pytest.raises(ValueError, match="needs `produced`"):
        pearson(x, x, query, "system_level")
    with pytest.raises(ValueError, match="one row for each response"):
        pearson(x, x, query, "system_level", produced=np.ones(4))
    with pytest.raises(ValueError, match="expected equal"):
        pearson(x, x[:3], query)
    with pytest.raises(ValueError, match="items has shape"):
        pearson(x, x, query, items=[True])


def test_resample_without_a_system_is_undefined() -> None:
    x, y, query, produced = scores(6, queries=3, systems=3, missing=0)
    produced[query == 2] = False
    produced[query == 1] = [True, False, False]
    statistic = pearson(x, y, query, "system_level", produced=produced)
    alphas = statistic(np.array([[1, 1, 1], [0, 2, 1]]))
    assert np.isfinite(alphas[0])
    assert np.isnan(alphas[1])
    assert statistic.n_queries == 2


def test_compilation_is_left_to_those_who_need_it() -> None:
    code = "import sys, analysis.statistics.agreement.association; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
