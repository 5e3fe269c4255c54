"""Choosing a system where a stated sample of what the judge scored was rated."""

from itertools import combinations

import pandas as pd
import pytest

from analysis import Options
from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.decisions.answers import decisions
from analysis.decisions.records import Use
from analysis.pipeline.estimation import headline
from analysis.render.decision_words import phrase
from analysis.statistics.agreement.choice_regret import RegretUncertainty, Rival
from analysis.topics.agreement.decisions import decisions_by_interval
from analysis.topics.correction.estimates import correction
from tests.analysis.scores import simulated, table

QUERIES, RATED = 300, 40


def sampled(*, states: bool = True, systems: int = 3) -> pd.DataFrame:
    """The first queries are rated, and the table states that they were drawn."""
    rows = simulated(queries=QUERIES, systems=systems, raters=1, judge_noise=3, kindness=0, seed=4)
    number = rows["query_id"].str.removeprefix("q").astype(int)
    rows = rows[(rows["scorer_kind"] == "judge") | (number < RATED)].reset_index(drop=True)
    of_people = rows["scorer_kind"] == "human"
    rows["inclusion_prob"] = 1.0
    if states:
        rows.loc[of_people, "inclusion_prob"] = RATED / QUERIES
    return rows


def analyzed(rows: pd.DataFrame) -> Analysis:
    return headline(table(rows), options=Options())


def regret(rows: pd.DataFrame) -> Estimate:
    found = next(
        e for e in decisions_by_interval(analyzed(rows).context) if e.statistic == "choice_regret"
    )
    assert found.uncertainty is not None
    return found


def rivals(e: Estimate) -> tuple[Rival, ...]:
    assert isinstance(e.uncertainty, RegretUncertainty)
    return e.uncertainty.rivals


def half_width(e: Estimate) -> float:
    return max(rival.error for rival in rivals(e))


def test_people_are_corrected_by_everything_that_the_judge_scored() -> None:
    rows = sampled()
    found = regret(rows)
    corrected = {
        e.systems: e for e in correction(analyzed(rows).context) if e.statistic == "ppi_difference"
    }
    assert found.params["judged_queries"] == QUERIES
    assert found.n_queries == RATED
    names = analyzed(rows).context.scores.systems
    for rival in rivals(found):
        pair = names[rival.system], found.systems[0]
        expected = corrected[pair].value if pair in corrected else -corrected[pair[::-1]].value
        assert rival.difference == pytest.approx(expected)
    assert len(corrected) == len(list(combinations(names, 2)))
    assert half_width(found) < 0.75 * half_width(regret(sampled(states=False)))


def test_the_judge_chooses_by_all_its_scores() -> None:
    rows = sampled()
    number = rows["query_id"].str.removeprefix("q").astype(int)
    of_judge = rows["scorer_kind"] == "judge"
    first, last = rows["system"] == "s0", rows["system"] == "s2"
    rows.loc[of_judge & first & (number < RATED), "value"] += 20
    rows.loc[of_judge & last & (number >= RATED), "value"] += 10
    rows["value"] = rows["value"].clip(0, 100)
    assert regret(rows).systems[0] == "s2"
    rows["inclusion_prob"] = 1.0
    assert regret(rows).systems[0] == "s0"


@pytest.mark.parametrize("why", ["not stated", "other queries", "all rated"])
def test_otherwise_the_rated_responses_decide(why: str) -> None:
    rows = sampled(states=why != "not stated")
    number = rows["query_id"].str.removeprefix("q").astype(int)
    if why == "other queries":
        rows = rows[(number != QUERIES - 1) | (rows["system"] != "s1")]
    if why == "all rated":
        rows = rows[number < RATED]
    plain = rows.assign(inclusion_prob=1.0)
    assert "judged_queries" not in regret(rows).params
    assert regret(rows).value == regret(plain).value
    assert half_width(regret(rows)) == half_width(regret(plain))


def test_an_unequal_draw_is_weighted_where_systems_are_ranked() -> None:
    rows = sampled()
    of_people = rows["scorer_kind"] == "human"
    often = of_people & (rows["query_id"].str[-1] < "5")
    rows.loc[often, "inclusion_prob"] = 0.4
    uses: list[Use] = ["rank_systems", "report_level"]
    found = decisions(analyzed(rows), [("QR", "judge")], uses)
    limited = {d.use for d in found if any("unequal" in limit for limit in d.limits)}
    assert limited == {"report_level"}


def test_all_pairs_are_compared_on_the_rated_responses_and_the_line_says_so() -> None:
    limits = {}
    for states in (True, False):
        found = decisions(analyzed(sampled(states=states)), [("QR", "judge")], ["rank_all_systems"])
        limits[states] = found[0].limits
        assert found[0].figures[0].estimate.n_queries == RATED
    assert f"pairs are compared on the {RATED} rated of {QUERIES} judged queries" in limits[True]
    assert not any("judged" in limit for limit in limits[False])


def test_the_line_says_how_many_queries_were_judged() -> None:
    analysis = analyzed(sampled())
    found = decisions(analysis, [("QR", "judge")], ["rank_systems"])
    figures = [f for d in found for f in d.figures if f.estimate.statistic == "choice_regret"]
    text = phrase(analysis, figures[0])
    assert f"(ratings of {RATED} of {QUERIES} judged queries, corrected by the judge)" in text
