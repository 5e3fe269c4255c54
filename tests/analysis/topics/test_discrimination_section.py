"""The section on differences between systems: its sentences, tables and figures."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.analysis import Analysis
from analysis.pipeline.estimation import _analysis, _context
from analysis.pipeline.sections import headings
from analysis.render.formatting import p_value
from analysis.render.verdicts import verdict_subjects
from analysis.topics.discrimination.estimates import discrimination
from analysis.topics.discrimination.figures import asl_curves, system_differences
from analysis.topics.discrimination.section import declared_hypotheses, differences, power, reading
from study.base.hypotheses import Hypothesis
from tests.analysis.claimed import with_claims
from tests.analysis.scores import simulated, table


def analysed(frame: pd.DataFrame, **options: Any) -> Analysis:
    context = _context(table(frame), None, Options(resamples=200, **options), None)
    analysis = replace(_analysis("systems", context, discrimination), headings=headings())
    return with_claims(analysis)


@pytest.fixture(scope="module")
def campaign() -> Analysis:
    """Three systems, the second plainly best; people rated half of the queries."""
    frame = simulated(queries=40, constructs=("QR", "CC"))
    best = 30 * (frame["system"] == "s1")
    frame["value"] = (frame["value"] + best).clip(0, 100)
    rated = frame["query_id"].isin([f"q{i}" for i in range(20)])
    claims = (Hypothesis("s1 leads", (("s1", "s0"), ("s1", "s2"))),)
    return analysed(frame[rated | (frame["scorer"] == "judge")], hypotheses=claims)


def test_the_sentences_name_pairs_and_queries(campaign: Analysis) -> None:
    judge, people, claim = reading(campaign)
    assert judge.startswith("judge: significant differences for 2 of 3 pairs of systems on ")
    assert people.startswith(
        "People's ratings, on 20 queries: significant differences for 2 of 3 pairs of systems"
    )
    assert claim == "“s1 leads” is supported in the scores of judge (p < .001)."


def test_the_tables_have_a_row_a_scorer_and_a_row_a_pair(campaign: Analysis) -> None:
    (shown,) = power(campaign)
    assert [row[1].text for row in shown.rows] == ["judge", "mean of raters"] * 2
    assert shown.rows[0][3].text == "2 of 3"
    assert shown.rows[0][5].text == "0.67"
    by_judge, by_people = differences(campaign)
    assert by_judge.columns == ("Pair", "QR", "CC")
    assert [row[0].text for row in by_people.rows] == ["s0 minus s1", "s0 minus s2", "s1 minus s2"]
    cell = by_judge.rows[0][1]
    assert cell.parts == ("p < .001",)
    assert cell.interval.startswith("[-")
    (claims,) = declared_hypotheses(campaign)
    assert claims.rows[0][0].text == "s1 leads"


def test_the_figures_say_in_words_what_they_draw(campaign: Analysis) -> None:
    (curves,) = asl_curves(campaign)
    assert len(curves.drawings) == 2
    assert "QR: 2 of 3 below .05" in curves.drawings[0].svg
    (apart,) = system_differences(campaign)
    assert len(apart.drawings) == 2
    assert "judge, s0 minus s1: −" in apart.drawings[0].svg
    assert "mean of raters, s0 minus s1: −" in apart.drawings[0].svg


def test_without_systems_or_with_one_nothing_is_drawn() -> None:
    for frame in (simulated().drop(columns="system"), simulated(systems=1)):
        analysis = analysed(frame)
        assert not list(asl_curves(analysis))
        assert not list(system_differences(analysis))
        assert not list(reading(analysis))
        assert not list(differences(analysis))


def test_people_on_another_scale_are_not_drawn_beside_the_judge() -> None:
    frame = simulated(queries=12)
    scales = {"QR": Scale(0, 100)}
    half = frame["value"].where(frame["scorer_kind"] == "human", frame["value"] / 100)
    scores = ScoreTable.from_frame(frame.assign(value=half), scales, {("judge", "QR"): Scale(0, 1)})
    analysis = _analysis("x", _context(scores, None, Options(resamples=200), None), discrimination)
    (apart,) = system_differences(analysis)
    assert "mean of raters" not in apart.drawings[0].svg


def test_a_p_in_words() -> None:
    words = [p_value(p) for p in (0.0001, 0.0124, 0.42, 0.999)]
    assert words == ["p < .001", "p = .012", "p = .42", "p > .99"]


def test_metrics_of_shared_passages_are_not_compared_with_people() -> None:
    frame = simulated(queries=12)
    judged = frame[frame["scorer"] == "judge"]
    by_query = judged["query_id"].str[1:].astype(float) / 12
    on_passages = judged.assign(construct="retrieval", scorer_kind="metric")
    same, other = (
        on_passages.assign(scorer="NDCG", value=by_query),
        on_passages.assign(scorer="RR", value=judged["value"] / 100),
    )
    scales = {"QR": Scale(0, 100), "retrieval": Scale(0, 1)}
    scores = ScoreTable.from_frame(pd.concat([frame, same, other], ignore_index=True), scales)
    report = with_claims(analyse(scores, options=Options(resamples=100)))
    stated = [text for text in reading(report) if text.startswith("retrieval")]
    assert stated == [
        "retrieval: NDCG cannot distinguish systems: all responses to a query have the same score."
    ]
    assert verdict_subjects(report) == [("QR", "judge")]
