"""Which systems differ: the records of tests, powers, differences and hypotheses."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.core.estimates import Estimate, EstimateList
from analysis.core.options import Options
from analysis.core.resampling import PERCENTILE_FROM
from analysis.pipeline.estimation import _context
from analysis.statistics.discrimination.tukey import randomized_tukey_hsd
from analysis.topics.discrimination.estimates import PAIRS_LISTED, discrimination
from study.base.hypotheses import Hypothesis
from tests.analysis.scores import simulated, table


def records(frame: pd.DataFrame, **options: Any) -> EstimateList:
    chosen = Options(resamples=200, **options)
    return EstimateList(tuple(discrimination(_context(table(frame), None, chosen, None))))


def better(frame: pd.DataFrame, system: str, by: float) -> pd.DataFrame:
    """A table in which one system is better, at the end of the scale or not."""
    value = frame["value"] + by * (frame["system"] == system)
    return frame.assign(value=value.clip(0, 100))


def only_estimate(result: EstimateList, statistic: str, *systems: str, **where: Any) -> Estimate:
    (record,) = [e for e in result.select(statistic, **where) if e.systems == systems]
    return record


def test_p_is_that_of_the_scores_by_query_and_system() -> None:
    frame = better(simulated(queries=25), "s0", 12)
    estimates = records(frame, seed=3)
    judged = frame[frame["scorer"] == "judge"]
    cells = judged.pivot_table(index="query_id", columns="system", values="value", sort=False)
    direct = randomized_tukey_hsd(cells[["s0", "s1", "s2"]].to_numpy(), seed=3)
    tests = list(estimates.select("randomized_tukey_hsd_p", scorer="judge"))
    assert [e.value for e in tests] == direct.p.tolist()
    assert [e.params["difference"] for e in tests] == pytest.approx(direct.difference.tolist())
    assert [e.systems for e in tests] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert all(e.n_queries == 25 and e.n_responses == 50 and e.target is None for e in tests)
    power = only_estimate(estimates, "discriminative_power", scorer="judge")
    assert power.value == direct.power()
    assert power.params["significant"] == int((direct.p < 0.05).sum())
    assert power.params["pairs"] == 3


def test_a_judge_is_also_compared_on_the_responses_that_people_rated() -> None:
    frame = simulated(queries=20)
    unrated = frame["query_id"].isin([f"q{i}" for i in range(8)]) & (
        frame["scorer_kind"] == "human"
    )
    estimates = records(frame[~unrated])
    powers = estimates.select("discriminative_power", scorer="judge")
    assert {(e.params["on"], e.n_queries) for e in powers} == {("all", 20), ("rated", 12)}
    people = only_estimate(estimates, "discriminative_power", on="rated", of="mean_of_raters")
    assert (people.n_queries, people.n_raters) == (12, 3)
    # Pairs of a judge are listed once.
    assert len(estimates.select("randomized_tukey_hsd_p", scorer="judge")) == 3


def test_a_response_of_two_systems_counts_for_both() -> None:
    frame = simulated(queries=10, systems=2, raters=0)
    twice = frame[frame["system"] == "s0"].assign(system="s9")
    estimates = records(pd.concat([frame, twice], ignore_index=True))
    same = only_estimate(estimates, "randomized_tukey_hsd_p", "s0", "s9")
    assert same.params["difference"] == 0
    assert same.params["one_sided"] == 0.5
    assert same.value == 1
    difference = only_estimate(estimates, "system_difference", "s0", "s9")
    assert difference.value == 0
    assert "no spread" in str(difference.reason)


def test_differences_are_paired_and_their_intervals_wider_than_one_alone() -> None:
    frame = simulated(queries=40, systems=4, raters=0)
    gone = (frame["system"] == "s3") & frame["query_id"].isin([f"q{i}" for i in range(15)])
    frame.loc[gone, "value"] = np.nan
    estimates = records(frame)
    record = only_estimate(estimates, "system_difference", "s0", "s3")
    cells = frame.pivot_table(index="query_id", columns="system", values="value")
    apart = (cells["s0"] - cells["s3"]).dropna()
    assert record.value == pytest.approx(apart.mean())
    assert (record.n_queries, record.n_responses, record.n_dropped) == (25, 50, 15)
    assert record.method == "max_t_jackknife"
    alone = 2.06 * apart.std() / 5
    assert record.ci_high - record.value > alone
    assert record.params["simultaneous"] == 6


def test_from_many_queries_on_the_bootstrap_carries_the_intervals() -> None:
    record = records(simulated(queries=PERCENTILE_FROM, raters=1)).select("system_difference")[0]
    assert record.method == "max_t_bootstrap"
    assert record.ci_low < record.value < record.ci_high


def test_hypotheses_are_tested_by_each_judge_and_adjusted_together() -> None:
    frame = better(simulated(queries=40, constructs=("QR", "CC")), "s1", 25)
    right = Hypothesis("right", (("s1", "s0"), ("s1", "s2")))
    wrong = Hypothesis("wrong", (("s0", "s1"),), constructs=("QR",))
    people = Hypothesis("people", (("s1", "s0"),), scorer="mean_of_raters")
    estimates = records(frame, hypotheses=(right, wrong, people))
    by_name = {e.params["hypothesis"]: e for e in estimates.select("hypothesis_p")}
    assert by_name["right"].value < 0.001
    assert by_name["right"].params["holm"] == pytest.approx(2 * by_name["right"].value)
    assert by_name["right"].params["tests"] == 4
    assert by_name["wrong"].value > 0.99
    assert by_name["people"].params["holm"] == by_name["people"].value
    assert len(by_name["people"].scorers) == 3


def test_a_hypothesis_without_scores_has_its_reason() -> None:
    frame = simulated(queries=6)
    frame.loc[(frame["system"] == "s2") & (frame["scorer"] == "judge"), "value"] = np.nan
    claims = (Hypothesis("H", (("s0", "s2"),)), Hypothesis("K", (("s0", "s1"),), scorer="EM"))
    by_name = {
        e.params["hypothesis"]: e for e in records(frame, hypotheses=claims).select("hypothesis_p")
    }
    assert by_name["H"].reason == "judge has no test of s0 against s2 on QR"
    assert by_name["K"].reason == "EM has no scores of systems to test it with"


def test_systems_without_scores_and_a_single_one_have_reasons() -> None:
    frame = simulated(queries=6, raters=0)
    frame.loc[frame["system"] == "s2", "value"] = np.nan
    estimates = records(frame)
    assert (
        only_estimate(estimates, "randomized_tukey_hsd_p", "s0", "s2").reason == "no scores of s2"
    )
    assert only_estimate(estimates, "system_difference", "s1", "s2").reason == "no scores of s2"
    alone = records(simulated(systems=1, raters=0))
    assert [e.statistic for e in alone] == ["discriminative_power"]
    assert alone.records[0].reason == "a comparison needs 2 systems with scores"


def test_a_table_without_systems_has_no_records() -> None:
    assert not list(records(simulated().drop(columns="system")))


def test_pairs_of_many_systems_are_summed_up_only() -> None:
    frame = simulated(queries=3, systems=60, raters=0)
    estimates = records(frame)
    assert PAIRS_LISTED < 60 * 59 // 2
    assert "1,770 pairs of 60 systems" in str(estimates.select("randomized_tukey_hsd_p")[0].reason)
    assert estimates.select("discriminative_power")[0].params["pairs"] == 1770
    assert not estimates.select("system_difference")
