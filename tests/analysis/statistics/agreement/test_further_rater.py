import csv

import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling
from tests.coverage.further_rater import TABLE, decided, study


def test_a_judge_from_the_raters_population_is_seldom_better_or_worse() -> None:
    these, like_these = decided("kendall_tau_b", queries=30, raters=5, spread=0.6, studies=100)
    assert these > 0.25
    assert like_these <= 0.08


def test_the_committed_simulation_keeps_to_5_percent_from_5_raters_on() -> None:
    with TABLE.open(encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    assert {int(cell["raters"]) for cell in cells} == {3, 5, 8}
    for cell in cells:
        error = np.sqrt(0.05 * 0.95 / int(cell["studies"]))
        assert float(cell["raters_like_these"]) <= 0.05 + 2.5 * error, cell
    of_varied = [float(c["these_raters"]) for c in cells if float(c["spread"]) > 0]
    assert max(of_varied) > 0.5


@pytest.mark.parametrize("measure", ["kendall_tau_b", "pearson"])
def test_raters_of_equal_quality_widen_it_little(measure: str) -> None:
    values, judge, query = study(np.random.default_rng(3), 100, 8, 0.0)
    ceiling = human_ceiling(values, judge, query, "within_query", measure)
    assert ceiling.difference is not None
    resampling = QueryResampling(100)
    these = resampling.interval(ceiling.difference)
    further = beside_a_further_rater(ceiling, resampling)
    assert further.low + further.high == pytest.approx(these.low + these.high)
    assert 1 <= (further.high - further.low) / (these.high - these.low) < 1.8


def test_the_variance_of_raters_is_that_of_their_own_differences() -> None:
    # The second half of the raters knows nothing, so that d differs by rater and not by query.
    rng = np.random.default_rng(1)
    quality = rng.normal(size=800)
    known = quality[:, None] + 0.1 * rng.normal(size=(800, 3))
    values = np.hstack([known, rng.normal(size=(800, 3))])
    query = np.arange(800) // 4
    ceiling = human_ceiling(values, quality, query, "within_query", "pearson")
    further = beside_a_further_rater(ceiling, QueryResampling(200))
    points = np.array([judge - rater for rater, judge in ceiling.by_rater.values()])
    half = 2.571 * np.sqrt(7 / 6 * points.var(ddof=1))  # t of 5 degrees of freedom
    assert (further.high - further.low) / 2 == pytest.approx(half, rel=0.03)


def test_one_rater_is_no_sample_of_raters() -> None:
    values = np.array([[1.0], [2.0], [3.0], [5.0]])
    ceiling = human_ceiling(values, np.arange(4.0), np.arange(4) // 2)
    assert "no rater" in str(beside_a_further_rater(ceiling, QueryResampling(2)).reason)
