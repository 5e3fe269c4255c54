"""Rates on the 2 by 2 table: scikit-learn's values, ties, and the interval of clustered shares."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from sklearn import metrics

from analysis.core.resampling import QueryResampling
from analysis.statistics.binary.clustered_share import clustered_share
from analysis.statistics.binary.confusion_cells import TIED, confusion_cells, majority
from analysis.statistics.binary.rates import RATES, balanced_accuracy, kappa, mcc, rate

VERDICTS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60)


@given(VERDICTS)
@example([(True, True)] * 4)
@example([(False, False)] * 4)
@example([(True, False)] * 4)
@example([(False, True)] * 4)
@example([(True, True), (True, False), (True, True), (True, False)])
@example([(False, True), (False, False), (False, True), (False, False)])
@example([(True, True), (False, True), (True, True), (False, True)])
@example([(True, False), (False, False), (True, False), (False, False)])
def test_values_are_those_of_scikit_learn(pairs: list[tuple[bool, bool]]) -> None:
    people, judge = np.array(pairs, dtype=float).T
    cells = confusion_cells(judge, people, np.arange(people.size))
    undefined = {"zero_division": np.nan}
    theirs = {
        "true_positive_rate": metrics.recall_score(people, judge, **undefined),
        "true_negative_rate": metrics.recall_score(people, judge, pos_label=0, **undefined),
        "precision": metrics.precision_score(people, judge, **undefined),
        "f1": metrics.f1_score(people, judge, **undefined),
        "accuracy": metrics.accuracy_score(people, judge),
    }
    assert {name: rate(cells, name).value for name in RATES} == pytest.approx(theirs, nan_ok=True)
    # Of one class alone scikit-learn averages over that class; the mean of both rates has no value.
    both = len(set(people)) == 2
    balanced = metrics.balanced_accuracy_score(people, judge) if both else np.nan
    assert balanced_accuracy(cells).value == pytest.approx(balanced, nan_ok=True)
    # An undefined MCC is 0 in scikit-learn, here NaN with its reason.
    varied = both and len(set(judge)) == 2
    correlation = metrics.matthews_corrcoef(people, judge) if varied else np.nan
    assert mcc(cells).point == pytest.approx(correlation, abs=1e-12, nan_ok=True)
    constant = len({*people, *judge}) == 1
    theirs_kappa = np.nan if constant else metrics.cohen_kappa_score(people, judge)
    assert kappa(cells).point == pytest.approx(theirs_kappa, abs=1e-12, nan_ok=True)


def test_a_tie_counts_half_on_each_side() -> None:
    ratings = np.array([[1, 0, np.nan], [1, 1, 0], [0, np.nan, np.nan], [np.nan] * 3])
    people = majority(ratings)
    assert people[:3].tolist() == [TIED, 1, 0]
    assert np.isnan(people[3])
    judge = np.array([1.0, 1, 1, 1])
    cells = confusion_cells(judge, people, np.arange(4))
    assert (cells.n_responses, cells.n_ties, cells.n_dropped) == (3, 1, 0)
    weighted = metrics.confusion_matrix(
        [1, 0, 1, 0], [1, 1, 1, 1], sample_weight=[0.5, 0.5, 1, 1], labels=[1, 0]
    )
    assert cells.total.tolist() == weighted.ravel().tolist()


def test_an_empty_class_has_its_reason() -> None:
    cells = confusion_cells([1.0, 0.0], [1.0, 1.0], [0, 1])
    undefined = rate(cells, "true_negative_rate")
    assert np.isnan(undefined.value)
    assert undefined.reason == "people fail none of the responses"
    assert np.isnan(balanced_accuracy(cells).value)
    assert np.isnan(mcc(cells).point)


def test_one_response_a_query_is_close_to_the_wilson_interval() -> None:
    # Wilson's interval of 150 of 300: .444 to .556.
    interval = clustered_share(np.tile([0.0, 1.0], 150), np.ones(300))
    assert (interval.low, interval.high) == pytest.approx((0.4437, 0.5563), abs=0.003)


def test_next_to_the_end_it_is_that_of_clopper_and_pearson() -> None:
    # 299 of 300: .98157 to .99992.
    interval = clustered_share(np.r_[np.ones(299), 0.0], np.ones(300))
    assert interval.high == pytest.approx(0.99992, abs=0.00002)


def test_alike_responses_of_a_query_widen_the_interval() -> None:
    hits = np.r_[np.ones(27), np.zeros(3)]
    single, tripled = clustered_share(hits, np.ones(30)), clustered_share(3 * hits, 3 * np.ones(30))
    assert (tripled.low, tripled.high) == pytest.approx((single.low, single.high))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_at_the_end_has_an_interval(share: float) -> None:
    interval = clustered_share(np.full(20, share), np.ones(20))
    assert interval.reason is None
    assert 0 < interval.high - interval.low < 0.25
    resampled = QueryResampling(20).interval(lambda w: w @ np.full(20, share) / w.sum(axis=1))
    assert np.isnan(resampled.low)


def test_one_query_has_no_interval() -> None:
    assert clustered_share(np.array([3.0, 0]), np.array([4.0, 0])).reason


def test_values_are_those_of_judgekeeper() -> None:
    theirs = json.loads(Path(__file__).with_name("judgekeeper.json").read_text(encoding="utf-8"))
    cells = confusion_cells(theirs["judge"], theirs["people"], np.arange(len(theirs["judge"])))
    assert cells.total.tolist() == [theirs["confusion"][name] for name in ("tp", "fn", "fp", "tn")]
    assert rate(cells, "true_positive_rate").value == pytest.approx(theirs["tpr"])
    assert rate(cells, "true_negative_rate").value == pytest.approx(theirs["tnr"])
    assert rate(cells, "accuracy").value == pytest.approx(theirs["accuracy"])
    assert kappa(cells).point == pytest.approx(theirs["kappa"])
