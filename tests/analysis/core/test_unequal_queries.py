"""A query with a large part of the responses."""

import numpy as np
import pytest

from analysis import Options
from analysis.core.resampling import QueryResampling
from analysis.core.unequal_queries import QueryWeights, UnequalQueries, dominating
from analysis.pipeline.estimation import headline
from analysis.statistics.agreement.association import association
from tests.analysis.scores import simulated, table

ALL = np.ones(20, dtype=bool)


def test_a_query_with_a_fifth_of_the_weight_dominates() -> None:
    assert dominating(np.r_[60.0, np.full(19, 2.0)]) == 0
    # 9 of 47 are less than a fifth.
    assert dominating(np.r_[9.0, np.full(19, 2.0)]) is None
    # Of four queries each has a quarter, of three a third.
    assert dominating(np.ones(4)) is None
    assert dominating(np.array([5.0, 4.0, 4.0])) is None
    assert dominating(np.zeros(3)) is None


def test_equal_weights_give_the_jackknife() -> None:
    rng = np.random.default_rng(1)
    means = rng.normal(size=20)
    without = (means.sum() - means) / 19
    weights = QueryWeights(np.ones(20))
    assert weights.of(ALL) is None
    error, _ = UnequalQueries(np.full(20, 0.05), ALL, weights).error(means.mean(), without)
    assert error == pytest.approx(means.std(ddof=1) / np.sqrt(20))


def test_pseudo_values_are_the_means_of_the_queries() -> None:
    means, counts = np.arange(20.0), np.r_[60.0, np.full(19, 2.0)]
    total = float(counts @ means)
    without = (total - counts * means) / (counts.sum() - counts)
    unequal = QueryWeights(counts).of(ALL)
    assert unequal is not None
    error, _ = unequal.error(total / counts.sum(), without)
    # 35 is the variance of 0 to 19; the squared shares sum to (60^2 + 19 * 2^2) / 98^2.
    assert error == pytest.approx(np.sqrt(35 * 3676 / 9604))


def test_the_bias_is_not_surer_than_what_queries_differ_by() -> None:
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(20), np.r_[60, np.full(19, 2)])
    between = 8 * rng.normal(size=20)
    # By chance the first query is where the others are.
    between[0] = between[1:].mean()
    judge = between[query] + rng.normal(size=98)
    interval = QueryResampling(20).interval(association("bias", judge, np.zeros(98), query))
    # By the jackknife the interval was a third as wide.
    assert interval.high - interval.low > 2 * 2 * 3


def test_no_interval_where_nearly_all_is_of_one_query() -> None:
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(20), np.r_[60, np.full(19, 2)])
    x = rng.normal(size=98)
    y = x + rng.normal(size=98)
    order = association("kendall_tau_b", x, y, query, "within_query")
    interval = QueryResampling(20).interval(order, "fisher_z")
    # 60 * 59 / 2 of 1,789 pairs.
    assert (interval.reason or "").startswith("one of 20 queries has 99% of the weight")


def test_the_report_names_the_query() -> None:
    frame = simulated(queries=12)
    options = Options(resamples=100)
    assert not any(
        "rated responses (" in w for w in headline(table(frame), options=options).warnings
    )
    names = list(dict.fromkeys(frame["query_id"]))
    frame["query_id"] = frame["query_id"].replace(dict.fromkeys(names[:6], names[0]))
    warnings = headline(table(frame), options=options).warnings
    assert any(f"query {names[0]!r} has" in w for w in warnings)
