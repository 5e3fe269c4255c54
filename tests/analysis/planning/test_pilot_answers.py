"""Studies drawn from the queries of a pilot: its queries stay whole, and so does what they show."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.decisions.records import Use
from analysis.planning.components import Components
from analysis.planning.designs import PlanSettings
from analysis.planning.pilot_answers import Pilot, power_of_pilot
from tests.analysis.scores import simulated

POINTS = {"QR": Scale(0, 100)}


def pilot(frame: pd.DataFrame) -> Pilot:
    return Pilot.of(ScoreTable.from_frame(frame, POINTS), "QR", "judge")


def chance(of: Pilot, use: Use, queries: int = 40, raters: int = 3) -> float:
    settings = PlanSettings(queries=(queries,), raters=(raters,), runs=12)
    (cell,) = power_of_pilot(of, [use], Components(), settings).cells
    return cell.power


def test_a_drawn_query_has_all_its_rows_and_no_other_has_its_responses() -> None:
    given = pilot(simulated(queries=10, raters=3, missing=0.2))
    drawn = given.drawn(25, 2, np.random.default_rng(0)).frame
    assert drawn["query_id"].nunique() == 25
    pairs = drawn[["response_id", "query_id"]].drop_duplicates()
    assert not pairs["response_id"].duplicated().any()
    assert drawn.loc[drawn["scorer_kind"] == "human", "scorer"].nunique() == 2
    source = given.scores.frame
    for name, rows in drawn.groupby("query_id", observed=True):
        own = source[source["query_id"] == str(name).split("#")[0]]
        judged = rows["scorer"] == "judge"
        assert sorted(rows.loc[judged, "value"]) == sorted(
            own.loc[own["scorer"] == "judge", "value"]
        )


def test_queries_that_nobody_rated_are_left_out() -> None:
    frame = simulated(queries=10, raters=2)
    rated = frame["query_id"].isin(sorted(frame["query_id"].unique())[:6])
    given = pilot(frame[rated | (frame["scorer_kind"] == "judge")])
    assert len(given.places) == 6


def test_a_judge_at_the_maximum_is_promised_nothing() -> None:
    frame = simulated(queries=30, raters=3, kindness=0)
    judged = frame["scorer_kind"] == "judge"
    kind = frame.assign(value=frame["value"].mask(judged & (frame["value"] > 40), 100.0))
    assert chance(pilot(frame), "choose_between_responses") > 0.8
    assert chance(pilot(kind), "choose_between_responses") < 0.3
    assert chance(pilot(frame), "report_level") > 0.8
    assert chance(pilot(kind), "report_level") == 0


def test_more_raters_than_the_pilot_has_are_not_drawn() -> None:
    settings = PlanSettings(queries=(20,), raters=(3, 4), runs=2)
    plan = power_of_pilot(
        pilot(simulated(queries=10, raters=3)), ["report_level"], Components(), settings
    )
    assert [cell.reason for cell in plan.cells] == [None, "the pilot has 3"]
    assert plan.from_pilot
    assert plan.as_json()["claims"] == {"report_level": None}


@pytest.mark.parametrize("systems", [True, False])
def test_what_a_report_is_asked_is_planned(systems: bool) -> None:
    frame = simulated(queries=12, raters=3)
    if not systems:
        frame = frame.drop(columns="system").drop_duplicates(["query_id", "scorer"])
    uses = pilot(frame).uses
    assert ("rank_systems" in uses) == systems
    assert ("choose_between_responses" in uses) == systems
    assert ("order_responses" in uses) != systems
    assert Options().level == 0.95
