import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.statistics.agreement.cohen_kappa import (
    cohen_kappa,
    kappa_between_raters,
    kappa_with_raters,
    levels_of,
    off_levels,
)
from study.base.scales import Scale

NA = float("nan")


def from_table(counts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Two scorers' categories from a table of counts, the first by rows."""
    table = np.array(counts)
    a, b = np.indices(table.shape)
    return np.repeat(a.ravel(), table.ravel()), np.repeat(b.ravel(), table.ravel())


def test_cohens_kappas_of_the_three_by_three_table() -> None:
    a, b = from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    query = np.arange(a.size) // 4
    assert cohen_kappa(a, b, query).point == pytest.approx(0.796409, abs=1e-6)
    assert cohen_kappa(a, b, query, "quadratic").point == pytest.approx(0.892157, abs=1e-6)


def test_cohens_kappa_of_the_two_by_two_table() -> None:
    # Observed agreement .7, by chance .5: .2 of the .5 that are left.
    a, b = from_table([[20, 5], [10, 15]])
    assert cohen_kappa(a, b, np.arange(50)).point == pytest.approx(0.4)


@given(st.integers(0, 500), st.booleans())
def test_kappa_counts_only_what_both_scored_and_ignores_who_is_first(
    seed: int, quadratic: bool
) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(1, 5, (2, 40)).astype(float)
    a[:5], b[5:9] = NA, NA
    weights = "quadratic" if quadratic else "none"
    query, levels = np.arange(40) // 4, (1.0, 2.0, 3.0, 4.0)
    kappa = cohen_kappa(a, b, query, weights, levels)
    assert kappa.point == pytest.approx(cohen_kappa(b, a, query, weights, levels).point)
    assert kappa.point == pytest.approx(cohen_kappa(a[9:], b[9:], query[9:], weights, levels).point)
    # Weights are repetitions of queries.
    doubled = np.where(np.arange(10) == 4, 2.0, 1.0)
    twice = np.r_[np.arange(40), np.flatnonzero(query == 4)]
    expected = cohen_kappa(a[twice], b[twice], np.arange(twice.size), weights, levels).point
    assert kappa(doubled[None])[0] == pytest.approx(expected)


def test_kappas_are_averaged_over_raters_and_pairs() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 4, (60, 3)).astype(float)
    judge = np.where(rng.random(60) < 0.6, ratings[:, 0], 2.0)
    query = np.arange(60) // 3
    each = [cohen_kappa(judge, ratings[:, i], query).point for i in range(3)]
    assert kappa_with_raters(judge, ratings, query).point == pytest.approx(np.mean(each))
    pairs = [
        cohen_kappa(ratings[:, i], ratings[:, j], query).point for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    assert kappa_between_raters(ratings, query).point == pytest.approx(np.mean(pairs))


def test_a_constant_and_an_empty_table_have_reasons() -> None:
    assert cohen_kappa(np.ones(4), np.ones(4), np.arange(4)).reason
    assert cohen_kappa([1.0, NA], [NA, 1.0], np.arange(2)).reason
    assert kappa_between_raters(np.ones((4, 1)), np.arange(4)).reason == "no two scorers"
    assert kappa_with_raters(np.ones(4), np.full((4, 2), NA), np.arange(4)).reason


@pytest.mark.parametrize(
    ("scale", "count"),
    [
        (Scale(1, 5, 1), 5),
        (Scale(0, 10, 1), 11),
        (Scale(0, 100, 5), 0),
        (Scale(0, 1, 0.1), 11),
        (Scale(0, 100), 0),
        (Scale(0, 1, 0.3), 0),
        (None, 0),
    ],
)
def test_levels_are_the_points_of_a_coarse_grid(scale: Scale | None, count: int) -> None:
    assert len(levels_of(scale)) == count


def test_values_off_the_grid_are_counted_but_not_for_float_noise() -> None:
    levels = levels_of(Scale(0, 1, 0.1))
    assert off_levels([0.1 + 0.2, 0.7, NA], levels) == 0
    assert off_levels([0.35, 0.7], levels) == 1


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="weights"):
        cohen_kappa([1, 2], [1, 2], [0, 1], "cubic")
