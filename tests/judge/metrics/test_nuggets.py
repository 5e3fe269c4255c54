"""Nugget recall as AutoNuggetizer scores it, on labels whose scores are computed by hand."""

import json

import pytest

from judge.metrics.metric import MetricValue, MissingValue
from judge.metrics.registry import expanded, load_metric
from tests.judge.metrics.test_llm_suites import labels, result

NUGGETS = json.dumps(["one", "two", "three", "four", "five"])
IMPORTANCE = labels("vital", "vital", "okay", "okay", "okay")
SUPPORT = labels("support", "partial_support", "support", "not_support", "partial_support")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        # Of the two vital nuggets one is supported.
        ("nugget-vital-strict", 1 / 2),
        # The other one in part.
        ("nugget-vital", (1 + 0.5) / 2),
        # Supported: the first and the third of five.
        ("nugget-all-strict", 2 / 5),
        ("nugget-all", (1 + 0.5 + 1 + 0 + 0.5) / 5),
        # Weights 2 x 1 and 3 x .5.
        ("nugget-weighted-strict", (1 + 0.5 * 1) / (2 + 0.5 * 3)),
        ("nugget-weighted", ((1 + 0.5) + 0.5 * (1 + 0 + 0.5)) / (2 + 0.5 * 3)),
    ],
)
def test_the_six_scores_are_those_of_the_track(key: str, value: float) -> None:
    found = result(key, NUGGETS, IMPORTANCE, SUPPORT)
    assert isinstance(found, MetricValue)
    assert found.value == pytest.approx(value, abs=1e-12)
    counts = {"support": 2, "partial_support": 2, "not_support": 1}
    assert found.parts == {"vital": 2, "of": 5, **counts}


@pytest.mark.parametrize("key", ["nugget-vital", "nugget-vital-strict"])
def test_a_reference_without_vital_nuggets_has_no_vital_score(key: str) -> None:
    okay = labels(*["okay"] * 5)
    assert result(key, NUGGETS, okay) == MissingValue("no_vital_nuggets")
    both = (
        result("nugget-all", NUGGETS, okay, SUPPORT),
        result("nugget-weighted", NUGGETS, okay, SUPPORT),
    )
    # Weights that are all alike are those of the mean.
    assert [each.value for each in both if isinstance(each, MetricValue)] == [3 / 5, 3 / 5]


def test_a_response_without_text_supports_nothing_and_is_not_asked_about() -> None:
    found = result("nugget-vital-strict", NUGGETS, IMPORTANCE, text=" ")
    assert isinstance(found, MetricValue)
    assert (found.value, found.parts["not_support"]) == (0, 5)


def test_more_than_ten_nuggets_are_labeled_by_several_prompts() -> None:
    nuggets = json.dumps([f"fact {n}" for n in range(12)])
    importance = [labels(*["vital"] * 10), labels("vital", "okay")]
    support = [labels(*["support"] * 10), labels("not_support", "support")]
    found = result("nugget-vital-strict", nuggets, *importance, *support)
    assert isinstance(found, MetricValue)
    assert found.value == pytest.approx(10 / 11)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (["[]"], "no_nuggets"),
        (["There are none."], "nuggets_unreadable"),
        ([NUGGETS, labels("vital", "okay")], "labels_too_few"),
        ([NUGGETS, labels("vital", "vital", "minor", "okay", "okay")], "labels_unknown"),
        ([NUGGETS, IMPORTANCE, labels(*["supported"] * 5)], "labels_unknown"),
    ],
)
def test_what_cannot_be_read_is_missing(answers: list[str], reason: str) -> None:
    assert result("nugget-vital-strict", *answers) == MissingValue(reason)
    assert reason in load_metric("nugget-vital-strict").reasons


def test_the_suite_has_the_strict_scores() -> None:
    assert expanded("nuggets") == ("nugget-vital-strict", "nugget-all-strict")
