"""What a table looks like and allows."""

import numpy as np
import pandas as pd
import pytest

from analysis import ScoreTable
from analysis.core.likely_scales import looks_like
from analysis.doctor.diagnosis import diagnose
from study.base.scales import Scale
from tests.analysis.scores import simulated


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0, 0.25, 1], "0:1"),
        ([0, 1, 1], "0:1"),
        ([1, 2, 5, 3], "1:5:1"),
        ([0, 7, 10], "0:10"),
        ([2.5, 4, 8.5], "1:10"),
        ([1, 2, 4], "1:4:1"),
        ([3, 27], "0:30"),
        ([3, 44], "0:50"),
        ([1, 2.5, 5], "1:5"),
        ([1, 3, 2], "1:3:1"),
        ([1, 2, 2], "1:2"),
        ([0, 55, 100], "0:100"),
        ([66.67, 12], "0:100"),
        ([-1, 5], None),
        ([0, 101], None),
        ([3, 3, 3], None),
        ([], None),
        ([np.nan, np.nan], None),
    ],
)
def test_usual_scales_are_recognized(values: list[float], scale: str | None) -> None:
    assert looks_like(values) == scale


def test_a_construct_with_low_values_is_seen_with_the_scorers_others() -> None:
    assert looks_like([1, 2, 3], [1, 2, 3, 80, 90]) == "0:100"
    assert looks_like([0.2, 0.9], [0.2, 0.9, 80, 90]) == "0:1"
    assert looks_like([3, 3], [3, 3, 5]) == "1:5:1"


def findings(frame: pd.DataFrame) -> dict[str, bool]:
    diagnosis = diagnose(ScoreTable.from_frame(frame))
    return {finding.subject.split(":")[0]: finding.possible for finding in diagnosis.findings}


def test_a_whole_table_allows_nearly_everything() -> None:
    finding_texts = findings(simulated())
    assert finding_texts["the human ceiling"]
    assert finding_texts["the order of responses within a query"]


def test_what_is_missing_blocks_what_needs_it() -> None:
    frame = simulated()
    people = frame[frame["scorer_kind"] == "human"]
    judge = frame[frame["scorer_kind"] == "judge"]
    without = findings(people)
    assert without["how far people agree"]
    assert not without["judge against people"]
    alone = findings(judge)
    assert not alone["how far people agree"]
    assert alone["how scores are distributed"]
    first = people["scorer"].iloc[0]
    finding_texts = findings(pd.concat([judge, people[people["scorer"] == first]]))
    assert finding_texts["judge against people"]
    assert not finding_texts["the human ceiling"]


def test_nothing_but_blanks_is_unusable() -> None:
    frame = simulated().assign(value=np.nan, missing_reason="unparsed")
    diagnosis = diagnose(ScoreTable.from_frame(frame))
    assert not diagnosis.usable
    assert all(finding.why for finding in diagnosis.findings)


def test_scales_by_scorer_are_named_where_they_differ() -> None:
    frame = simulated()
    by_judge = frame["scorer_kind"] == "judge"
    frame["value"] = frame["value"].where(~by_judge, frame["value"] / 100)
    options = diagnose(ScoreTable.from_frame(frame)).scales
    assert options[0] == "0:100"
    assert any(option.endswith("=0:1") and option.startswith("judge:") for option in options)


def test_categories_have_no_correlations_and_no_bias() -> None:
    frame = simulated()
    frame["value"] = frame["value"].round(-1) // 40
    names = {key: Scale(0, 3, 1, "nominal") for key in frame["construct"].unique()}
    found = {f.subject: f for f in diagnose(ScoreTable.from_frame(frame, names)).findings}
    assert found["judge against people: the same categories, kappa and confusion"].possible
    for subject in (
        "judge against people: correlations",
        "the order of responses within a query",
        "bias, calibration and ends of the scale in points",
        "agreement between systems",
    ):
        assert not found[subject].possible
        assert found[subject].why.startswith("the values name categories")
