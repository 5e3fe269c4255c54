"""Kappa of people on any number of points, against scikit-learn and `chance_corrected`."""

from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from analysis.statistics.reliability.chance_corrected import (
    ONE_CATEGORY,
    chance_corrected,
    weighted_kappa,
)
from analysis.statistics.reliability.conger_kappa import KappaWeights, conger_kappa
from tests.analysis.ragged import ratings, repeated

WEIGHTS: tuple[KappaWeights, ...] = get_args(KappaWeights)


@pytest.mark.parametrize("step", [20, 5, 1])
def test_two_raters_on_0_to_100_equal_scikit_learn(step: int) -> None:
    """6, 21 and 101 points; scikit-learn takes the points as numbers of places on the scale."""
    rng = np.random.default_rng(step)
    first = np.clip(np.round(rng.normal(55, 20, 150) / step), 0, 100 / step)
    second = np.clip(np.round(first + rng.normal(0, 10, 150) / step), 0, 100 / step)
    table, query = step * np.column_stack([first, second]), np.arange(150)
    places = {"labels": list(range(100 // step + 1))}
    for weights in WEIGHTS:
        theirs = "linear" if weights == "linear" else None
        expected = cohen_kappa_score(first, second, weights=theirs, **places)
        assert conger_kappa(table, query, weights).point == pytest.approx(expected, abs=1e-12)
    expected = cohen_kappa_score(first, second, weights="quadratic", **places)
    assert weighted_kappa(table, query).point == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_several_raters_and_missing_cells_equal_chance_corrected(weights: KappaWeights) -> None:
    values, query = ratings(4, n=40, missing=0.4), np.arange(40) // 2
    resamples = np.random.default_rng(1).multinomial(20, np.full(20, 1 / 20), 50)
    ours = conger_kappa(values, query, weights)
    expected = chance_corrected("conger", values, query, weights)
    assert ours(resamples) == pytest.approx(expected(resamples), nan_ok=True, abs=1e-9)
    assert ours.counts == expected.counts


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_weight_is_a_repetition(weights: KappaWeights) -> None:
    values, query = ratings(8, n=30, step=5), np.arange(30) // 3
    counts = np.array([2, 0, 1, 1, 3, 0, 1, 1, 1, 1])
    codes, (again,) = repeated(counts, query, values)
    ours = conger_kappa(values, query, weights)(counts[None, :])[0]
    assert ours == pytest.approx(conger_kappa(again, codes, weights).point)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_undefined_kappas_say_why(weights: KappaWeights) -> None:
    nothing = float("nan")
    alone = np.array([[1, nothing], [nothing, 2.0]])
    assert "two ratings" in str(conger_kappa(alone, [0, 1], weights).reason)
    assert conger_kappa(np.full((4, 2), 3.0), range(4), weights).reason == ONE_CATEGORY
    assert np.isnan(conger_kappa(np.full((3, 2), nothing), range(3), weights).point)
    # Without the last query everyone chose one category.
    table = np.array([[1, 1], [1, 1], [1, 2.0]])
    without = conger_kappa(table, range(3), weights)(np.array([[1, 1, 0]]))
    assert np.isnan(without).all()
