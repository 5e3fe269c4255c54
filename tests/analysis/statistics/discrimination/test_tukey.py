"""The randomized Tukey test against its exact distribution, another library, and its traps."""

import warnings
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.statistics.discrimination import tukey
from analysis.statistics.discrimination.tukey import (
    FEW,
    NOTHING_MOVES,
    RandomizedTukey,
    one_sided,
    randomized_tukey_hsd,
    randomized_tukey_hsds,
)
from tests.conftest import examples

B = 4000


def exact_p(rows: list[list[int | Fraction]]) -> dict[tuple[int, int], float]:
    """p of every pair by the whole distribution of the sums, one query after another."""
    k = len(rows[0])
    sums: Counter[tuple[Fraction, ...]] = Counter({(Fraction(0),) * k: 1})
    for row in rows:
        after: Counter[tuple[Fraction, ...]] = Counter()
        for order, count in Counter(permutations(map(Fraction, row))).items():
            for before, ways in sums.items():
                moved = tuple(a + b for a, b in zip(before, order, strict=True))
                after[moved] += ways * count
        sums = after
    observed = [sum(map(Fraction, column)) for column in zip(*rows, strict=True)]
    whole = sum(sums.values())
    return {
        (i, j): sum(
            ways for state, ways in sums.items()
            if max(state) - min(state) >= abs(observed[i] - observed[j])
        ) / whole
        for i in range(k) for j in range(i + 1, k)
    }  # fmt: skip


def within(result: float, exact: float, resamples: int) -> bool:
    """Whether a Monte Carlo p lies within four standard errors of the exact one."""
    return abs(result - exact) < 4 * np.sqrt(exact * (1 - exact) / resamples) + 2 / resamples


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_is_that_of_the_whole_distribution_of_20_queries_with_ties(seed: int) -> None:
    # 6^20 orders in full: the distribution of sums is built query by query, in fractions.
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 6, (20, 3))
    cells[:, 0] = np.minimum(5, cells[:, 0] + (rng.random(20) < 0.4))
    exact = exact_p(cells.tolist())
    # Tenths: 0.1 + 0.2 is not 0.3 in floats, so that a plain comparison of means loses ties.
    test = randomized_tukey_hsd(cells / 10, resamples=20_000, seed=seed)
    for place, pair in enumerate(zip(test.first, test.second, strict=True)):
        assert within(test.p[place], exact[tuple(map(int, pair))], 20_000)


def test_ties_count_where_a_plain_comparison_of_floats_loses_them() -> None:
    # Two systems on five queries, in tenths. Of the 32 tables 12 reach the observed difference; a
    # comparison of floats finds 8 of them.
    whole = np.array([[9, 5], [3, 5], [7, 2], [3, 3], [8, 6]])
    reached = {"whole": 0, "floats": 0}
    for turned in product([False, True], repeat=5):
        for name, cells in (("whole", whole), ("floats", whole / 10)):
            rows = [row[::-1] if turn else row for row, turn in zip(cells, turned, strict=True)]
            observed, moved = (np.sum(c, axis=0) if name == "whole" else np.mean(c, axis=0)
                               for c in (cells, rows))  # fmt: skip
            reached[name] += np.ptp(moved) >= np.ptp(observed)
    assert reached == {"whole": 12, "floats": 8}
    assert within(randomized_tukey_hsd(whole / 10, 40_000).p[0], 12 / 32, 40_000)


def test_means_of_three_repeats_are_compared_as_thirds() -> None:
    rng = np.random.default_rng(3)
    thirds = rng.integers(0, 12, (8, 3))
    exact = exact_p([[Fraction(int(v), 3) for v in row] for row in thirds])
    test = randomized_tukey_hsd(thirds / 3, resamples=20_000)
    whole = randomized_tukey_hsd(thirds, resamples=20_000)
    assert (test.p == whole.p).all()
    for place, pair in enumerate(zip(test.first, test.second, strict=True)):
        assert within(test.p[place], exact[tuple(map(int, pair))], 20_000)


def test_missing_scores_are_permuted_among_the_systems_that_have_one() -> None:
    nan = np.nan
    cells = np.array([[3, 1, nan], [2, 2, 0], [nan, 1, 4], [5, nan, nan], [1, 0, 2], [4, 3, 1]])
    systems = [[s for s in range(3) if not np.isnan(row[s])] for row in cells]
    counts = (~np.isnan(cells)).sum(axis=0)
    ranges = []
    for orders in product(*(permutations(range(len(of))) for of in systems)):
        sums = [0, 0, 0]
        for row, of, order in zip(cells, systems, orders, strict=True):
            for place, drawn in zip(of, order, strict=True):
                sums[place] += int(row[of[drawn]])
        means = [Fraction(total, int(n)) for total, n in zip(sums, counts, strict=True)]
        ranges.append(max(means) - min(means))
    totals = [
        Fraction(int(v), int(n)) for v, n in zip(np.nansum(cells, axis=0), counts, strict=True)
    ]
    test = randomized_tukey_hsd(cells, resamples=20_000)
    for place, (i, j) in enumerate(zip(test.first, test.second, strict=True)):
        exact = np.mean([q >= abs(totals[i] - totals[j]) for q in ranges])
        assert within(test.p[place], float(exact), 20_000)
    assert test.n_queries == 5
    assert test.n_scores == 14


@pytest.mark.parametrize("systems", [3, 8])
def test_many_systems_are_shuffled_alike(systems: int) -> None:
    # Above 6 systems another loop shuffles; large samples follow the studentized range.
    rng = np.random.default_rng(5)
    cells = np.round(100 * rng.beta(5, 2, (800, systems)))
    cells[:, 0] += 1.5
    test = randomized_tukey_hsd(cells, resamples=20_000)
    error = np.sqrt(np.var(cells, axis=1, ddof=1).mean() / len(cells))
    for difference, p in zip(test.difference, test.p, strict=True):
        large = stats.studentized_range.sf(abs(difference) / error, systems, np.inf)
        assert p == pytest.approx(large, abs=0.02)


def test_studentized_range_at_large_n_down_to_one_in_a_hundred() -> None:
    rng = np.random.default_rng(8)
    cells = np.round(rng.normal(60, 20, (2000, 6)))
    cells -= np.round(cells.mean(axis=0) - 60)
    error = np.sqrt(np.var(cells, axis=1, ddof=1).mean() / len(cells))
    for wanted in (0.5, 0.1, 0.05, 0.01):
        reach = stats.studentized_range.isf(wanted, 6, np.inf) * error
        shifted = cells.copy()
        shifted[:, 0] += shifted[:, 1].mean() - shifted[:, 0].mean() + reach
        shifted = np.round(shifted, 4)
        again = np.sqrt(np.var(shifted, axis=1, ddof=1).mean() / len(shifted))
        test = randomized_tukey_hsd(shifted, resamples=20_000)
        large = stats.studentized_range.sf(test.difference[0] / again, 6, np.inf)
        # Four standard errors of the permutations, and a little for the finite sample.
        assert test.p[0] == pytest.approx(large, abs=4 * np.sqrt(large / 20_000) + 0.002)


def test_scipys_permutations_of_samples_agree() -> None:
    rng = np.random.default_rng(7)
    cells = rng.integers(0, 11, (15, 4)).astype(float)
    test = randomized_tukey_hsd(cells, resamples=20_000)
    reached = stats.permutation_test(
        list(cells.T),
        lambda *systems, axis: np.ptp(np.stack([np.mean(s, axis=axis) for s in systems]), axis=0),
        permutation_type="samples", n_resamples=20_000, alternative="greater", vectorized=True,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert test.p.min() == pytest.approx(reached.pvalue, abs=0.012)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 12), st.floats(0, 0.4))
@settings(max_examples=examples(40))
def test_relabelling_shifts_and_scales_change_nothing(
    seed: int, systems: int, queries: int, missing: float
) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 9, (queries, systems)).astype(float)
    cells[rng.random(cells.shape) < missing] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = randomized_tukey_hsd(cells, 300)
        moved = randomized_tukey_hsd(cells / 8 + 100, 300)
    assert np.array_equal(plain.p, moved.p, equal_nan=True)
    assert moved.difference == pytest.approx(plain.difference / 8, abs=1e-9, nan_ok=True)
    tested = plain.p[np.isfinite(plain.p)]
    assert ((tested > 0) & (tested <= 1)).all()
    # A larger difference never has a larger p.
    order = np.argsort(np.abs(plain.difference[np.isfinite(plain.p)]), kind="stable")
    assert (np.diff(tested[order]) <= 1e-15).all()


def test_first_resamples_and_tables_beside_change_no_bits() -> None:
    rng = np.random.default_rng(1)
    single, other = rng.integers(0, 101, (2, 300, 5)).astype(float)
    alone = randomized_tukey_hsd(single, 999, seed=4)
    beside = randomized_tukey_hsds([other, single, other[:7]], 999, seed=4)
    assert (beside[1].p == alone.p).all()
    assert (randomized_tukey_hsd(single, 999, seed=5).p != alone.p).any()


def test_the_papers_way_divides_the_count_by_the_number_of_permutations() -> None:
    cells = np.array([[9.0, 1.0]] * 30)
    assert randomized_tukey_hsd(cells, 999).p.tolist() == [1 / 1000]
    assert randomized_tukey_hsd(cells, 999, paper=True).p.tolist() == [0]
    rng = np.random.default_rng(2)
    varied = rng.integers(0, 5, (12, 3)).astype(float)
    plain, paper = (randomized_tukey_hsd(varied, 999, paper=p).p for p in (False, True))
    assert paper == pytest.approx((plain * 1000 - 1) / 999)


@pytest.mark.parametrize("factor", [np.pi, np.sqrt(2), np.e])
@pytest.mark.parametrize("seed", [3, 4, 7])
@pytest.mark.parametrize("equal_counts", [True, False])
def test_continuous_scores_that_tie_on_paper_still_tie(
    factor: float, seed: int, equal_counts: bool
) -> None:
    # The grid of irrational scores rounds each of them; without a tolerance sums lose their ties.
    whole = np.random.default_rng(seed).integers(0, 7, (25 if equal_counts else 8, 3))
    cells = whole.astype(float)
    if not equal_counts:
        # Many queries make the grid coarse.
        cells = np.vstack([cells, [[0, np.nan, np.nan]], np.zeros((4000, 3))])
    p = randomized_tukey_hsd(cells * factor, 1000).p
    assert (p == randomized_tukey_hsd(cells, 1000).p).all()


def test_many_scores_bring_the_permutations_down_to_a_thousand_and_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = np.random.default_rng(3).integers(0, 5, (12, 3)).astype(float)
    assert randomized_tukey_hsd(cells, 2000).resamples == 2000
    monkeypatch.setattr(tukey, "MOVES", 12 * 1500)
    assert randomized_tukey_hsd(cells, 2000).resamples == 1500
    monkeypatch.setattr(tukey, "MOVES", 12)
    assert randomized_tukey_hsd(cells, 2000).resamples == 1000
    assert randomized_tukey_hsd(cells, 300).resamples == 300


def test_power_counts_pairs_with_p_below_alpha_and_leaves_untested_ones_out() -> None:
    p = np.array([0.01, 0.05, 0.2, np.nan])
    first, second = np.zeros(4, dtype=np.int64), np.arange(1, 5)
    tested = RandomizedTukey(first, second, np.ones(4), p, 999, 10, 40)
    assert tested.power() == pytest.approx(1 / 3)
    assert tested.power(0.06) == pytest.approx(2 / 3)


def test_one_sided_as_in_the_paper() -> None:
    result = one_sided([0.04, 0.04, 1.0, np.nan], [2, -2, 0, 1])
    assert result[:3].tolist() == [0.02, 0.98, 0.5]
    assert np.isnan(result[3])


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (np.empty((0, 0)), FEW),
        (np.ones((4, 1)), FEW),
        (np.full((4, 3), np.nan), FEW),
        (np.array([[1, np.nan], [np.nan, 2]]), NOTHING_MOVES),
    ],
)
def test_without_two_systems_on_a_query_there_is_a_reason(cells: np.ndarray, reason: str) -> None:
    test = randomized_tukey_hsd(cells, 100)
    assert test.reason == reason
    assert np.isnan(test.p).all()
    assert np.isnan(test.power())


def test_constant_scores_are_never_told_apart() -> None:
    test = randomized_tukey_hsd(np.full((10, 3), 70.0), 100)
    assert test.p.tolist() == [1, 1, 1]
    assert test.power() == 0


def test_a_system_without_scores_leaves_the_others_tested() -> None:
    cells = np.random.default_rng(0).integers(0, 9, (10, 3)).astype(float)
    cells[:, 1] = np.nan
    test = randomized_tukey_hsd(cells, 200)
    assert np.isnan(test.p).tolist() == [True, False, True]


def test_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="one row a query"):
        randomized_tukey_hsd([1.0, 2.0])
    with pytest.raises(ValueError, match="at least 1"):
        randomized_tukey_hsd(np.ones((2, 2)), 0)


def test_two_hundred_systems() -> None:
    cells = np.random.default_rng(0).integers(0, 101, (12, 200)).astype(float)
    test = randomized_tukey_hsd(cells, 1000)
    assert test.p.size == 19_900
    assert np.isfinite(test.p).all()
