from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.context import Context
from analysis.core.errors import TableError
from analysis.core.estimates import EstimateList
from analysis.topics.calibration.estimates import calibration
from tests.analysis.scores import POINTS, simulated, table

QUICK = Options(resamples=150)
Change = Callable[[pd.DataFrame], pd.DataFrame]


def estimates_of(frame: pd.DataFrame, scale: Scale | None = POINTS) -> EstimateList:
    return EstimateList(tuple(calibration(Context(table(frame, scale), None, QUICK))))


def test_a_kind_judge_is_brought_closer_by_a_line() -> None:
    estimates = estimates_of(simulated(queries=40))
    slope = estimates.first("recalibration_slope")
    assert slope is not None
    assert slope.ci_low < slope.value < 1.05
    change = estimates.first("recalibrated_mae_difference", method="linear")
    assert change is not None
    assert change.ci_high < 0
    square = estimates.first("calibration_error_squared")
    bound = estimates.first("calibration_error_squared_upper")
    assert square is not None
    assert bound is not None
    # 10 points too lenient.
    assert square.value == pytest.approx(100, abs=40)
    assert bound.value > square.value
    assert not square.has_interval
    assert len(estimates.select("reliability_bin")) == 10


def test_every_figure_names_the_judge_first_and_its_target() -> None:
    for e in estimates_of(simulated(queries=10)):
        assert e.scorers == ("judge", "rater-1", "rater-2", "rater-3")
        assert e.target == (None if e.statistic == "distinct_scores" else "these_raters")


def test_severe_and_lenient_raters_do_not_blur_a_favorite() -> None:
    rng = np.random.default_rng(3)
    queries, systems = 1500, 4
    n = queries * systems
    of = np.tile(np.arange(systems), queries)
    true = 60 + 5 * of + 10 * rng.normal(size=n)
    favor = np.array([-1.0, -1.0, -1.0, 3.0])
    base = pd.DataFrame(
        {
            "response_id": [f"r{i}" for i in range(n)],
            "query_id": [f"q{i // systems}" for i in range(n)],
            "system": [f"s{i}" for i in of],
            "construct": "QR",
        }
    )
    judge = true + favor[of] + 3 * rng.normal(size=n)
    parts = [base.assign(scorer="judge", scorer_kind="judge", value=judge)]
    for name, severity in (("mild", 3.0), ("harsh", -3.0)):
        value = true + severity + 5 * rng.normal(size=n)
        parts.append(base.assign(scorer=name, scorer_kind="human", value=value))
    scores = ScoreTable.from_frame(pd.concat(parts, ignore_index=True), {"QR": Scale(-50, 200)})
    effects = list(calibration(Context(scores, None, Options(resamples=100))))
    result = [e.value for e in effects if e.statistic == "error_by_system_given_human"]
    # Standard error about .15; with severities left in, the first is -0.1 and the last 2.3.
    assert result == pytest.approx(favor, abs=0.4)


def test_a_favorite_system_is_found_given_people() -> None:
    frame = simulated(queries=60, systems=3, judge_noise=3)
    chosen = (frame["scorer"] == "judge") & (frame["system"] == "s1")
    frame.loc[chosen, "value"] = (frame.loc[chosen, "value"] - 12).clip(lower=0)
    effects = estimates_of(frame).select("error_by_system_given_human")
    assert [e.systems for e in effects] == [("s0",), ("s1",), ("s2",)]
    assert effects[1].ci_high < 0 < effects[0].ci_low
    assert {e.params["noise"] for e in effects} == {"removed"}
    assert sum(e.value for e in effects) == pytest.approx(0)


def test_the_length_of_a_response_is_taken_from_the_table() -> None:
    frame = simulated(queries=30)
    assert not estimates_of(frame).select("error_by_length")
    number = frame["response_id"].str[1:].astype(int)
    frame["response_words"] = 2.0 ** (number % 5)
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] = frame.loc[judged, "value"] / 2 + 3 * (number % 5)
    rated = ~judged
    frame.loc[rated, "value"] /= 2
    e = estimates_of(frame).first("error_by_length")
    assert e is not None
    assert e.ci_low < 3 < e.ci_high
    assert e.n_responses == 90


def test_a_response_has_one_length_which_is_not_below_0() -> None:
    frame = simulated(queries=4).assign(response_words=5.0)
    frame.loc[0, "response_words"] = 6.0
    with pytest.raises(TableError, match="one response has 6 and 5 response_words"):
        table(frame)
    with pytest.raises(TableError, match="response_words is -1 in row 0"):
        table(frame.assign(response_words=-1.0).iloc[:1])


def test_without_a_common_scale_only_the_recalibration_is_given() -> None:
    frame = simulated(queries=20)
    frame.loc[frame["scorer"] == "judge", "value"] /= 100
    scores = ScoreTable.from_frame(frame, {"QR": POINTS}, {("judge", "QR"): Scale(0, 1)})
    estimates = EstimateList(tuple(calibration(Context(scores, None, QUICK))))
    slope = estimates.first("recalibration_slope")
    assert slope is not None
    assert "not a common scale" in str(slope.reason)
    raw = estimates.first("recalibrated_mae", method="raw")
    line = estimates.first("recalibrated_mae", method="linear")
    assert raw is not None
    assert line is not None
    assert not raw.defined
    assert line.value < 10
    assert not estimates.select("reliability_bin")


def without_ratings_of_s1(frame: pd.DataFrame) -> pd.DataFrame:
    gone = (frame["system"] == "s1") & (frame["scorer_kind"] == "human")
    return frame.assign(value=frame["value"].where(~gone))


DEGENERATE: dict[str, Change] = {
    "no systems": lambda f: f.drop(columns="system"),
    "a system without ratings": without_ratings_of_s1,
    "only the judge": lambda f: f[f["scorer"] == "judge"],
    "only people": lambda f: f[f["scorer"] != "judge"],
    "one rater": lambda f: f[f["scorer"].isin(["judge", "rater-1"])],
    "one query": lambda f: f[f["query_id"] == "q0"],
    "two responses": lambda f: f[f["response_id"].isin(["r0", "r1"])],
    "one response": lambda f: f[f["response_id"] == "r0"],
    "one system": lambda f: f[f["system"] == "s0"],
    "all constant": lambda f: f.assign(value=50.0),
    "all missing": lambda f: f.assign(value=np.nan),
    "a constant judge": lambda f: f.assign(value=f["value"].where(f["scorer"] != "judge", 100.0)),
    "constant people": lambda f: f.assign(value=f["value"].where(f["scorer"] == "judge", 100.0)),
    "only a metric": lambda f: f.assign(scorer_kind=f["scorer_kind"].replace("judge", "metric")),
    "empty responses": lambda f: f.assign(response_words=0.0),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_what_can_not_be_said_has_its_reason(name: str) -> None:
    for scale in (POINTS, None):
        for e in estimates_of(DEGENERATE[name](simulated(queries=8, missing=0.1)), scale):
            assert e.defined or e.reason
            assert e.has_interval or e.ci_level is None


def test_against_an_adjudicated_value_levels_are_not_split() -> None:
    frame = simulated(queries=20)
    frame.loc[frame["scorer"] == "rater-1", "scorer_kind"] = "adjudicated"
    options = Options(resamples=150, reference="adjudicated")
    estimates = EstimateList(tuple(calibration(Context(table(frame), None, options))))
    assert {e.params["split"] for e in estimates.select("error_by_level")} == {"none"}
    assert {e.scorers for e in estimates} == {("judge", "rater-1")}


def test_calibration_with_the_same_seed_has_the_same_figures() -> None:
    frame = simulated(queries=20, missing=0.2)
    first, second = ([e.as_json() for e in estimates_of(frame)] for _ in range(2))
    assert first == second
