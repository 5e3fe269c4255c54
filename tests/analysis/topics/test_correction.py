"""Corrected scores in a report: records, reasons, weights, and the page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse, write_report
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.tables import ScoreTable
from analysis.render.section import chapter
from analysis.topics.correction import section
from analysis.topics.correction.estimates import SYSTEMS_PAIRED, correction
from analysis.topics.correction.unseen_failures import PARAM
from tests.analysis.scores import POINTS, simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")


def partly_rated(frame: pd.DataFrame, queries: int) -> pd.DataFrame:
    """The frame with people's ratings of the first queries only."""
    number = frame["query_id"].str[1:].astype(int)
    return frame[(frame["scorer_kind"] != "human") | (number < queries)].reset_index(drop=True)


def corrected_of(scores: ScoreTable, options: Options | None = None) -> EstimateList:
    return EstimateList(tuple(correction(Context(scores, None, options or Options()))))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return partly_rated(simulated(queries=120, systems=3, kindness=10), 40)


def test_means_and_differences(frame: pd.DataFrame) -> None:
    estimates = corrected_of(table(frame))
    means = estimates.select("ppi_mean")
    assert [e.scope for e in means] == ["pooled", "system:s0", "system:s1", "system:s2"]
    assert [e.n_responses for e in means] == [120, 40, 40, 40]
    whole = simulated(queries=120, systems=3, kindness=10)
    people = whole[whole["scorer_kind"] == "human"]
    for e in means:
        of_scorer = people if e.scope == "pooled" else people[people["system"] == e.systems[0]]
        # The ratings that were withheld.
        assert e.ci_low < of_scorer["value"].mean() < e.ci_high
        assert e.params["judge_mean"] > e.ci_high
        assert e.params["target_population"] == "queries like these"
        assert e.target == "these_raters"
        assert e.n_raters == 3
    pairs = estimates.select("ppi_difference", scope="system_level")
    assert [e.systems for e in pairs] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    # Lambda of a difference is its own, so differences need not be those of the means.
    for e in pairs:
        of = {m.systems: m.value for m in means}
        expected = of[e.systems[:1]] - of[e.systems[1:]]
        assert e.value == pytest.approx(expected, abs=2)
    alone = estimates.select("weighted_human_mean", scope="system:s0")[0]
    saved = estimates.select("labels_saved", scope="system:s0")[0]
    single = means[1]
    ratio = (alone.ci_high - alone.ci_low) / (single.ci_high - single.ci_low)
    assert saved.value == pytest.approx(40 * ratio**2 - 40)
    needed = estimates.select("labels_needed", scope="system:s0")
    assert needed[0].params["half_width"] == 5


def test_wanted_width_in_points(frame: pd.DataFrame) -> None:
    estimates = corrected_of(table(frame), Options(target_width=2.5))
    wide = corrected_of(table(frame), Options(target_width=10))
    for few, many in zip(
        wide.select("labels_needed"), estimates.select("labels_needed"), strict=True
    ):
        assert many.params["half_width"] == 2.5
        assert not many.defined or many.value > few.value


def test_more_ratings_than_there_are_responses_are_not_asked_for(frame: pd.DataFrame) -> None:
    wanted = corrected_of(table(frame), Options(target_width=2.2)).select("labels_needed")
    pools = {
        e.scope: int(str(e.params["pool"]))
        for e in corrected_of(table(frame), Options()).select("ppi_mean")
    }
    for e in wanted:
        if e.defined and e.scope in pools:
            assert e.value <= pools[e.scope]
    assert any("not even ratings of all" in str(e.reason) for e in wanted)


def test_a_judge_on_another_scale_is_corrected_from_thirty_labels(frame: pd.DataFrame) -> None:
    other = frame.copy()
    judged = other["scorer"] == "judge"
    other.loc[judged, "value"] /= 100
    scales = {("judge", "QR"): Scale(0, 1)}

    def of(part: pd.DataFrame) -> EstimateList:
        return corrected_of(ScoreTable.from_frame(part, {"QR": POINTS}, scales))

    plain = corrected_of(table(frame))
    for e, same in zip(of(other).select("ppi_mean"), plain.select("ppi_mean"), strict=True):
        # On one scale lambda is averaged with 1 as well.
        assert e.value == pytest.approx(same.value, abs=0.2)
        assert e.ci_low == pytest.approx(same.ci_low, abs=0.3)
        assert 100 * float(str(same.params["lambda"])) > float(str(e.params["lambda"])) > 50
    few = of(partly_rated(other, 5)).select("ppi_mean", scope="system:s0")[0]
    assert "too few labels" in str(few.reason)
    assert "common scale" in str(few.reason)


def test_sampling_probabilities_weigh(frame: pd.DataFrame) -> None:
    weighed = frame.copy()
    number = weighed["query_id"].str[1:].astype(int)
    human = weighed["scorer_kind"] == "human"
    weighed["inclusion_prob"] = np.where(human & (number < 20), 0.8, np.where(human, 0.2, 1.0))
    selected = corrected_of(table(weighed)).select("weighted_human_mean", scope="system:s0")[0]
    of_scorer = weighed[human & (weighed["system"] == "s0")]
    expected = np.average(of_scorer["value"], weights=1 / of_scorer["inclusion_prob"])
    assert selected.value == pytest.approx(expected)


def test_missing_judge_scores_are_counted_and_stay(frame: pd.DataFrame) -> None:
    refused = frame.copy()
    bad = (refused["scorer"] == "judge") & (refused["value"] < 45)
    refused["missing_reason"] = np.where(bad, "refused", None)
    refused.loc[bad, "value"] = np.nan
    estimate = corrected_of(table(refused)).first("ppi_mean", scope="pooled")
    before = corrected_of(table(frame)).first("ppi_mean", scope="pooled")
    assert estimate is not None
    assert before is not None
    assert estimate.params["judge_missing"] == bad.sum()
    assert estimate.value == pytest.approx(before.value, abs=2.5)
    # The judge's mean of what is left is far too high, and speaks of other responses.
    assert float(str(estimate.params["judge_mean"])) > before.value + 10


def only(result: EstimateList) -> Estimate:
    assert len(result) == 1
    return result.records[0]


def test_a_table_without_anything_to_correct() -> None:
    everything = only(corrected_of(table(simulated())))
    assert "no correction is needed" in str(everything.reason)
    judged = simulated()
    nobody = only(corrected_of(table(judged[judged["scorer_kind"] == "judge"])))
    assert nobody.reason == "no human rating on QR"
    assert not corrected_of(table(judged[judged["scorer_kind"] == "human"])).records


@pytest.mark.parametrize("unrated", [1, 2])
def test_nearly_everything_rated(unrated: int) -> None:
    """Of 240 responses the judge scores the unrated as it does on average.

    A lambda tuned on their spread is 164 with one unrated and 89 with two: a mean of 54.8 [52.7,
    56.9] that "saves 201 further rated responses", where the ratings alone give 54.3 [51.5, 57.2].
    """
    rng = np.random.default_rng(52)
    people = 52.8 + 23.7 * rng.standard_normal(240)
    judge = people + 12 * rng.standard_normal(240)
    judge[:unrated] = judge.mean() + 0.5
    frame = pd.DataFrame(
        {
            "response_id": np.tile([f"r{i}" for i in range(240)], 2),
            "query_id": np.tile([f"q{i}" for i in range(240)], 2),
            "system": "s0",
            "construct": "QR",
            "scorer": np.repeat(["rater-1", "judge"], 240),
            "scorer_kind": np.repeat(["human", "judge"], 240),
            "value": np.clip(np.r_[people, judge], 0, 100),
        }
    ).drop(index=range(unrated))
    analysis = analyse(table(frame), options=Options(resamples=100))
    for scope in ("pooled", "system:s0"):
        mean, alone = (
            analysis.estimates.select(name, scope=scope)[0]
            for name in ("ppi_mean", "weighted_human_mean")
        )
        assert (mean.value, mean.ci_low, mean.ci_high) == (alone.value, alone.ci_low, alone.ci_high)
        assert mean.params["lambda"] == 0
        assert mean.params["target_population"] == "queries like these"
        assert analysis.estimates.select("labels_saved", scope=scope)[0].value == 0
    part = chapter(section.SECTION, analysis)
    assert part is not None
    rated = f"{240 - unrated} of 240 responses are rated"
    assert part.reading[0].endswith(f"these are the ratings alone, since {rated}.")
    assert not any("save" in sentence for sentence in part.reading)


def test_failures_that_nobody_rated() -> None:
    frame = partly_rated(simulated(queries=120, systems=2), 20)
    number = frame["query_id"].str[1:].astype(int)
    failed = (frame["system"] == "s0") & (number >= 110)
    frame.loc[failed, "value"] = 0.0
    rated = ~failed & (frame["system"] == "s0")
    frame.loc[rated, "value"] = 60 + 0.4 * frame.loc[rated, "value"]
    analysis = analyse(table(frame), options=Options(resamples=100))
    for name in ("ppi_mean", "weighted_human_mean"):
        mean = analysis.estimates.select(name, scope="system:s0")[0]
        assert mean.defined
        assert not mean.has_interval
        assert "10 of 120 responses far outside" in str(mean.reason)
    difference = analysis.estimates.select("ppi_difference", scope="system_level")[0]
    assert not difference.has_interval
    saved = analysis.estimates.select("labels_saved", scope="system:s0")[0]
    assert saved.reason == analysis.estimates.select("ppi_mean", scope="system:s0")[0].reason


@pytest.mark.parametrize(("rated", "covers"), [(12, 0.69), (20, 0.69), (40, 0.84), (80, None)])
def test_failures_that_nothing_shows_are_stated(rated: int, covers: float | None) -> None:
    frame = partly_rated(simulated(queries=120, systems=2), rated)
    good = frame["system"] == "s0"
    frame.loc[good, "value"] = 60 + 0.4 * frame.loc[good, "value"]
    analysis = analyse(table(frame), options=Options(resamples=100))
    for name in ("ppi_mean", "weighted_human_mean"):
        mean, both_halves = (
            analysis.estimates.select(name, scope=f"system:s{number}")[0] for number in range(2)
        )
        assert mean.params.get(PARAM) == covers
        assert PARAM not in both_halves.params
    (shown,) = section.corrected_means(analysis)
    assert ("1 of 3 means: fewer than 75 responses are rated" in shown.caption) == bool(covers)


def test_one_system_wholly_rated() -> None:
    frame = partly_rated(simulated(queries=120, systems=2), 40)
    whole = simulated(queries=120, systems=2)
    frame = pd.concat([frame[frame["system"] == "s1"], whole[whole["system"] == "s0"]])
    estimates = corrected_of(table(frame))
    mean, other = (estimates.select("ppi_mean", scope=f"system:s{s}")[0] for s in range(2))
    alone = estimates.select("weighted_human_mean", scope="system:s0")[0]
    assert (mean.ci_low, mean.ci_high) == (alone.ci_low, alone.ci_high)
    assert mean.params["target_population"] == other.params["target_population"]
    assert 0 < float(str(other.params["lambda"])) < 2
    assert estimates.select("ppi_difference", scope="system_level")[0].has_interval


def test_a_system_without_ratings_and_many_systems() -> None:
    frame = partly_rated(simulated(queries=30, systems=3), 12)
    left = frame[(frame["scorer_kind"] == "judge") | (frame["system"] != "s1")]
    estimates = corrected_of(table(left))
    assert estimates.select("ppi_mean", scope="system:s1")[0].reason == "no labeled response"
    assert estimates.select("ppi_mean", scope="system:s0")[0].has_interval
    assert estimates.select("labels_needed", scope="system:s1")[0].reason == "no labeled response"
    many = partly_rated(simulated(queries=4, systems=SYSTEMS_PAIRED + 1), 2)
    refused = corrected_of(table(many)).select("ppi_difference")
    assert len(refused) == 1
    assert "more than" in str(refused[0].reason)


def test_crowded_ratings_carry_their_measured_coverage() -> None:
    frame = partly_rated(simulated(queries=120, systems=2), 30)
    human = frame["scorer_kind"] == "human"
    number = frame["query_id"].str[1:].astype(int)
    frame.loc[human & (number % 6 > 0), "value"] = 100.0
    estimates = corrected_of(table(frame))
    crowded = estimates.select("weighted_human_mean", scope="system:s0")[0]
    assert crowded.params["measured_coverage"] == 0.92
    assert "measured_coverage" not in estimates.select("ppi_mean", scope="system:s0")[0].params


@pytest.mark.parametrize("scale", [POINTS, None])
def test_the_section_of_corrected_means(
    frame: pd.DataFrame, scale: Scale | None, tmp_path: Path
) -> None:
    analysis = analyse(table(frame, scale), options=Options(resamples=100))
    part = chapter(section.SECTION, analysis)
    assert part is not None
    assert "people would give all responses" in part.reading[0]
    assert {t.key for t in part.tables} == {"corrected-means", "corrected-differences-1"}
    assert [f.key for f in part.figures] == ["corrected-means"]
    write_report(analysis, tmp_path)
    records = json.loads((tmp_path / "report.json").read_text())["estimates"]
    assert any(r["statistic"] == "ppi_mean" and r["value"] for r in records)
    assert ("its scores save" in part.reading[0]) is True


def test_orders_that_change_are_named() -> None:
    frame = partly_rated(simulated(queries=200, systems=2, judge_noise=3), 60)
    judged = (frame["scorer"] == "judge") & (frame["system"] == "s0")
    turned = frame.copy()
    turned.loc[judged, "value"] = np.clip(turned.loc[judged, "value"] - 15, 0, 100)
    better = frame["system"] == "s0"
    human = frame["scorer_kind"] == "human"
    turned.loc[human & better, "value"] = np.clip(turned.loc[human & better, "value"] + 8, 0, 100)
    part = chapter(section.SECTION, analyse(table(turned), options=Options(resamples=100)))
    assert part is not None
    assert any("reverses the judge's order" in sentence for sentence in part.reading)
    same = chapter(section.SECTION, analyse(table(frame), options=Options(resamples=100)))
    assert same is not None
    assert any("order after correction" in sentence for sentence in same.reading)
