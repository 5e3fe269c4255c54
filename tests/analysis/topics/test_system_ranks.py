"""Ranks of systems by people and judges, from the intervals of their differences."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import Options
from analysis.core.analysis import Analysis
from analysis.pipeline.estimation import analyse
from analysis.topics.discrimination.system_ranks import ranks_of_systems
from tests.analysis.scores import simulated, table


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """Systems s0 and s1 are alike, s2 is 30 points worse."""
    frame = simulated(queries=30, systems=3, constructs=("QR",))
    lower = {"s0": 0.0, "s1": 0.0, "s2": 30.0}
    value = frame["value"] - frame["system"].map(lower)
    return analyse(table(frame.assign(value=value.clip(0, 100))), options=Options(resamples=100))


def test_places_follow_from_the_differences(analysis: Analysis) -> None:
    for scorer in ("judge", "rater-1"):
        ranked = analysis.estimates.select("system_rank", construct="QR", scorer=scorer)
        of = {e.systems[0]: e for e in ranked}
        assert of["s2"].value == of["s2"].ci_low == of["s2"].ci_high == 3
        assert {of[name].value for name in ("s0", "s1")} == {1, 2}
        assert [e.params["systems"] for e in ranked] == [3, 3, 3]
        differences = analysis.estimates.select("system_difference", scorer=scorer)
        for name in ("s0", "s1"):
            apart = [e for e in differences if e.systems == ("s0", "s1")]
            equal = apart[0].ci_low <= 0 <= apart[0].ci_high
            assert (of[name].ci_high - of[name].ci_low == 1) == equal


def test_the_table_has_people_first(analysis: Analysis) -> None:
    (ranked,) = ranks_of_systems(analysis)
    assert ranked.columns[-1] == "judge"
    assert len(ranked.columns) == 4
    assert [row[1].text for row in ranked.rows] == ["s0", "s1", "s2"]
    assert [cell.text for cell in ranked.rows[-1][2:]] == ["3", "3"]


def test_systems_that_share_no_query_have_no_rank() -> None:
    frame = simulated(queries=12, systems=3, constructs=("QR",))
    number = frame["query_id"].str.extract(r"(\d+)")[0].astype(int)
    apart = np.where(frame["system"] == "s2", number >= 6, number < 6)
    analysis = analyse(table(frame[apart]), options=Options(resamples=100))
    ranked = analysis.estimates.select("system_rank", scorer="judge")
    assert {e.reason for e in ranked} == {"s0 and s2 are not compared: no query with both systems"}
