"""Constructs among each other in the list of estimates."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import estimates_of
from analysis.topics.validity.section import SECTION
from tests.analysis.scores import POINTS, rows, simulated, table

QUICK = Options(resamples=200)
KEYS = ("CC", "QR", "AC")


def validity(context: Context) -> Iterator[Estimate]:
    return estimates_of(SECTION.statistics, context)


def validity_of(
    frame: pd.DataFrame, options: Options = QUICK, scale: Scale | None = POINTS
) -> EstimateList:
    return EstimateList(tuple(validity(Context(table(frame, scale), None, options))))


def only_estimate(estimates: EstimateList, statistic: str, **where: str) -> Estimate:
    first = estimates.first(statistic, **where)
    assert first is not None, (statistic, where)
    return first


@pytest.fixture(scope="module")
def three() -> EstimateList:
    return validity_of(simulated(queries=30, constructs=KEYS))


def test_within_a_system_it_is_scipys_on_the_systems_responses(three: EstimateList) -> None:
    frame = simulated(queries=30, constructs=KEYS)
    wide = frame[(frame["scorer"] == "judge") & (frame["system"] == "s1")].pivot_table(
        index="response_id", columns="construct", values="value"
    )
    for measure, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_tau_b", stats.kendalltau),
    ):
        e = only_estimate(
            three, "construct_correlation", construct="QR", scope="system:s1", measure=measure
        )
        assert e.constructs == ("CC", "QR")
        assert e.value == pytest.approx(function(wide["CC"], wide["QR"])[0])
        assert e.has_interval
        alone = [
            x
            for x in three.select("construct_correlation", measure=measure)
            if x.constructs == ("CC", "QR")
        ]
        average = only_estimate(
            three, "construct_correlation_average", construct="QR", measure=measure
        )
        assert average.value == pytest.approx(
            np.tanh(np.mean([np.arctanh(x.value) for x in alone]))
        )
        assert average.params["n_systems"] == 3
        assert average.n_responses == 90


def test_pairs_computed_in_portions_have_the_same_figures(
    three: EstimateList, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.topics.validity.judge_constructs.SUMS_AT_ONCE", 1)
    again = validity_of(simulated(queries=30, constructs=KEYS))
    assert [estimate.value for estimate in again] == pytest.approx(
        [estimate.value for estimate in three], nan_ok=True
    )
    assert [estimate.ci_low for estimate in again] == pytest.approx(
        [estimate.ci_low for estimate in three], nan_ok=True
    )


def test_one_system_that_does_not_vary_leaves_no_average() -> None:
    frame = simulated(queries=12, constructs=("CC", "QR"))
    there = (frame["scorer"] == "judge") & (frame["system"] == "s2") & (frame["construct"] == "QR")
    frame.loc[there, "value"] = 100.0
    e = only_estimate(validity_of(frame), "construct_correlation_average", measure="pearson")
    assert np.isnan(e.value)
    assert e.reason == "QR of s2 does not vary over the 12 responses with both values"


def test_a_system_whose_constructs_are_the_same_has_no_z() -> None:
    frame = simulated(queries=12, constructs=("CC", "QR"))
    judged = (frame["scorer"] == "judge") & (frame["system"] == "s0")
    frame.loc[judged & (frame["construct"] == "QR"), "value"] = frame.loc[
        judged & (frame["construct"] == "CC"), "value"
    ].to_numpy()
    e = only_estimate(validity_of(frame), "construct_correlation_average", measure="pearson")
    assert e.reason == "the correlation of s0 is 1 or -1, so that Fisher's z has no average"


def test_a_system_without_scores_is_left_out_of_the_average() -> None:
    frame = simulated(queries=12, constructs=("CC", "QR"))
    frame.loc[(frame["scorer"] == "judge") & (frame["system"] == "s0"), "value"] = np.nan
    e = only_estimate(validity_of(frame), "construct_correlation_average", measure="pearson")
    assert e.params["n_systems"] == 2
    assert e.defined


def test_halo_is_same_less_cross(three: EstimateList) -> None:
    halo = only_estimate(three, "halo", construct="CC")
    same, cross = (
        next(
            e
            for e in three.select("human_construct_correlation", raters=raters)
            if e.constructs == halo.constructs
        )
        for raters in ("same", "cross")
    )
    assert halo.value == pytest.approx(same.value - cross.value)
    assert halo.has_interval
    assert halo.target == "these_raters"
    every = [e.value for e in three.select("halo")]
    assert only_estimate(three, "halo_average").value == pytest.approx(np.mean(every))


def test_the_matrix_holds_every_pair_of_variables(three: EstimateList) -> None:
    entries = three.select("mtmm_correlation")
    assert len(entries) == 6 * 5 / 2
    convergent = [e.value for e in entries if e.params["kind"] == "monotrait_heteromethod"]
    other = [e.value for e in entries if e.params["kind"] == "heterotrait_heteromethod"]
    assert len(convergent) == 3
    assert len(other) == 6
    assert only_estimate(three, "mtmm_convergent").value == pytest.approx(np.mean(convergent))
    assert only_estimate(three, "mtmm_discriminant").value == pytest.approx(
        np.mean(convergent) - np.mean(other)
    )
    assert only_estimate(three, "mtmm_smallest_eigenvalue").value > 0
    assert {e.params["items"] for e in entries} == {"common"}


def test_planted_traits_that_are_one_have_an_htmt_near_one() -> None:
    rng = np.random.default_rng(0)
    trait = 50 + 15 * rng.normal(size=400)
    parts = []
    for construct in ("CC", "QR"):
        for scorer, kind in (("judge", "judge"), ("ann", "human"), ("bob", "human")):
            value = np.clip(trait + 8 * rng.normal(size=400), 0, 100)
            parts.append(
                pd.DataFrame(
                    {
                        "response_id": [f"r{i}" for i in range(400)],
                        "query_id": [f"q{i // 2}" for i in range(400)],
                        "construct": construct,
                        "scorer": scorer,
                        "scorer_kind": kind,
                        "value": value,
                    }
                )
            )
    estimates = validity_of(pd.concat(parts))
    for methods in ("raters", "two"):
        e = only_estimate(estimates, "htmt", methods=methods)
        assert e.ci_low < 1 < e.ci_high
        assert e.value == pytest.approx(1, abs=0.06)
    # No system is named: correlations over all responses, and nothing to average.
    assert {e.scope for e in estimates.select("construct_correlation")} == {"pooled"}
    assert not estimates.select("construct_correlation_average")


def test_a_second_set_of_metrics() -> None:
    frame = simulated(queries=20, constructs=("CC", "QR"))
    judged = frame[(frame["scorer"] == "judge") & (frame["construct"] == "QR")]
    extra = judged.assign(construct="F", scorer="other-tool", scorer_kind="metric")
    options = Options(resamples=200, second_metrics=("F", "G"))
    estimates = validity_of(pd.concat([frame, extra]), options)
    unknown, *between = estimates.select("metric_set_correlation")
    assert unknown.reason == (
        "unknown construct or scorer G; the table has CC, QR, F, judge, other-tool"
    )
    assert [e.constructs for e in between] == [("CC", "F"), ("QR", "F")]
    assert between[0].value == pytest.approx(
        only_estimate(estimates, "construct_correlation_average", measure="pearson").value
    )
    assert "is 1 or -1" in str(between[1].reason)
    by_scorer = validity_of(
        pd.concat([frame, extra]), Options(resamples=200, second_metrics=("judge",))
    )
    assert len(by_scorer.select("metric_set_correlation")) == 2
    nothing = validity_of(frame, Options(resamples=200, second_metrics=("judge",)))
    assert "no construct is left" in str(only_estimate(nothing, "metric_set_correlation").reason)


def _odd() -> dict[str, pd.DataFrame]:
    base = simulated(queries=6, systems=2, constructs=("CC", "QR"))
    people = base["scorer_kind"] == "human"
    judge = base["scorer"] == "judge"
    many = simulated(queries=2, systems=200, raters=2, constructs=("CC", "QR"))
    apart = base[~people | ((base["scorer"] == "rater-1") == (base["system"] == "s0"))]
    return {
        "no systems": base.drop(columns="system"),
        "one system": base[base["system"] == "s0"],
        "no ratings": base[judge],
        "no judge": base[people],
        "one rater": base[~people | (base["scorer"] == "rater-1")],
        "raters apart": apart,
        "one rating each": base[judge | base["response_id"].isin(["r0"])],
        "only the judge scored QR": base[judge | (base["construct"] == "CC")],
        "only people scored QR": base[people | (base["construct"] == "CC")],
        "constant": base.assign(value=50.0),
        "one query": base[base["query_id"] == "q0"],
        "all missing": base.assign(value=np.nan, missing_reason="skipped"),
        "one construct": base[base["construct"] == "CC"],
        "one value": rows({}),
        "two hundred systems": many,
        "one construct a rater": base[
            ~people | ((base["scorer"] == "rater-1") == (base["construct"] == "CC"))
        ],
    }


@pytest.mark.parametrize("name", sorted(_odd()))
def test_odd_tables_give_reasons_not_errors(name: str) -> None:
    for e in validity_of(_odd()[name], Options(resamples=100, second_metrics=("QR",))):
        assert e.defined or e.reason, e
        assert (e.n_queries > 0) == (e.n_responses > 0), e
        assert e.has_interval or e.reason or e.statistic == "mtmm_smallest_eigenvalue", e


def test_the_scale_of_a_judge_changes_no_correlation_of_constructs() -> None:
    frame = simulated(queries=12, constructs=("CC", "QR"))
    half = frame.assign(
        value=np.where(frame["scorer"] == "judge", frame["value"] / 100, frame["value"])
    )
    scales = dict.fromkeys(("CC", "QR"), POINTS)
    by_name = {("judge", key): Scale(0, 1) for key in scales}
    moved = validity(Context(ScoreTable.from_frame(half, scales, by_name), None, QUICK))
    for first, second in zip(validity_of(frame), moved, strict=True):
        assert second.value == pytest.approx(first.value, abs=1e-9, nan_ok=True)


def test_the_whole_list_has_them() -> None:
    estimates = analyse(table(simulated(constructs=("CC", "QR"))), options=QUICK).estimates
    assert estimates.first("halo") is not None
