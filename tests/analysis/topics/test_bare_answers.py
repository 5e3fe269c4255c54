"""Figures from answers that are a bare number, and those from all values."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.core.analysis import Analysis
from analysis.render.table import Table
from analysis.topics.agreement.bare_answers import (
    answers_read_tables as answers_read,
    from_bare_numbers,
)
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=200)


def read_by(rules: dict[str, str | None], **made: Any) -> pd.DataFrame:
    """Simulated scores whose judge was read by `rules` (by response), else as a bare number."""
    frame = simulated(**made)
    judged = frame["scorer_kind"] == "judge"
    rule = frame["response_id"].map(lambda name: rules.get(name, "bare"))
    return frame.assign(rule=rule.where(judged, None), missing_reason=None)


def without(frame: pd.DataFrame, *responses: str) -> pd.DataFrame:
    """The same with the judge's values of some responses missing."""
    gone = (frame["scorer_kind"] == "judge") & frame["response_id"].isin(responses)
    return frame.assign(
        value=frame["value"].mask(gone),
        rule=frame["rule"].mask(gone, None),
        missing_reason=frame["missing_reason"].mask(gone, "refusal"),
    )


RULES = {
    "r0": "labelled",
    "r1": "labelled",
    "r2": "json",
    "r3": "empty_response",
    "r4": None,
}


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    frame = without(read_by(RULES, constructs=("QR", "CC")), "r5")
    return analyse(table(frame), options=QUICK)


def test_shares_by_rule_and_reason_add_up(analysis: Analysis) -> None:
    shares = analysis.estimates.select("answer_share", construct="QR")
    counts = {
        str(e.params.get("rule") or e.params.get("reason")): e.params["count"] for e in shares
    }
    assert counts == {
        "bare": 30, "labelled": 2, "json": 1, "empty_response": 1, "not given": 1, "refusal": 1,
    }  # fmt: skip
    assert sum(e.value for e in shares) == pytest.approx(1)
    assert {e.n_responses for e in shares} == {36}


@pytest.mark.parametrize("scope", ["pooled", "within_query"])
@pytest.mark.parametrize(
    "statistic",
    ["kendall_tau_b", "human_ceiling", "judge_against_others", "human_ceiling_difference"],
)
def test_bare_figures_are_those_of_a_table_without_the_other_values(
    analysis: Analysis, statistic: str, scope: str
) -> None:
    # Whatever was read by another rule, or by none that is given; an empty response stays.
    left = without(read_by(RULES, constructs=("QR", "CC")), "r0", "r1", "r2", "r4", "r5")
    alone = analyse(table(left), options=QUICK).estimates
    where = {"construct": "QR", "scorer": "judge", "scope": scope}
    if statistic != "kendall_tau_b":
        where["measure"] = "kendall_tau_b"
    bare = analysis.estimates.first(statistic, answers="bare", **where)
    wanted = alone.first(statistic, **where)
    everything = analysis.estimates.first(statistic, **where)
    assert bare is not None
    assert wanted is not None
    assert everything is not None
    assert bare.value == wanted.value
    assert (bare.ci_low, bare.ci_high) == (wanted.ci_low, wanted.ci_high)
    assert bare.n_responses == wanted.n_responses < everything.n_responses
    assert "answers" not in everything.params


def test_nothing_is_added_where_every_answer_was_a_bare_number() -> None:
    plain = simulated(constructs=("QR",))
    without_column = analyse(table(plain), options=QUICK).estimates
    for rules in ({}, {"r0": "empty_response"}, {"r0": None}):
        estimates = analyse(table(read_by(rules)), options=QUICK).estimates
        assert [e.as_json() for e in estimates] == [e.as_json() for e in without_column]
    assert not without_column.select("answer_share")


def test_a_response_of_several_systems_counts_once() -> None:
    frame = read_by({"r0": "json"})
    shared = frame[frame["response_id"] == "r0"].assign(system="s2")
    both = pd.concat([frame, shared])
    shares = analyse(table(both), options=QUICK).estimates.select("answer_share")
    assert {e.params["rule"]: e.params["count"] for e in shares} == {"bare": 35, "json": 1}


def test_no_answer_was_a_bare_number() -> None:
    frame = read_by({f"r{i}": "labelled" for i in range(36)})
    analysis = analyse(table(frame), options=QUICK)
    bare = analysis.estimates.select("kendall_tau_b", answers="bare")
    assert len(bare) == 2
    assert all(np.isnan(e.value) and e.reason for e in bare)
    (built,) = from_bare_numbers(analysis)
    assert [row[-2].text for row in built.rows] == ["36", "0"]
    assert built.footnotes


def cells(built: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in built.rows]


def test_the_tables_show_both(analysis: Analysis) -> None:
    (counts,) = answers_read(analysis)
    assert cells(counts)[0] == ["QR", "judge", "30", "1", "3", "1", "1", "36"]
    assert counts.rows[0][4].parts == ("2 labelled", "1 json")
    assert counts.rows[0][6].parts == ("1 refusal",)
    assert "English only" in counts.caption
    (beside,) = from_bare_numbers(analysis)
    assert [row[:3] + row[-2:] for row in cells(beside)[:2]] == [
        ["QR", "judge", "all", "35", "within a query"],
        ["QR", "judge", "bare only", "31", "within a query"],
    ]
    assert all(cell.interval for row in beside.rows for cell in row[3:6])


def test_the_plain_correlation_stands_where_no_rater_can_be_compared() -> None:
    frame = read_by({"r0": "json"}, raters=1)
    (beside,) = from_bare_numbers(analyse(table(frame), options=QUICK))
    assert beside.columns == ("Construct", "Scorer", "Values", "tau-b", "Responses", "Scope")


def test_without_people_only_the_counts_are_shown() -> None:
    frame = read_by({"r0": "json"})
    analysis = analyse(table(frame[frame["scorer_kind"] == "judge"]), options=QUICK)
    assert [len(built.rows) for built in answers_read(analysis)] == [1]
    assert [len(built.rows) for built in from_bare_numbers(analysis)] == [0]
