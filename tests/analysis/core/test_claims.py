"""Claims are corrected for all that they were chosen from."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.claims import claims, holm
from analysis.core.estimates import Estimate
from analysis.core.resampling import QueryResampling
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these


def test_holm_is_that_of_the_oracle() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert np.isnan(holm([np.nan])).all()
    assert holm([0.01, np.nan, 0.6])[::2] == pytest.approx([0.02, 0.6])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_lies_between_p_and_bonferroni(p: list[float]) -> None:
    adjusted = np.array(holm(p))
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1, np.array(p) * len(p)) + 1e-12).all()


def _with_p(p: float) -> Estimate:
    return Estimate("bias", ("QR",), ("judge",), value=1.0, p=p)


def test_the_verdict_has_half_of_the_error_and_the_sections_share_the_rest() -> None:
    first, second, third = (_with_p(p) for p in (0.012, 0.03, math.nan))
    of_section, of_other = _with_p(0.012), _with_p(0.02)
    made = claims(
        [first, second, third], {"people": [of_section], "missing": [], "systems": [of_other]}, 0.95
    )
    verdict = made.of("verdict")
    assert verdict is not None
    assert [family.key for family in made.families] == ["verdict", "people", "systems"]
    assert sum(family.alpha for family in made.families) == pytest.approx(0.05)
    # Adjusted: .024 is at most .025, .03 is not; a comparison without a p is not counted.
    assert [verdict.holds(e) for e in (first, second, third)] == [True, False, False]
    assert (verdict.comparisons, verdict.holding) == (2, 1)
    assert made.hold("people", of_section)
    assert not made.hold("systems", of_other)
    assert not made.hold("missing", of_section)
    assert [record["holds"] for record in made.records()] == [True, False, True, False]


def test_an_interval_of_the_level_of_its_p_ends_at_0() -> None:
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(30), 4)
    quality = rng.normal(60, 12, query.size)
    ratings = quality[:, None] + rng.normal(0, 8, (query.size, 5))
    judge = quality + 2 + rng.normal(0, 12, query.size)
    ceiling = human_ceiling(ratings, judge, query, "within_query", "pearson")
    assert ceiling.difference is not None
    resampling = QueryResampling(30)
    interval = resampling.interval(ceiling.difference)
    again = replace(resampling, level=1 - interval.p).interval(ceiling.difference)
    assert min(abs(again.low), abs(again.high)) == pytest.approx(0, abs=1e-9)
    interval = beside_a_further_rater(ceiling, resampling)
    again = beside_a_further_rater(ceiling, replace(resampling, level=1 - interval.p))
    assert min(abs(again.low), abs(again.high)) == pytest.approx(0, abs=1e-9)
    interval = bias_for_raters_like_these(judge, ratings, query).interval
    again = bias_for_raters_like_these(judge, ratings, query, 1 - interval.p).interval
    assert min(abs(again.low), abs(again.high)) == pytest.approx(0, abs=1e-9)


def test_the_p_of_a_single_statistic_is_that_of_its_simultaneous_interval() -> None:
    left_out = np.random.default_rng(2).normal(1, 0.02, 40)
    joint = simultaneous_intervals([1.0], left_out[:, None], "jackknife")
    assert joint.at(0).p < 0.05
    half = (joint.high[0] - joint.low[0]) / 2
    nearer = simultaneous_intervals([half], left_out[:, None], "jackknife")
    # The critical value is simulated.
    assert nearer.at(0).p == pytest.approx(0.05, abs=0.005)
