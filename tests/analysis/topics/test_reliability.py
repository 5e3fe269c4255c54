import math
import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import estimates_of
from analysis.topics.reliability.estimates import raters_per_response
from analysis.topics.reliability.section import SECTION
from tests.analysis.scores import POINTS, rows, simulated, table

QUICK = Options(resamples=200)
STARS = Scale(1, 5, 1, "ordinal")


def figures(frame: pd.DataFrame, scale: Scale | None = POINTS) -> EstimateList:
    context = Context(table(frame, scale), None, QUICK)
    return EstimateList(tuple(estimates_of(SECTION.statistics, context)))


def only_estimate(result: EstimateList, statistic: str, **where: object) -> Estimate:
    matching = result.select(statistic, **where)
    assert len(matching) == 1, (statistic, where, len(matching))
    return matching[0]


@pytest.fixture(scope="module")
def ragged() -> EstimateList:
    return figures(simulated(queries=40, missing=0.3))


def test_icc_has_six_forms_with_both_name_sets(ragged: EstimateList) -> None:
    names = {(e.params["form"], e.params["shrout_fleiss"]) for e in ragged.select("icc")}
    assert names == {
        ("1,1", "ICC(1,1)"), ("1,k", "ICC(1,k)"), ("A,1", "ICC(2,1)"), ("A,k", "ICC(2,k)"),
        ("C,1", "ICC(3,1)"), ("C,k", "ICC(3,k)"),
    }  # fmt: skip
    assert all(e.defined and e.params["k"] for e in ragged.select("icc"))
    assert all(e.has_interval != e.params["form"].startswith("1") for e in ragged.select("icc"))


def test_the_icc_counts_queries_that_two_raters_share() -> None:
    frame = simulated(queries=12)
    alone = (frame["scorer_kind"] == "human") & (frame["scorer"] != "rater-1")
    frame = frame[~(alone & frame["query_id"].isin(frame["query_id"].unique()[:5]))]
    shared = {e.n_queries for e in figures(frame).select("icc")}
    assert shared == {7}


def test_the_reliability_of_a_mean_grows_with_raters(ragged: EstimateList) -> None:
    curve = ragged.select("spearman_brown")
    assert [e.params["k"] for e in curve] == list(range(1, 11))
    assert curve[0].value == only_estimate(ragged, "icc", form="A,1").value
    assert all(a.value < b.value for a, b in pairwise(curve))
    assert all(e.ci_low < e.value < e.ci_high for e in curve)


def test_severities_are_found_where_they_were_planted() -> None:
    frame = simulated(queries=60)
    frame.loc[frame["scorer"] == "rater-2", "value"] -= 9
    frame["value"] = frame["value"].clip(0, 100)
    estimates = figures(frame)
    severe = [e for e in estimates.select("rater_severity") if e.scorers[0] == "rater-2"]
    single, joint = severe
    assert single.value == pytest.approx(-6, abs=1.2)
    assert single.ci_low < -6 < single.ci_high
    assert joint.ci_low < single.ci_low
    assert joint.params["interval"] == "simultaneous"
    raw, centered = (
        only_estimate(estimates, "alpha_by_scale_use", values=use).value
        for use in ("raw", "centered")
    )
    assert raw < centered
    assert raw == only_estimate(estimates, "krippendorff_alpha", level="interval").value


def test_drift_needs_positions_and_finds_the_slope() -> None:
    frame = simulated(queries=60)
    assert not figures(frame).select("rater_drift")
    people = frame["scorer_kind"] == "human"
    frame["position"] = frame.groupby("scorer").cumcount() + 1.0
    frame.loc[~people, "position"] = np.nan
    chosen = frame["scorer"] == "rater-3"
    frame.loc[chosen, "value"] = (
        frame.loc[chosen, "value"] - 0.1 * frame.loc[chosen, "position"]
    ).clip(0)
    result = [e for e in figures(frame).select("rater_drift") if e.scorers[0] == "rater-3"]
    assert result[0].value == pytest.approx(-0.1, abs=0.04)
    assert result[0].ci_high < 0


def test_repeats_are_given_for_people_and_judges() -> None:
    frame = simulated(queries=20)
    again = frame[frame["scorer"].isin(["judge", "rater-1"])].assign(repeat=1)
    again["value"] = np.where(again.index % 4 == 0, again["value"] - 1, again["value"]).clip(0)
    estimates = figures(pd.concat([frame.assign(repeat=0), again], ignore_index=True))
    assert {e.scorers for e in estimates.select("repeat_agreement")} == {("judge",), ("rater-1",)}
    equal = only_estimate(estimates, "repeat_agreement", scorer="judge", measure="share_equal")
    assert equal.value == pytest.approx(0.75, abs=0.02)
    assert equal.target is None
    assert equal.params["pairs"] == 60
    assert (
        only_estimate(estimates, "repeat_agreement", scorer="rater-1", measure="pearson").value
        > 0.99
    )
    assert (
        only_estimate(estimates, "repeat_agreement", scorer="rater-1", measure="pearson").n_raters
        == 1
    )


@pytest.mark.parametrize(("step", "defined"), [(5.0, True), (1.0, True), (None, False)])
def test_kappas_above_11_levels(step: float | None, defined: bool) -> None:
    """The whole points of a scale without a step are no categories."""
    frame = simulated(queries=20)
    frame["value"] = (step or 1) * np.round(frame["value"] / (step or 1))
    estimates = figures(frame, Scale(0, 100, step))
    plain = only_estimate(estimates, "conger_kappa", weights="unweighted")
    linear = only_estimate(estimates, "conger_kappa", weights="linear")
    assert plain.has_interval == defined
    assert linear.has_interval
    assert only_estimate(estimates, "weighted_kappa").has_interval
    if not defined:
        assert re.fullmatch(
            r"ratings have \d+ different values on a scale without a declared step: two are equal "
            "by coincidence only",
            str(plain.reason),
        )
    frame.loc[frame.index[frame["scorer"] == "rater-1"][0], "value"] = 47.3
    off = only_estimate(figures(frame, Scale(0, 100, 5)), "conger_kappa", weights="unweighted")
    assert re.fullmatch(r"\d+ different values are not on the scale's steps of 5", str(off.reason))


def test_coefficients_of_categories_need_few_levels(ragged: EstimateList) -> None:
    assert not ragged.select("fleiss_kappa")
    assert not ragged.select("gwet_ac")
    assert only_estimate(ragged, "weighted_kappa").defined
    stars = simulated(queries=30, missing=0.2)
    stars["value"] = np.clip(np.round(stars["value"] / 20), 1, 5)
    for scale in (STARS, None):
        estimates = figures(stars, scale)
        assert {e.params["weights"] for e in estimates.select("gwet_ac")} == {
            "unweighted",
            "quadratic",
        }
        assert only_estimate(estimates, "fleiss_kappa").params["levels"] == 5
        assert only_estimate(estimates, "brennan_prediger").has_interval
        assert (
            only_estimate(estimates, "gwet_ac", weights="quadratic").params["standard_error"]
            is not None
        )
    nominal = figures(stars, Scale(1, 5, 1, "nominal"))
    assert not nominal.select("weighted_kappa")
    assert not nominal.select("variance_component")
    assert not nominal.select("rater_severity")
    assert only_estimate(nominal, "fleiss_kappa").defined


def test_components_and_designs(ragged: EstimateList) -> None:
    names = [e.params["component"] for e in ragged.select("variance_component")]
    assert len(names) == 7
    assert all(e.defined for e in ragged.select("variance_component"))
    designs = ragged.select("system_difference_error", raters=3)
    errors = [e.value for e in designs]
    assert errors == sorted(errors, reverse=True)


def test_unconnected_raters_are_named() -> None:
    frame = simulated(queries=20, raters=4)
    number = frame["query_id"].str[1:].astype(int)
    early = frame["scorer"].isin(["rater-1", "rater-2"]) & (number >= 10)
    late = frame["scorer"].isin(["rater-3", "rater-4"]) & (number < 10)
    estimates = figures(frame[~(early | late)])
    for statistic in ("icc", "sem", "rater_severity", "spearman_brown"):
        e = next(e for e in estimates.select(statistic) if e.params.get("form") != "1,1")
        assert not e.defined
        assert "2 groups that share no response (rater-1, rater-2; rater-3, rater-4)" in str(
            e.reason
        )
    assert only_estimate(estimates, "icc", form="1,1").defined
    assert only_estimate(estimates, "alpha_by_scale_use", values="ranks").defined
    assert not only_estimate(estimates, "alpha_by_scale_use", values="centered").defined


def alone(frame: pd.DataFrame) -> pd.DataFrame:
    """Rater 3 rated one response, the first."""
    return frame[(frame["scorer"] != "rater-3") | (frame["response_id"] == "r0")]


def constant(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(value=50.0)


def empty(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(value=frame["value"].where(frame["scorer_kind"] == "judge"))


def without_judge(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["scorer"] != "judge"]


DEGENERATE: dict[str, pd.DataFrame] = {
    "a rater with one rating": alone(simulated()),
    "constant": constant(simulated()),
    "two items": simulated(queries=2, systems=1),
    "nothing rated": empty(simulated()),
    "one system": simulated(systems=1),
    "no system": simulated().drop(columns="system").drop_duplicates(["response_id", "scorer"]),
    "200 systems": simulated(queries=2, systems=200),
    "one query": simulated(queries=1),
    "one rater": simulated(raters=1),
    "no judge": without_judge(simulated()),
    "one rating": rows({}),
    "two equal ratings": rows({}, {"scorer": "ben"}),
    "mostly missing": simulated(missing=0.9),
    "70 raters": simulated(queries=3, raters=70),
}


@pytest.mark.parametrize("scale", [POINTS, None, Scale(0, 100, 1, "nominal")], ids=str)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_tables_give_reasons_and_no_warning(name: str, scale: Scale | None) -> None:
    for e in figures(DEGENERATE[name], scale):
        assert e.defined or e.reason, e
        assert not math.isinf(e.value)
        assert e.has_interval == (e.method is not None)


@pytest.mark.parametrize("factor", [0.01, 0.05, 0.1, 1.0])
def test_the_scale_makes_no_difference_to_what_has_no_unit(factor: float) -> None:
    frame = simulated(queries=20, missing=0.2)
    plain = figures(frame)
    scaled = figures(frame.assign(value=frame["value"] * factor), Scale(0, 100 * factor))
    for a, b in zip(plain, scaled, strict=True):
        if a.statistic in {"icc", "krippendorff_alpha", "weighted_kappa", "raw_agreement"}:
            assert b.value == pytest.approx(a.value, nan_ok=True, abs=1e-9)
        if a.statistic in {"sem", "rater_severity", "mean_absolute_difference"}:
            assert b.value == pytest.approx(factor * a.value, abs=1e-9)


def test_ratings_of_a_response_are_averaged_harmonically() -> None:
    ratings = np.full((5, 4), np.nan)
    for row, count in enumerate((1, 2, 4, 0, 4)):
        ratings[row, :count] = 50
    data: Any = SimpleNamespace(ratings=ratings)
    # 4 / (1 + 1/2 + 1/4 + 1/4), of the responses that were rated.
    assert raters_per_response(data) == pytest.approx(2)
    data.ratings = ratings[3:4]
    assert np.isnan(raters_per_response(data))
