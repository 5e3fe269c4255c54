"""Answers on tables that are easily read too kindly: what a careful reader would answer."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Scale
from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.records import USES, Answer, Use, UseDecision
from analysis.decisions.replacement import replacement_factor
from analysis.gate.requirements import answered, requirement
from analysis.render.decision_words import sentence
from tests.analysis.decisions.test_answers import answers, reported
from tests.analysis.scores import simulated


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A judge that follows five raters closely; three systems, 12 points apart."""
    rows = simulated(queries=60, raters=5, kindness=0)
    worse = 12 * rows["system"].str[1:].astype(int)
    return rows.assign(value=np.clip(rows["value"] - worse, 0, 100))


def judged(rows: pd.DataFrame) -> "pd.Series[bool]":
    return rows["scorer_kind"] == "judge"


def with_judge(rows: pd.DataFrame, values: Any) -> pd.DataFrame:
    """The table with other scores of the judge."""
    changed = rows.copy()
    changed.loc[judged(rows), "value"] = values
    return changed


def asked(found: dict[Use, UseDecision]) -> set[Answer]:
    """The answers to what the table can be asked."""
    return {d.answer for d in found.values()} - {"not_applicable"}


def limited(analysis: Analysis, words: str) -> None:
    """Every yes says why it is limited."""
    for decision in answers(analysis).values():
        if decision.answer == "yes":
            assert words in sentence(analysis, decision)


def test_the_table_without_a_fault_is_answered_with_yes(frame: pd.DataFrame) -> None:
    assert asked(answers(reported(frame))) == {"yes"}


def test_a_constant_judge_is_no_judge(frame: pd.DataFrame) -> None:
    analysis = reported(with_judge(frame, 100.0))
    found = answers(analysis)
    for use in ("choose_between_responses", "report_level", "replace_rater"):
        assert found[use].answer == "no", use
    assert found["report_level"].missing is None
    # It prefers no system, so that the one that people find worst may be chosen.
    assert found["rank_systems"].answer == found["rank_all_systems"].answer == "no"
    assert found["rank_all_systems"].missing is None


def test_a_no_on_all_systems_shows_the_pair_that_refuses(frame: pd.DataFrame) -> None:
    people = frame[~judged(frame)].groupby("response_id")["value"].mean()
    reverse = 100 - frame.loc[judged(frame), "response_id"].map(people)
    for scores in (reverse, 60.0):
        ranked = answers(reported(with_judge(frame, scores)))["rank_all_systems"]
        assert ranked.answer == "no"
        assert ranked.binding is not None
        assert ranked.binding.estimate.systems == ("s0", "s2")


def test_a_judge_that_passes_everything_finds_no_failure(frame: pd.DataFrame) -> None:
    rows = frame.assign(value=(frame["value"] > 40).astype(float))
    analysis = reported(with_judge(rows, 1.0), Scale(0, 1, 1))
    level = answers(analysis)["report_level"]
    assert level.answer == "no"
    assert "true negative rate .00" in sentence(analysis, level)


def test_constant_people_decide_nothing_for_a_judge(frame: pd.DataFrame) -> None:
    rows = frame.assign(value=frame["value"].where(judged(frame), 70.0))
    found = answers(reported(rows))
    for use in ("choose_between_responses", "rank_systems", "rank_all_systems"):
        assert found[use].answer == "not_applicable", use
        assert found[use].missing == "people give every response the same value (70)"
    assert "yes" not in asked(found)


def test_constant_people_beside_a_constant_judge_are_the_reason(frame: pd.DataFrame) -> None:
    found = answers(reported(frame.assign(value=70.0)))
    del found["order_responses"]
    assert {d.missing for d in found.values()} == {"people give every response the same value (70)"}


def test_a_single_query_is_why_systems_are_not_compared(frame: pd.DataFrame) -> None:
    found = answers(reported(frame[frame["query_id"] == "q0"]))
    for use in ("rank_systems", "rank_all_systems"):
        assert "an interval needs at least 2 queries" in str(found[use].missing)


def test_systems_that_are_equal_on_every_query_are_compared(frame: pd.DataFrame) -> None:
    copied = frame[frame["system"] == "s1"].copy()
    copied["system"] = "s3"
    copied["response_id"] += "-again"
    analysis = reported(pd.concat([frame, copied], ignore_index=True))
    assert answers(analysis)["rank_all_systems"].answer == "yes"


def test_missing_scores_qualify_every_yes(frame: pd.DataFrame) -> None:
    people = frame[~judged(frame)].groupby("response_id")["value"].mean()
    worst = frame["response_id"].map(people < people.quantile(0.3))
    analysis = reported(frame[~(judged(frame) & worst)])
    limited(analysis, "it has no score for 30% of the rated responses")


def test_a_copy_of_a_rater_is_named(frame: pd.DataFrame) -> None:
    first = frame[frame["scorer"] == "rater-1"].set_index("response_id")["value"]
    copied = with_judge(frame, frame.loc[judged(frame), "response_id"].map(first))
    limited(reported(copied), "each of its scores equals the rating by rater-1")


def test_an_unequal_draw_qualifies_every_yes(frame: pd.DataFrame) -> None:
    odd = frame["query_id"].str[1:].astype(int) % 2
    analysis = reported(frame.assign(inclusion_prob=np.where(odd == 1, 0.2, 0.8)))
    limited(analysis, "drawn with unequal probabilities")


def test_one_rater_is_named_and_weakens_no_answer(frame: pd.DataFrame) -> None:
    found = answers(reported(frame[judged(frame) | (frame["scorer"] == "rater-1")]))
    choose = found["choose_between_responses"]
    assert choose.answer == "yes"
    assert choose.binding is not None
    assert choose.binding.estimate.statistic == "concordance"
    for use in ("rank_systems", "choose_between_responses"):
        assert "the judge is compared with this one rater only" in found[use].limits
    assert found["replace_rater"].answer == "not_applicable"


def test_a_system_without_ratings_is_named(frame: pd.DataFrame) -> None:
    level = answers(reported(frame[judged(frame) | (frame["system"] != "s2")]))["report_level"]
    assert "on s2 it is not known" in level.limits


def test_a_judge_that_exaggerates_is_not_calibrated() -> None:
    # Right on average over all responses and for each system, wrong at both ends.
    rows = simulated(queries=60, raters=5, kindness=0)
    scores = rows.loc[judged(rows), "value"]
    analysis = reported(with_judge(rows, np.clip(50 + 2.2 * (scores - 50), 0, 100)))
    level = answers(analysis)["report_level"]
    assert any("(calibration)" in limit for limit in level.limits)


def test_undefined_figures_have_no_small_p() -> None:
    error = Uncertainty((1.0,), (10.0,))
    assert error.p_at_most(np.nan, 0) == error.p_at_least(np.nan, 0) == 1


def test_queries_needed_count_the_degrees_of_freedom_that_they_bring() -> None:
    # Three queries, so 2 degrees of freedom; the t quantile alone would ask for 18.5 times 3.
    factor = Uncertainty((1.0,), (2.0,)).queries_factor(1.0, 0.025)
    assert factor is not None
    # n queries with t(2n/3) at .025: t(9.9) is 2.23.
    assert factor == pytest.approx(4.97, abs=0.06)
    large = Uncertainty((1.0,), (np.inf,)).queries_factor(1.0, 0.025)
    assert large == pytest.approx(1.96**2, rel=1e-3)


def test_the_alternative_annotator_test_has_a_number_of_queries() -> None:
    assert replacement_factor(0.1, 0.025) == pytest.approx((1.96 / 1.2816) ** 2, rel=1e-3)
    assert replacement_factor(0.7, 0.025) is None


def test_three_queries_ask_for_a_practical_number(frame: pd.DataFrame) -> None:
    few = frame[frame["query_id"].isin(["q0", "q1", "q2"])]
    found = answers(reported(few))
    assert not asked(found) & {"yes", "no"}


def test_a_judge_without_scores_on_a_required_construct_fails_the_gate(
    frame: pd.DataFrame,
) -> None:
    second = frame[judged(frame)].assign(scorer="second")
    analysis = reported(pd.concat([frame, second, frame.assign(construct="CC")]))
    assert len(answered(analysis, [requirement("QR:report_level=yes")])) == 2
    with pytest.raises(AnalysisError, match="no scores of second on CC"):
        answered(analysis, [requirement("CC:report_level=yes")])


def test_all_uses_are_answered_for_one_query_and_for_one_response_a_query() -> None:
    single = answers(reported(simulated(queries=1, systems=40, raters=5)))
    assert asked(single) == {"open"}
    one_each = answers(reported(simulated(queries=60, systems=1, raters=5, kindness=0)))
    assert set(one_each) == set(USES)
    assert one_each["choose_between_responses"].answer == "not_applicable"
    order = one_each["order_responses"]
    assert order.answer == "yes"
    assert order.missing is None
    ranks = one_each["rank_systems"]
    assert (ranks.answer, ranks.missing) == (
        "not_applicable", "it takes 2 systems, the table has 1"
    )  # fmt: skip
