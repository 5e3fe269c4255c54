"""Pass or fail in the report: which constructs have it, its rates, and its sentences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from analysis import Options, Scale, analyse
from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.tables import ScoreTable
from analysis.decisions.questions import Question, report_level
from analysis.decisions.standards import standards
from analysis.decisions.table_facts import scored_facts
from analysis.pipeline.sections import chapters
from analysis.topics.binary.cut_coverage import coverage_at_cut
from tests.analysis.scores import simulated, table

BINARY = Scale(0, 1, step=1)
QUICK = Options(resamples=100)


def pass_or_fail(
    *, queries: int = 30, raters: int = 3, graded: bool = False, seed: int = 0
) -> pd.DataFrame:
    """Raters who pass seven in ten responses, and a judge, with graded scores or not."""
    frame = simulated(queries=queries, raters=raters, seed=seed)
    judged = frame["scorer"] == "judge"
    verdicts = (frame["value"] >= np.where(judged, 50.0, 42.0)).astype(float)
    frame["value"] = np.where(judged & graded, frame["value"], verdicts)
    return frame


def analysed(frame: pd.DataFrame, scale: Scale = BINARY) -> Analysis:
    judge = {("judge", "QR"): Scale(0, 100)} if frame["value"].max() > 1 else {}
    return analyse(ScoreTable.from_frame(frame, {"QR": scale}, judge), options=QUICK)


def by_response(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The share of raters who pass each response, and the judge's value."""
    of = frame.pivot_table(index="response_id", columns="scorer", values="value")
    return of.drop(columns="judge").mean(axis=1), of["judge"]


def test_rates_are_those_of_the_majority() -> None:
    frame = pass_or_fail()
    people, judge = by_response(frame)
    estimates = analysed(frame).estimates
    passes = estimates.first("true_positive_rate", construct="QR", scorer="judge", scope="pooled")
    fails = estimates.first("true_negative_rate", construct="QR", scorer="judge", scope="pooled")
    assert passes is not None
    assert fails is not None
    assert passes.value == pytest.approx(metrics.recall_score(people > 0.5, judge))
    assert fails.value == pytest.approx(metrics.recall_score(people > 0.5, judge, pos_label=0))
    assert passes.has_interval
    assert fails.ci_low < fails.value < fails.ci_high
    assert passes.params["ties"] == 0


def test_ties_of_two_raters_are_counted() -> None:
    frame = pass_or_fail(raters=2)
    people, judge = by_response(frame)
    rate = analysed(frame).estimates.first("true_positive_rate", scorer="judge")
    assert rate is not None
    assert rate.params["ties"] == int((people == 0.5).sum()) > 0
    weights = np.where(people == 0.5, 0.5, people)
    assert rate.value == pytest.approx(float((weights * judge).sum() / weights.sum()))
    assert rate.n_responses == len(people)


def test_a_graded_judge_is_cut_out_of_fold() -> None:
    rate = analysed(pass_or_fail(graded=True)).estimates.first("true_negative_rate", scorer="judge")
    assert rate is not None
    assert rate.params["lowest"] <= rate.params["cut"] <= rate.params["highest"]
    assert rate.value > 0.7
    assert rate.params["measured_coverage"] == coverage_at_cut(rate.n_responses)


def test_a_level_at_a_chosen_cut_is_qualified() -> None:
    analysis = analysed(pass_or_fail(graded=True))
    facts = scored_facts(analysis, "QR", "judge")
    of_construct = standards(analysis.options, facts.human_scale, 1)
    evidence = report_level(Question(analysis.estimates, facts, of_construct), "these_raters")
    assert evidence is not None
    assert any("chosen by these ratings, cover 84%" in why for why in evidence.limits)


def test_the_section_says_what_the_judge_lets_through() -> None:
    (chapter,) = (c for c in chapters(analysed(pass_or_fail())) if c.key == "binary")
    assert chapter.reading[0].startswith("QR: of responses that people fail, judge passes ")
    assert "[" in chapter.reading[0]


def test_graded_constructs_have_no_such_section() -> None:
    analysis = analyse(table(simulated()), options=QUICK)
    assert "binary" not in [c.key for c in chapters(analysis)]
    assert not analysis.estimates.select("true_positive_rate")


@pytest.mark.parametrize("judge_cut", [None, 60.0])
def test_people_who_grade_pass_from_a_cut_on(judge_cut: float | None) -> None:
    frame = simulated(queries=30, raters=3)
    judged = frame["scorer"] == "judge"
    cuts = {"human": 50.0}
    if judge_cut is None:
        frame.loc[judged, "value"] = (frame.loc[judged, "value"] >= 60).astype(float)
    else:
        cuts["judge:QR"] = judge_cut
    scales = {"QR": Scale(0, 100)}
    own = {("judge", "QR"): BINARY} if judge_cut is None else {}
    analysis = analyse(ScoreTable.from_frame(frame, scales, own), options=replace(QUICK, cut=cuts))
    of = frame.pivot_table(index="response_id", columns="scorer", values="value")
    people = (of.drop(columns="judge") >= 50).sum(axis=1) >= 2
    judge = of["judge"] >= (1 if judge_cut is None else judge_cut)
    for statistic, positive in (("true_positive_rate", 1), ("true_negative_rate", 0)):
        rate = analysis.estimates.first(statistic, scorer="judge", scope="pooled")
        assert rate is not None
        expected = metrics.recall_score(people, judge, pos_label=positive)
        assert rate.value == pytest.approx(expected)
        assert rate.params["people_cut"] == 50
        assert "measured_coverage" not in rate.params
    (chapter,) = (c for c in chapters(analysis) if c.key == "binary")
    assert chapter.reading[0].startswith("QR: of responses that people fail (below 50), judge ")


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        ({"humans": 50}, "name one of human, judge"),
        ({"human": 0}, "above 0 and at most 100"),
        ({"human": 101}, "above 0 and at most 100"),
        ({"human": float("nan")}, "give a number"),
        ({"judge": 50}, "people grade QR; declare the lowest value with which they pass as well"),
    ],
)
def test_cuts_that_divide_nothing_are_refused(cut: dict[str, float], says: str) -> None:
    with pytest.raises(AnalysisError, match=says):
        analyse(table(simulated(queries=3)), options=replace(QUICK, cut=cut))


def test_values_between_pass_and_fail_withhold_the_rates() -> None:
    frame = pass_or_fail()
    frame.loc[frame["scorer"] == "rater-1", "value"] *= 0.5
    rate = analysed(frame).estimates.first("true_positive_rate", scorer="judge")
    assert rate is not None
    assert rate.reason is not None
    assert "neither 0 nor 1" in rate.reason


def test_pass_rates_of_systems_by_each_way() -> None:
    frame = pass_or_fail(queries=60)
    unrated = frame["query_id"].isin([f"q{i}" for i in range(30, 60)])
    frame.loc[unrated & (frame["scorer_kind"] == "human"), "value"] = np.nan
    estimates = analysed(frame).estimates
    for scope in ("pooled", "system:s0"):
        judge, rates, labels = (
            estimates.first("pass_rate", scorer="judge", scope=scope, way=way)
            for way in ("judge", "rates", "labels")
        )
        assert judge is not None
        assert rates is not None
        assert labels is not None
        assert judge.has_interval
        assert rates.has_interval
        assert labels.has_interval
        assert abs(rates.value - labels.value) < 0.25


def test_kappa_is_explained_where_nearly_all_pass() -> None:
    frame = pass_or_fail(queries=40, raters=1)
    failed = [f"r{number}" for number in range(0, 120, 15)]
    mistaken = [*failed[:6], *(f"r{number}" for number in range(7, 120, 15))]
    people = ~frame["response_id"].isin(failed)
    judged = frame["scorer"] == "judge"
    wrong = judged & frame["response_id"].isin(mistaken)
    frame["value"] = np.where(wrong, ~people, people).astype(float)
    (chapter,) = (c for c in chapters(analysed(frame)) if c.key == "binary")
    assert any("the prevalence paradox" in sentence for sentence in chapter.reading)


def test_the_confusion_is_drawn_and_listed() -> None:
    (chapter,) = (c for c in chapters(analysed(pass_or_fail())) if c.key == "binary")
    (figure,) = chapter.figures
    assert "judge passes" in figure.drawings[0].svg
    (confusion,) = (table for table in chapter.tables if table.key == "verdict-confusion")
    assert [row[2].text for row in confusion.rows] == ["people pass", "people fail"]
