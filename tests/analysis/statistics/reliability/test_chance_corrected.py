import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.statistics.reliability.alpha import krippendorff_alpha
from analysis.statistics.reliability.chance_corrected import (
    ONE_CATEGORY,
    Coefficient,
    Weighting,
    agreement_standard_error,
    chance_corrected,
    weighted_kappa,
)
from tests.analysis.ragged import ratings, repeated, tables
from tests.conftest import examples

NA = float("nan")
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

# Gwet's raw4raters: Krippendorff's example C, with unit 12 rated by the third rater alone.
RAW = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NA, NA, NA],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NA, NA],
        [NA, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NA],
    ]
).T


def written_out(counts: list[list[int]]) -> np.ndarray:
    """Return the ratings (n, 2) behind a table of two raters."""
    cells = np.array(counts)
    rows, columns = np.nonzero(cells)
    return np.repeat(np.column_stack([rows, columns]).astype(float), cells[rows, columns], axis=0)


THREE = written_out([[13, 0, 0], [0, 20, 7], [0, 4, 56]])


def value(
    coefficient: Coefficient, values: np.ndarray, weighting: Weighting = "unweighted"
) -> float:
    return chance_corrected(coefficient, values, np.arange(len(values)), weighting).point


@pytest.mark.parametrize(
    ("coefficient", "weighting", "expected"),
    [
        ("gwet", "unweighted", 0.775444),
        ("fleiss", "unweighted", 0.761169),
        ("conger", "unweighted", 0.762817),
        ("brennan_prediger", "unweighted", 0.772727),
        ("gwet", "quadratic", 0.914001),
    ],
)
def test_gwets_raw4raters(coefficient: Coefficient, weighting: Weighting, expected: float) -> None:
    assert value(coefficient, RAW, weighting) == pytest.approx(expected, abs=5e-7)


def test_four_categories_three_raters_and_missing_cells() -> None:
    """Expected values: irrCAC 0.4.4 (Python), `CAC(frame, categories=[1, 2, 3, 4], digits=7)`."""
    rows = "111 121 22. 333 4.4 232 .11 444 33. 1.. 222 434 3.1 112 .44 223 333 ..2 441 111"
    values = np.array([[float(c) if c != "." else NA for c in row] for row in rows.split()])
    assert value("fleiss", values) == pytest.approx(0.6270744, abs=5e-8)
    assert value("gwet", values) == pytest.approx(0.6304736, abs=1e-7)
    assert value("conger", values) == pytest.approx(0.6292376, abs=1e-7)
    assert value("brennan_prediger", values) == pytest.approx(0.6296296, abs=5e-8)
    assert krippendorff_alpha(values, "nominal") == pytest.approx(0.6178862, abs=5e-8)
    # Names of categories are no numbers.
    named = np.choose(np.nan_to_num(values, nan=0).astype(int), [NA, 7.0, 2.0, 9.0, 1.0])
    assert krippendorff_alpha(named, "nominal") == pytest.approx(0.6178862, abs=5e-8)
    for coefficient in COEFFICIENTS:
        assert value(coefficient, named) == pytest.approx(value(coefficient, values))


def test_a_table_of_three_categories() -> None:
    assert value("conger", THREE) == pytest.approx(0.796409, abs=5e-7)
    assert value("conger", THREE, "quadratic") == pytest.approx(0.892157, abs=5e-7)
    assert value("gwet", THREE) == pytest.approx(0.849331, abs=5e-7)


def test_fleiss_kappa_of_published_tables(shared_data: Path) -> None:
    text = (shared_data / "classic" / "classic.json").read_text(encoding="utf-8")
    classic = json.loads(text)
    for name in ("fleiss_1971", "fleiss_wikipedia"):
        counts = np.array(classic[name]["data"])
        values = np.array([np.repeat(np.arange(counts.shape[1]), row) for row in counts], float)
        assert value("fleiss", values) == pytest.approx(
            classic[name]["computed"]["kappa"], abs=5e-7
        )
    cohen = written_out(classic["cohen_2x2"]["data"])
    assert value("conger", cohen) == pytest.approx(0.4)


def customary_error(values: np.ndarray) -> float:
    """Gwet (2014), equation 5.33: responses rated once agree by 0 with nobody."""
    levels = np.unique(values[np.isfinite(values)])
    counts = (values[:, :, None] == levels).sum(axis=1)
    m, q, n = counts.sum(axis=1), levels.size, len(values)
    twice = m >= 2
    observed = (counts * (counts - 1)).sum(axis=1) / np.where(twice, m * (m - 1), 1)
    shares = counts / m[:, None]
    pi = shares.mean(axis=0)
    pe = np.sum(pi * (1 - pi)) / (q - 1)
    gamma = (observed[twice].mean() - pe) / (1 - pe)
    each = n / twice.sum() * (observed - pe * twice) / (1 - pe)
    each -= 2 * (1 - gamma) * ((shares * (1 - pi)).sum(axis=1) / (q - 1) - pe) / (1 - pe)
    return float(np.sqrt(np.sum((each - gamma) ** 2) / (n * (n - 1))))


def test_the_standard_error_is_gwets_on_complete_tables() -> None:
    assert customary_error(RAW) == pytest.approx(0.142950, abs=5e-7)
    assert agreement_standard_error(THREE) == pytest.approx(customary_error(THREE), rel=1e-9)


def test_responses_rated_once_do_not_inflate_the_standard_error() -> None:
    rng = np.random.default_rng(0)
    both = np.repeat(rng.integers(1, 5, (2400, 1)).astype(float), 2, axis=1)
    both[:20, 1] = 5
    both[400:, 1] = NA
    ours = agreement_standard_error(both)
    n = len(both)
    left = np.ones((n, n)) - np.eye(n)
    out = chance_corrected("gwet", both, np.arange(n))(left)
    jackknife = np.sqrt((n - 1) / n * np.sum((out - out.mean()) ** 2))
    assert ours == pytest.approx(jackknife, rel=0.02)
    assert customary_error(both) > 2 * ours


@settings(max_examples=examples(40))
@given(tables(), st.randoms(use_true_random=False))
def test_order_names_and_levels_make_no_difference(values: np.ndarray, random: object) -> None:
    order = np.random.default_rng(int(random.random() * 1e9))
    moved = values[order.permutation(len(values))][:, order.permutation(values.shape[1])]
    for coefficient in COEFFICIENTS:
        for weighting in WEIGHTINGS:
            result = value(coefficient, values, weighting)
            shifted = value(coefficient, 3 + 2 * moved, weighting)
            assert shifted == pytest.approx(result, nan_ok=True, abs=1e-9)
            assert not result > 1


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_weight_is_a_repetition(coefficient: Coefficient) -> None:
    values = ratings(8, n=30, step=25)
    query = np.arange(30) // 3
    weights = np.array([2, 0, 1, 1, 3, 0, 1, 1, 1, 1])
    statistic = chance_corrected(coefficient, values, query, "unweighted", range(0, 101, 25))
    codes, (again,) = repeated(weights, query, values)
    expected = chance_corrected(coefficient, again, codes, "unweighted", range(0, 101, 25)).point
    assert statistic(weights[None, :])[0] == pytest.approx(expected)
    kappa = weighted_kappa(values, query)
    assert kappa(weights[None, :])[0] == pytest.approx(weighted_kappa(again, codes).point)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_quadratic_kappa_is_congers_with_quadratic_weights(missing: float) -> None:
    values = ratings(6, missing=missing)
    kappa = weighted_kappa(values, np.arange(len(values))).point
    assert kappa == pytest.approx(value("conger", values, "quadratic"))


def test_linear_kappa_of_two_raters_is_cohens() -> None:
    values = np.round(ratings(7, missing=0.0)[:, :2])
    first, second = values.T
    by_chance = np.abs(first[:, None] - second[None, :]).mean()
    expected = 1 - np.abs(first - second).mean() / by_chance
    assert value("conger", values, "linear") == pytest.approx(expected)


def test_undefined_coefficients_say_why() -> None:
    alone = np.array([[1, NA], [NA, 2.0]])
    same = np.full((4, 2), 3.0)
    for coefficient in COEFFICIENTS:
        assert "two ratings" in str(chance_corrected(coefficient, alone, [0, 1]).reason)
        assert chance_corrected(coefficient, same, range(4)).reason == ONE_CATEGORY
        none = chance_corrected(coefficient, np.full((3, 2), NA), range(3))
        assert np.isnan(none.point)
    assert "fully" in str(chance_corrected("fleiss", same, range(4), levels=[1, 2, 3]).reason)
    # Gwet's chance agreement is 0 where all choose one of several categories.
    assert chance_corrected("gwet", same, range(4), levels=[1, 2, 3]).point == 1
    assert "kappa is undefined" in str(weighted_kappa(same, range(4)).reason)
    assert np.isnan(agreement_standard_error(same))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="coefficient 'kappa'"):
        chance_corrected("kappa", RAW, np.arange(12))
    with pytest.raises(ValueError, match="not one of the 3 levels"):
        chance_corrected("gwet", RAW, np.arange(12), levels=[1, 2, 3])
