"""The interval of ARES (Saad-Falcon et al. 2023, arXiv 2311.09476) as a check of ours."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.arrays import FloatArray
from analysis.statistics.correction.prediction_powered import corrected
from analysis.statistics.correction.query_sums import query_sums


def ares(labels: FloatArray, judged: FloatArray, unlabeled: FloatArray) -> tuple[float, float]:
    """Share of yes and half width: mean(f') - mean(f - y), and with population variances
    z sqrt(var(f') / N + var(f - y) / n)."""
    error = judged - labels
    spread = unlabeled.var() / unlabeled.size + error.var() / error.size
    return unlabeled.mean() - error.mean(), NormalDist().inv_cdf(0.975) * math.sqrt(spread)


verdicts = st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=60)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0])] * 2), min_size=2, max_size=40), verdicts)
def test_with_weight_1_and_a_separate_sample_ours_is_that_of_ares(
    both: list[tuple[float, float]], more: list[float]
) -> None:
    labels, judged = np.array(both).T
    unlabeled = np.array(more)
    value, half_width = ares(labels, judged, unlabeled)
    y = np.concatenate([labels, np.full(unlabeled.size, np.nan)])
    f = np.concatenate([judged, unlabeled])
    sums = query_sums(y, f, np.arange(y.size), pool=np.isnan(y))
    ours = corrected(sums, lam=1.0)
    assert ours.value == pytest.approx(value, abs=1e-12)
    spread = NormalDist().inv_cdf(0.975) * math.sqrt(ours.label_error + ours.pool_error)
    assert spread == pytest.approx(half_width, abs=1e-12)


def test_the_interval_of_a_report_is_wider_at_few_labels() -> None:
    # Right on 13 of 15 labels, once wrong on each side; 285 more responses.
    labels = np.array([1.0] * 9 + [0.0] * 6)
    judged = labels.copy()
    judged[[0, 14]] = [0.0, 1.0]
    unlabeled = np.array([1.0] * 180 + [0.0] * 105)
    _, half_width = ares(labels, judged, unlabeled)
    y = np.concatenate([labels, np.full(285, np.nan)])
    f = np.concatenate([judged, unlabeled])
    interval = corrected(query_sums(y, f, np.arange(300))).interval
    assert interval.high - interval.low > 2 * half_width
