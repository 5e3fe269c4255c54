"""Two judges that are equally good are called different in no more than 5% of studies."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.core.arrays import FloatArray
from analysis.statistics.agreement.judge_comparison import (
    Categories,
    Compared,
    Measure,
    MeasureScope,
)
from analysis.statistics.agreement.soft_difference import soft_difference

pytestmark = pytest.mark.slow

STUDIES, QUERIES, SYSTEMS = 200, 25, 4

#: More false claims of 200 occur once in 1,000 where their rate is .05.
MOST = 20


def study(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points from 1 to 5 of two judges (queries, systems) and of people.

    The judges' errors have a part in common and parts of their own of one size.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.7, (QUERIES, 1)) + rng.normal(0, 0.8, (QUERIES, SYSTEMS))
    shared = rng.normal(0, 0.4, (QUERIES, SYSTEMS))
    people, first, second = (
        np.clip(np.round(3.4 + truth + error), 1, 5)
        for error in (
            rng.normal(0, 0.5, truth.shape),
            shared + rng.normal(0, 0.6, truth.shape),
            shared + rng.normal(0, 0.6, truth.shape),
        )
    )
    return first, second, people


def compared(seed: int) -> Compared:
    first, second, people = (values.ravel() for values in study(seed))
    categories = Categories(people[:, None], (1, 2, 3, 4, 5), "quadratic")
    query = np.repeat(np.arange(QUERIES), SYSTEMS)
    return Compared.of(first, second, people, query, QUERIES, ("A", "B"), categories)


@pytest.mark.parametrize(
    ("measure", "scope"),
    [
        ("kendall_tau_b", "within_query"),
        ("pairwise_accuracy", "within_query"),
        ("calibrated_pairwise_accuracy", "within_query"),
        ("pearson", "within_query"),
        ("pearson", "pooled"),
        ("rmse", "pooled"),
        ("cohen_kappa", "pooled"),
    ],
)
def test_differences_of_exchangeable_judges(measure: Measure, scope: MeasureScope) -> None:
    p = np.array([compared(seed).p(measure, scope, seed) for seed in range(STUDIES)])
    assert np.isfinite(p).all()
    assert (p <= 0.05).sum() <= MOST
    assert 0.4 < p.mean() < 0.65


def test_soft_accuracies_of_exchangeable_judges() -> None:
    p = np.array([soft_difference(*study(seed), seed).p for seed in range(STUDIES // 2)])
    assert (p <= 0.05).sum() <= 12  # of 100, more once in 1,000


def test_calibrated_accuracies_of_exchangeable_judges_on_two_scales() -> None:
    calls = 0
    for seed in range(STUDIES):
        of = compared(seed)
        other = Compared(of.first, 20 * of.second - 7, of.people, of.query, QUERIES, of.names)
        calls += other.p("calibrated_pairwise_accuracy", "within_query", seed) <= 0.05
    assert calls <= MOST
