"""Differences between two judges, p by permutation of queries, and ranks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from analysis.core.arrays import FloatArray
from analysis.statistics.agreement import judge_comparison
from analysis.statistics.agreement.cohen_kappa import cohen_kappa
from analysis.statistics.agreement.judge_comparison import Categories, Compared, Measure
from analysis.statistics.agreement.soft_difference import soft_difference

MEASURES: tuple[Measure, ...] = (
    "kendall_tau_b",
    "pairwise_accuracy",
    "calibrated_pairwise_accuracy",
    "pearson",
    "rmse",
)


def judges(seed: int, noise: tuple[float, float], queries: int = 30, systems: int = 4) -> Compared:
    rng = np.random.default_rng(seed)
    n = queries * systems
    people = np.round(50 + rng.normal(0, 15, n))
    first, second = (np.round(people + rng.normal(0, sd, n)) for sd in noise)
    query = np.repeat(np.arange(queries), systems)
    return Compared.of(first, second, people, query, queries, ("A", "B"))


def test_the_difference_is_that_of_two_correlations() -> None:
    of = judges(0, (5, 20))
    expected = (
        stats.pearsonr(of.first, of.people).statistic
        - stats.pearsonr(of.second, of.people).statistic
    )
    assert of.difference("pearson", "pooled").point == pytest.approx(expected)
    errors = [np.sqrt(np.mean((judge - of.people) ** 2)) for judge in (of.first, of.second)]
    assert of.difference("rmse", "pooled").point == pytest.approx(errors[0] - errors[1])


def test_p_is_that_of_all_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    of = judges(1, (6, 12), queries=8, systems=3)
    monkeypatch.setattr(judge_comparison, "PERMUTATIONS", 19_999)
    z = [(judge - judge.mean()) / judge.std() for judge in (of.first, of.second)]

    def difference(swap: tuple[int, ...]) -> float:
        moved = np.array(swap)[of.query] == 1
        a, b = np.where(moved, z[1], z[0]), np.where(moved, z[0], z[1])
        rs = [stats.pearsonr(judge, of.people).statistic for judge in (a, b)]
        return float(rs[0] - rs[1])

    every = np.array([difference(swap) for swap in product((0, 1), repeat=8)])
    exact = np.mean(np.abs(every) >= abs(every[0]) - 1e-12)
    assert of.p("pearson", "pooled") == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_better_judge_has_a_small_p(measure: Measure) -> None:
    scope = "within_query" if measure != "rmse" else "pooled"
    of = judges(2, (4, 25))
    better = of.difference(measure, scope).point
    assert (better < 0) == (measure == "rmse")
    assert of.p(measure, scope) == 0.001


def test_equally_good_judges_are_seldom_different() -> None:
    p = [judges(seed, (12, 12)).p("kendall_tau_b", "within_query") for seed in range(100)]
    assert np.mean(np.array(p) <= 0.05) <= 0.12  # of 100 at .05, more than 12 once in 500
    assert 0.35 < np.mean(p) < 0.65


def test_scale_and_level_of_a_judge_do_not_matter_for_its_order() -> None:
    of = judges(3, (8, 10))
    other = Compared(of.first, of.second / 100 + 7, of.people, of.query, of.n_queries, of.names)
    for measure in ("kendall_tau_b", "pearson"):
        assert of.p(measure, "pooled") == other.p(measure, "pooled")


def categorized(seed: int) -> Compared:
    rng = np.random.default_rng(seed)
    people = np.repeat(rng.integers(1, 6, (80, 1)), 2, axis=1).astype(float)
    people[:, 1] = np.where(rng.random(80) < 0.3, rng.integers(1, 6, 80), people[:, 0])
    people[rng.random(80) < 0.3, 1] = np.nan
    first, second = (
        np.where(rng.random(80) < right, people[:, 0], rng.integers(1, 6, 80))
        for right in (0.9, 0.2)
    )
    categories = Categories(people, (1, 2, 3, 4, 5), "quadratic")
    query = np.repeat(np.arange(20), 4)
    reference = np.nanmean(people, axis=1)
    return Compared.of(first, second, reference, query, 20, ("A", "B"), categories)


def test_the_difference_of_kappas_is_that_of_their_means_over_raters() -> None:
    of = categorized(0)
    assert of.categories is not None
    means = []
    for judge in (of.first, of.second):
        kappas = [
            cohen_kappa(judge, rater, of.query, "quadratic", of.categories.levels).point
            for rater in of.categories.ratings.T
        ]
        means.append(np.mean(kappas))
    assert of.difference("cohen_kappa", "pooled").point == pytest.approx(means[0] - means[1])
    assert of.p("cohen_kappa", "pooled") == 0.001


def test_a_kappa_needs_categories() -> None:
    with pytest.raises(ValueError, match="the categories"):
        judges(0, (8, 10)).difference("cohen_kappa", "pooled")


def test_a_constant_judge_has_no_correlation() -> None:
    of = judges(4, (8, 10))
    constant = Compared.of(of.first, of.first * 0, of.people, of.query, of.n_queries, of.names)
    difference = constant.difference("pearson", "pooled")
    assert difference.reason == "B gives every response the same value (0)"


def by_system(seed: int, noise: tuple[float, float]) -> tuple[FloatArray, ...]:
    rng = np.random.default_rng(seed)
    people = rng.normal(0, 10, (40, 5)) + np.arange(5)
    shift = rng.normal(0, 1, (2, 5)) * np.array(noise)[:, None]
    return people + shift[0] + rng.normal(0, 8, (40, 5)), people + shift[1], people


def test_soft_accuracy_of_two_judges() -> None:
    a, b, people = by_system(0, (0.5, 8))
    difference = soft_difference(a, b, people)
    reverse = soft_difference(b, a, people)
    assert difference.reason is None
    assert difference.n_pairs == 10
    assert reverse.value == pytest.approx(-difference.value)
    assert reverse.p == pytest.approx(difference.p)
    assert soft_difference(a, a, people).p == 1
