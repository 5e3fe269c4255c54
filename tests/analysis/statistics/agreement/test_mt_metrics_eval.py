"""Equality with mt-metrics-eval: accuracies with ties, permutations of two judges, Williams' test.

`mt_metrics_eval.json` has what the algorithms of its functions `PermutationSigDiff`,
`KendallVariants`, `KendallWithTiesOpt` (all pairs) and `WilliamsTest` give, transcribed from the
commit that the file names, on the date that it names. In place of random draws they received every
possible exchange of the two judges' scores, in the order of `itertools.product`, and for each the
file has corr(second) - corr(first). It exchanges single scores; here whole queries change places,
so that in the first case every response is a query, and in the others the exchanges are those of
whole items.

It averages tau-b and Pearson over items, where this project adds up pairs and centers by query: the
two agree on all responses together, and on accuracies where all items have equally many responses.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.core.pairs import read_pairs
from analysis.statistics.agreement.calibrated_accuracy import calibrated_accuracy
from analysis.statistics.agreement.dependent_correlations import williams
from analysis.statistics.agreement.judge_comparison import (
    Compared,
    Measure,
    MeasureScope,
    permutation_p,
    swaps,
)

COMPUTED = json.loads(Path(__file__).with_name("mt_metrics_eval.json").read_text())

MEASURES: dict[str, tuple[Measure, MeasureScope]] = {
    "pearson": ("pearson", "pooled"),
    "kendall-b": ("kendall_tau_b", "pooled"),
    "acc23": ("pairwise_accuracy", "within_query"),
    "acc23-opt": ("calibrated_pairwise_accuracy", "within_query"),
}
CASES = [
    pytest.param(case, name, id=f"{place}-{name}")
    for place, case in enumerate(COMPUTED["cases"])
    for name in case["deltas"]
]


def compared(case: dict[str, Any]) -> Compared:
    first, second, people = (np.array(case[key], float) for key in ("first", "second", "gold"))
    query = np.array(case["query"])
    return Compared.of(first, second, people, query, int(query.max()) + 1, ("A", "B"))


@pytest.mark.parametrize(("case", "name"), CASES)
def test_every_exchange_gives_its_difference(case: dict[str, Any], name: str) -> None:
    of, (measure, scope) = compared(case), MEASURES[name]
    every = np.array(list(product((0.0, 1.0), repeat=of.n_queries)))
    expected = -np.array(case["deltas"][name])
    assert of.difference(measure, scope).point == pytest.approx(expected[0], abs=1e-9)
    assert of.on_swaps(measure, scope, every) == pytest.approx(expected, abs=1e-9)
    # The p of its draws: every exchange is as likely; the other side is that of the reversed pair.
    exact = np.mean(np.abs(expected) >= abs(expected[0]) - 1e-9)
    drawn = permutation_p(of.on_swaps(measure, scope, swaps(of.n_queries, seed=1)))
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 999) + 1e-3)


@pytest.mark.parametrize(
    ("metric", "gold", "best"),
    [
        # The expected values of tests of mt-metrics-eval: KendallWithTiesOpt and tau_optimization.
        ([2, 1, 1.5, 5, 3], [1, 2, 2, 3, 4], 0.7),
        ([0, 2, 6, 8], [1, 2, 3, 4], 1.0),
        ([0, 2, 6, 8], [1, 1, 1, 4], 4 / 6),
    ],
)
def test_best_threshold(metric: list[float], gold: list[float], best: float) -> None:
    pairs, _ = read_pairs(metric, gold, np.zeros(len(gold), dtype=int), None, 1)
    assert calibrated_accuracy(pairs).point == pytest.approx(best)


def test_weights_are_copies_of_queries() -> None:
    rng = np.random.default_rng(0)
    metric, gold = rng.integers(0, 9, 60), rng.integers(0, 4, 60)
    query = np.repeat(np.arange(12), 5)
    pairs, _ = read_pairs(metric, gold, query, None, 12)
    weights = rng.integers(0, 3, 12)
    copies = np.concatenate([np.flatnonzero(query == q) for q in np.repeat(np.arange(12), weights)])
    places = np.repeat(np.arange(weights.sum()), 5)
    again, _ = read_pairs(metric[copies], gold[copies], places, None, int(weights.sum()))
    expected = calibrated_accuracy(again).point
    assert calibrated_accuracy(pairs)(weights[None])[0] == pytest.approx(expected)


def test_many_thresholds_are_tried_at_quantiles() -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 5, 2000).astype(float)
    metric = gold + rng.normal(0, 1, 2000)
    query = np.repeat(np.arange(400), 5)
    pairs, _ = read_pairs(metric, gold, query, None, 400)
    apart = np.abs(metric.reshape(-1, 5)[:, :, None] - metric.reshape(-1, 5)[:, None])
    order = gold.reshape(-1, 5)[:, :, None] - gold.reshape(-1, 5)[:, None]
    right = np.sign(metric.reshape(-1, 5)[:, :, None] - metric.reshape(-1, 5)[:, None])
    upper = np.triu_indices(5, 1)
    apart, order, right = (part[:, *upper].ravel() for part in (apart, order, right))
    by_threshold = [
        np.mean(np.where(apart <= t, order == 0, right == np.sign(order))) for t in [0, *apart]
    ]
    assert calibrated_accuracy(pairs).point == pytest.approx(max(by_threshold), abs=0.002)
    assert calibrated_accuracy(pairs).point <= max(by_threshold)


@pytest.mark.parametrize("case", COMPUTED["williams"], ids=lambda case: f"{case['r12']}")
def test_williams_equals_it(case: dict[str, float]) -> None:
    of = williams(case["r12"], case["r13"], case["r23"], int(case["n"]))
    assert of.p == pytest.approx(case["p"], rel=1e-9)


def test_williams_on_scores() -> None:
    people, first, second = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]
    columns = (np.array(values, float) for values in (first, second, people))
    alone = Compared.of(*columns, np.arange(5), 5, ("A", "B"))
    test = alone.williams()
    assert test is not None
    assert test.p / 2 == pytest.approx(0.019, abs=5e-4)  # one-sided in WilliamsSigDiffTest


@pytest.mark.parametrize(
    ("first", "second", "between", "n", "t", "decimals"),
    [
        (0.5, 0.3, 0.4, 100, 2.06, 2),  # the example of paired.r in the R package psych
        # Printed by the R package cocor 1.1, from correlations of four digits.
        (-0.1741, 0.2015, 0.3734, 646, -9.0340, 2),
        (0.8066, 0.2383, 0.2255, 177, 9.3823, 2),
    ],
)
def test_williams_as_printed(
    first: float, second: float, between: float, n: int, t: float, decimals: int
) -> None:
    of = williams(first, second, between, n)
    assert of.t == pytest.approx(t, abs=10**-decimals)
    assert of.df == n - 3
    assert of.p == pytest.approx(2 * stats.t.sf(abs(t), n - 3), rel=0.05)


def test_where_williams_test_is_not_made() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 40))
    shared = Compared.of(*values, np.repeat(np.arange(20), 2), 20, ("A", "B"))
    assert shared.williams() is None  # responses to one query are not independent
    alone = Compared.of(*values, np.arange(40), 40, ("A", "B"))
    assert alone.williams() is not None
    constant = Compared.of(values[0], values[1] * 0, values[2], np.arange(40), 40, ("A", "B"))
    assert constant.williams() is None
    assert np.isnan(williams(0.5, 0.5, 1.0, 40).p)  # one judge twice
    assert np.isnan(williams(0.5, 0.4, 0.2, 3).p)
    with pytest.raises(ValueError, match="expected -1 to 1"):
        williams(1.5, 0, 0, 40)
