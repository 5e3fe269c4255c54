"""The mean of a judge's distribution stands beside its number, as a scorer of its own."""

import json

import pandas as pd
import pytest

from study.base.scales import Scale
from study.facts.score_distributions import expected_scores, summary


def judgments(*rows: dict[str, object]) -> pd.DataFrame:
    usual = {
        "scorer": "j",
        "value": 80.0,
        "missing_reason": None,
        "rule": "bare",
        "distribution": None,
    }
    return pd.DataFrame([{**usual, **row} for row in rows])


def test_the_mean_is_over_the_mass_on_scores() -> None:
    scores = expected_scores(
        judgments({"distribution": {"80": 0.6, "90": 0.38}}, {"distribution": json.dumps({"7": 1})})
    )
    assert list(scores["value"]) == [pytest.approx((48 + 34.2) / 0.98), 7.0]
    assert set(scores["scorer"]) == {"j (expected)"}
    assert scores["rule"].isna().all()
    assert scores["missing_reason"].isna().all()


def test_what_has_no_whole_distribution_is_missing_with_its_reason() -> None:
    scores = expected_scores(
        judgments(
            {"distribution": {"80": 0.5}},
            {},
            {"value": None, "missing_reason": "refusal", "rule": None},
            {"value": 0.0, "rule": "empty_response"},
            {"distribution": {"80": 0.99}},
        )
    )
    reasons = [None if pd.isna(reason) else reason for reason in scores["missing_reason"]]
    assert reasons == ["distribution_incomplete", "no_distribution", "refusal", None, None]
    values = [None if pd.isna(value) else value for value in scores["value"]]
    assert values == [None, None, None, 0.0, 80.0]


def test_a_run_without_any_distribution_has_no_second_scorer() -> None:
    scores = expected_scores(judgments({"scorer": "a"}, {"scorer": "b", "distribution": {"3": 1}}))
    assert list(scores["scorer"]) == ["b (expected)"]


def test_a_summary_says_what_is_known_and_where_the_rest_may_lie() -> None:
    moments = summary({"80": 0.5, "90": 0.25}, Scale(min=0, max=100))
    # (80 * 0.5 + 90 * 0.25) / 0.75, and the second moment about it.
    assert moments.mean == pytest.approx(250 / 3)
    assert moments.variance == pytest.approx(200 / 9)
    assert (moments.mode, moments.mass) == (80.0, 0.75)
    assert (moments.low, moments.high) == (62.5, 87.5)
    assert moments.expected is None
    whole = summary({"3": 0.5, "2": 0.5}, Scale(min=1, max=5))
    assert (whole.expected, whole.mode, whole.low, whole.high) == (2.5, 2.0, 2.5, 2.5)
