import json
from pathlib import Path
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.core.resampling import QueryResampling
from analysis.statistics.reliability.alpha import (
    Level,
    alpha_of_weights,
    alpha_undefined_reason,
    krippendorff_alpha,
)
from tests.analysis.ragged import ratings, repeated, tables
from tests.conftest import examples

LEVELS: tuple[Level, ...] = get_args(Level)
NA = float("nan")

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C: 4 observers, 12 units.
EXAMPLE_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, 3],
        [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NA],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
    ]
).T


@pytest.mark.parametrize(
    ("level", "published", "digits"),
    [
        ("nominal", 0.743, 0.743421),
        ("ordinal", 0.815, 0.815388),
        ("interval", 0.849, 0.849107),
        ("ratio", 0.797, 0.797403),
    ],
)
def test_krippendorffs_example_c(level: Level, published: float, digits: float) -> None:
    assert krippendorff_alpha(EXAMPLE_C, level) == pytest.approx(digits, abs=5e-7)
    assert round(krippendorff_alpha(EXAMPLE_C, level), 3) == published


def test_krippendorffs_examples_a_and_b() -> None:
    a = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]).T
    # n = 20 values, 14 zeros and 6 ones; 4 unequal pairs: 1 - 19 * 4 / (14 * 6).
    assert krippendorff_alpha(a, "nominal") == pytest.approx(1 - 19 * 4 / 84)
    b = np.array([[0, 0, 1, 1, 3, 2, 2, 2, 4, 3, 3, 0], [1, 0, 1, 1, 1, 2, 2, 2, 4, 3, 3, 3]]).T
    assert krippendorff_alpha(b, "nominal") == pytest.approx(0.691964, abs=5e-7)


def test_alpha_of_krippendorffs_published_tables(shared_data: Path) -> None:
    classic = json.loads((shared_data / "classic" / "classic.json").read_text(encoding="utf-8"))
    names = [name for name in classic if name.startswith("krippendorff")]
    assert len(names) == 4
    for name in names:
        values = np.array(classic[name]["data"], dtype=float).T
        for level, expected in classic[name]["computed"].items():
            assert krippendorff_alpha(values, level) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("step", [5, None])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_equals_the_krippendorff_package(level: Level, step: float | None, missing: float) -> None:
    values = ratings(3, n=120, raters=5, missing=missing, step=step)
    expected = krippendorff.alpha(values.T, level_of_measurement=level)
    assert krippendorff_alpha(values, level) == pytest.approx(expected, abs=1e-9)


def test_interval_alpha_does_not_depend_on_the_origin() -> None:
    # Sixteenths, which stay exact on top of 1e9.
    values = ratings(5, step=None)
    values = np.round(16 * values / 100) / 16
    plain = krippendorff_alpha(values, "interval")
    assert krippendorff_alpha(1e9 + values, "interval") == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("step", [5, None])
def test_weights_equal_repeating_queries(level: Level, step: float | None) -> None:
    values = ratings(4, n=40, raters=3, step=step)
    query = np.arange(40) // 4
    statistic = alpha_of_weights(values, query, level)
    weights = np.concatenate([np.ones((1, 10)), QueryResampling(10, 5).bootstrap])
    for row, value in zip(weights, statistic(weights), strict=True):
        _, (written,) = repeated(row, query, values)
        assert value == pytest.approx(krippendorff_alpha(written, level), abs=1e-9)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values, query = ratings(5, n=80, step=None), np.arange(80) // 2
    weights = QueryResampling(40, 50).bootstrap
    for level in LEVELS:
        whole = alpha_of_weights(values, query, level)(weights)
        with monkeypatch.context() as patch:
            patch.setattr("analysis.core.query_statistic.BLOCK_NUMBERS", 500)
            patch.setattr("analysis.statistics.reliability.alpha.BLOCK_NUMBERS", 500)
            assert alpha_of_weights(values, query, level)(weights) == pytest.approx(whole)


@given(tables(), st.randoms(use_true_random=False), st.sampled_from(LEVELS))
def test_order_of_raters_and_items_does_not_matter(values, random, level) -> None:
    rows, columns = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = krippendorff_alpha(values[rows][:, columns], level)
    assert shuffled == pytest.approx(krippendorff_alpha(values, level), nan_ok=True)


@given(tables(), st.permutations(range(6)))
def test_nominal_alpha_survives_relabelling(values: np.ndarray, names: list[int]) -> None:
    relabelled = values.copy()
    present = np.isfinite(values)
    relabelled[present] = np.array(names, dtype=float)[values[present].astype(int)]
    expected = krippendorff_alpha(values, "nominal")
    assert krippendorff_alpha(relabelled, "nominal") == pytest.approx(expected, nan_ok=True)


@given(tables())
def test_ordinal_alpha_survives_any_growing_scale(values: np.ndarray) -> None:
    expected = krippendorff_alpha(values, "ordinal")
    assert krippendorff_alpha(np.exp(values), "ordinal") == pytest.approx(expected, nan_ok=True)


@given(tables(), st.sampled_from(LEVELS))
def test_undefined_exactly_when_there_is_a_reason(values: np.ndarray, level: Level) -> None:
    alpha = krippendorff_alpha(values, level)
    assert np.isnan(alpha) == (alpha_undefined_reason(values, level) is not None)
    assert np.isnan(alpha) or alpha <= 1


@given(tables(max_raters=1), st.integers(2, 4), st.sampled_from(LEVELS))
@settings(max_examples=examples(50))
def test_perfect_agreement_is_one(column: np.ndarray, raters: int, level: Level) -> None:
    values = np.repeat(column, raters, axis=1)
    if alpha_undefined_reason(values, level) is None:
        assert krippendorff_alpha(values, level) == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.full((4, 3), 7.0), "all pairable ratings are 7"),
        (np.full((4, 3), 0.1), "all pairable ratings are 0.1"),
        (np.full((4, 3), NA), "no response has two ratings"),
        (np.arange(4.0)[:, None], "no response has two ratings"),
        (np.array([[1, NA], [NA, 2]]), "no response has two ratings"),
        (np.empty((0, 3)), "no response has two ratings"),
    ],
)
def test_alpha_of_degenerate_tables_has_a_reason(
    level: Level, values: np.ndarray, reason: str
) -> None:
    assert np.isnan(krippendorff_alpha(values, level))
    statistic = alpha_of_weights(values, np.zeros(len(values), dtype=int), level)
    assert statistic.reason is not None
    assert reason in statistic.reason


def test_two_items_have_a_value() -> None:
    # 4 values, 0 0 1 1, no disagreement within items.
    assert krippendorff_alpha([[0, 0], [1, 1]], "interval") == 1
    # Every item 0 and 1: observed 1, expected 4 / 6: 1 - 3 * 2 / 4.
    assert krippendorff_alpha([[0, 1], [0, 1]], "nominal") == pytest.approx(-0.5)


def test_resample_without_variation_is_undefined() -> None:
    values = np.array([[1, 1], [1, 1], [2, 3]], dtype=float)
    for level in LEVELS:
        statistic = alpha_of_weights(values, np.arange(3), level)
        alphas = statistic(np.array([[1, 1, 1], [2, 1, 0]]))
        assert np.isfinite(alphas[0])
        assert np.isnan(alphas[1])


def test_resample_of_one_value_is_undefined_whatever_its_digits() -> None:
    # Sums of squares of equal values differ from 0 by rounding alone, which is no variation.
    others = [[50, 51, 52], [55, 53, 90], [60, 61, 62], [50, 53, 49]]
    for value in np.arange(1, 500) / 10:
        values = np.vstack([np.full((2, 3), value), others])
        statistic = alpha_of_weights(values, np.arange(6), "interval")
        weights = np.zeros((4, 6))
        weights[:, :2] = [[3, 1], [2, 2], [4, 0], [1, 2]]
        assert np.isnan(statistic(weights)).all(), value
        assert np.isfinite(statistic.point)


@pytest.mark.parametrize("level", LEVELS)
def test_values_that_differ_by_float_noise_are_equal(level: Level) -> None:
    values = np.array([[0.1 + 0.2, 0.3], [0.7, 0.1 * 7], [0.5, 0.4], [0.3, 0.1 + 0.2]])
    assert (values[:2, 0] != values[:2, 1]).all()
    statistic = alpha_of_weights(values, np.arange(4), level)
    assert statistic.point == pytest.approx(krippendorff_alpha(np.round(values, 6), level))
    # Without the third item all agree.
    assert statistic(np.array([[1, 1, 0, 1]])).tolist() == [1.0]


@pytest.mark.parametrize("level", LEVELS)
def test_noise_has_the_size_of_the_values(level: Level) -> None:
    # Around 1e9 a difference below 0.001 is in the thirteenth digit.
    values = 1e9 + np.array([[0, 0.0005], [1, 1.0005], [2, 2], [3.0005, 3]])
    assert krippendorff_alpha(values, level) == 1


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="level 'linear': expected one of nominal"):
        krippendorff_alpha([[1, 2]], "linear")
    with pytest.raises(ValueError, match="expected \\(items, raters\\)"):
        alpha_undefined_reason([1, 2], "nominal")
    assert "at least 0" in str(alpha_undefined_reason([[-1, 2], [0, 1]], "ratio"))


def test_counts_for_the_report() -> None:
    statistic = alpha_of_weights(EXAMPLE_C, np.arange(12) // 2, "interval", n_queries=8)
    # Unit 12 has one rating.
    assert (statistic.n_responses, statistic.n_dropped) == (11, 1)
    assert statistic.n_queries == 6
