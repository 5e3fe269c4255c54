import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.topics.missingness.estimates import missing
from tests.analysis.scores import POINTS, simulated, table


def refusing(queries: int = 60) -> pd.DataFrame:
    """The judge refuses the worse third of s0's responses, and one of s1's."""
    frame = simulated(queries=queries, judge_noise=2)
    judged = frame["scorer"] == "judge"
    s0 = judged & (frame["system"] == "s0")
    low = s0 & frame.index.isin(frame.loc[s0, "value"].nsmallest(queries // 3).index)
    low |= judged & (frame["response_id"] == "r1")
    frame["missing_reason"] = np.where(low, "refusal", None)
    return frame.assign(value=frame["value"].where(~low))


def estimates_of(frame: pd.DataFrame, scale: Scale | None = POINTS) -> EstimateList:
    context = Context(table(frame, scale), None, Options(resamples=100))
    return EstimateList(tuple(missing(context)))


def test_refusals_are_counted_by_system_and_differ() -> None:
    estimates = estimates_of(refusing())
    shares = {e.systems[0]: e for e in estimates.select("missing_share_by_system")}
    assert shares["s0"].value == pytest.approx(20 / 60)
    assert (shares["s1"].n_dropped, shares["s2"].value) == (1, 0.0)
    test = estimates.first("missing_differs_by_system")
    assert test is not None
    assert test.value < 0.01
    assert test.scorers == ("judge",)


def test_the_whole_mean_lies_within_the_bounds() -> None:
    whole = simulated(queries=60, judge_noise=2)
    of_scorer = whole[(whole["scorer"] == "judge") & (whole["system"] == "s0")]["value"]
    estimates = estimates_of(refusing())
    low, high = (
        estimates.first("mean_bounds", scope="system:s0", end=end) for end in ("low", "high")
    )
    assert low is not None
    assert high is not None
    assert low.value < of_scorer.mean() < high.value
    assert high.value - low.value == pytest.approx(100 / 3)


def test_missing_scores_gather_where_people_rate_low() -> None:
    bands = estimates_of(refusing()).select("missing_share_by_band")
    assert [e.params["band"] for e in bands] == [1, 2, 3]
    assert {e.params["of"] for e in bands} == {"human reference"}
    assert bands[0].value > 3 * bands[2].value
    assert sum(e.n_dropped for e in bands) == 21


def test_where_nobody_rated_what_is_missing_another_judge_is_asked() -> None:
    frame = refusing()
    gone = set(frame.loc[frame["value"].isna(), "response_id"])
    frame = frame[(frame["scorer_kind"] != "human") | ~frame["response_id"].isin(gone)]
    other = frame[frame["scorer"] == "judge"].assign(scorer="other", missing_reason=None)
    other["value"] = np.arange(len(other)) % 101
    bands = estimates_of(pd.concat([frame, other])).select("missing_share_by_band")
    assert {e.params["of"] for e in bands} == {"other"}


def test_without_a_scale_there_are_no_bounds() -> None:
    estimates = estimates_of(refusing(), None).select("mean_bounds")
    assert estimates
    assert all("no scale is declared" in str(e.reason) for e in estimates)


def test_what_raters_were_not_given_is_no_finding() -> None:
    frame = simulated(queries=20)
    gone = (frame["scorer"] == "rater-1") & (frame["system"] == "s0")
    frame["missing_reason"] = np.where(gone, "not_assigned", None)
    frame["value"] = frame["value"].where(~gone)
    assert not estimates_of(frame).select("missing_share_by_system")
    rows = frame[~gone]
    assert not estimates_of(rows).select("missing_share_by_system")


def test_complete_tables_have_nothing_to_say() -> None:
    assert len(estimates_of(simulated())) == 0


def test_tables_without_systems_or_values_have_reasons() -> None:
    for frame in (
        refusing().drop(columns="system"),
        refusing().assign(value=np.nan),
        refusing()[refusing()["response_id"] == "r1"],
    ):
        for e in estimates_of(frame):
            assert e.defined or e.reason
