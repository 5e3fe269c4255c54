"""The agreement without one query, rater or system, on tables with a planted influential one."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr

from analysis import Options, analyse
from analysis.core.analysis import Analysis
from analysis.render.verdicts import verdicts, with_contradictions
from analysis.topics.agreement.sensitivity import without_one_table
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=100)


def reference(frame: pd.DataFrame) -> pd.Series:
    people = frame[frame["scorer_kind"] == "human"]
    return people.groupby("response_id", sort=False)["value"].mean()


def one_a_query() -> pd.DataFrame:
    """Judge and people are unrelated but for one response, which both put far below the others."""
    rng = np.random.default_rng(5)
    rows = []
    for number in range(16):
        far = number == 7
        people = 2.0 if far else 70 + 5 * rng.normal()
        scores = {
            "judge": 3.0 if far else 70 + 5 * rng.normal(),
            "ann": people + rng.normal(),
            "bea": people + rng.normal(),
        }
        rows += [
            {
                "response_id": f"r{number}",
                "query_id": f"q{number}",
                "system": "s0",
                "construct": "QR",
                "scorer": scorer,
                "scorer_kind": "judge" if scorer == "judge" else "human",
                "value": value,
            }
            for scorer, value in scores.items()
        ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def influenced() -> Analysis:
    return analyse(table(one_a_query()), options=QUICK)


def test_a_query_is_left_out(influenced: Analysis) -> None:
    frame = one_a_query()
    people = reference(frame)
    judge = frame[frame["scorer"] == "judge"].set_index("response_id")["value"][people.index]
    for measure, computed in (("pearson", pearsonr), ("kendall_tau_b", kendalltau)):
        without = {
            f"q{i}": computed(np.delete(judge.to_numpy(), i), np.delete(people.to_numpy(), i))[0]
            for i in range(len(people))
        }
        low, high = influenced.estimates.select(
            "agreement_without_one", measure=measure, left_out="query"
        )
        assert (low.params["end"], high.params["end"]) == ("low", "high")
        for e, value in ((low, min(without.values())), (high, max(without.values()))):
            assert e.value == pytest.approx(value)
            assert without[str(e.params["name"])] == pytest.approx(value)


def test_the_influential_query_is_named(influenced: Analysis) -> None:
    (verdict,) = with_contradictions(influenced, verdicts(influenced))
    named = [note for note in verdict.notes if "without q7, Pearson's r is" in note]
    assert len(named) == 1
    (shown,) = without_one_table(influenced)
    assert [row[4].text for row in shown.rows] == ["one query", "one rater"] * 2


def test_raters_and_systems_are_left_out() -> None:
    frame = simulated(queries=12, raters=3)
    estimates = analyse(table(frame), options=QUICK).estimates
    judge = frame[frame["scorer"] == "judge"].set_index("response_id")["value"]
    query = frame.drop_duplicates("response_id").set_index("response_id")["query_id"]

    def within(rows: pd.DataFrame) -> float:
        people = reference(rows)
        of = pd.DataFrame({"x": judge[people.index], "y": people, "query": query[people.index]})
        deviations = of[["x", "y"]] - of.groupby("query")[["x", "y"]].transform("mean")
        return float(pearsonr(deviations["x"], deviations["y"])[0])

    for unit, column, names in (
        ("rater", "scorer", ["rater-1", "rater-2", "rater-3"]),
        ("system", "system", ["s0", "s1", "s2"]),
    ):
        without = [within(frame[frame[column] != name]) for name in names]
        ends = estimates.select("agreement_without_one", measure="pearson", left_out=unit)
        assert [e.value for e in ends] == pytest.approx([min(without), max(without)])
        assert ends[0].params["name"] == names[int(np.argmin(without))]


def test_the_difference_without_a_query() -> None:
    frame = simulated(queries=10, raters=3, judge_noise=4)
    whole = analyse(table(frame), options=QUICK).estimates
    for target in ("these_raters", "raters_like_these"):
        low, high = whole.select("difference_without_query", target=target)
        full = whole.first(
            "human_ceiling_difference",
            measure="kendall_tau_b", scope="within_query", target=target,
        )  # fmt: skip
        assert full is not None
        assert low.value <= full.value <= high.value
        for e in (low, high):
            rest = table(frame[frame["query_id"] != e.params["name"]])
            again = analyse(rest, options=QUICK).estimates.first(
                "human_ceiling_difference",
                measure="kendall_tau_b", scope="within_query", target=target,
            )  # fmt: skip
            assert again is not None
            assert (e.value, e.ci_low, e.ci_high) == pytest.approx(
                (again.value, again.ci_low, again.ci_high)
            )
