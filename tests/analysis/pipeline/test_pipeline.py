import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.errors import AnalysisError
from analysis.core.estimates import EstimateList
from analysis.core.resampling import PERCENTILE_FROM
from analysis.core.tables import PreferenceTable
from analysis.pipeline.estimation import completed, estimates, headline
from analysis.render.verdicts import verdicts
from study._manual.made_pages import report_ids
from tests.analysis.scores import POINTS, rows, simulated, table

QUICK = Options(resamples=200)


@pytest.fixture(scope="module")
def estimates_of_table() -> EstimateList:
    return analyse(table(simulated(queries=60, missing=0.2)), options=QUICK).estimates


def test_pooled_correlations_equal_scipys_on_the_means_of_raters(
    estimates_of_table: EstimateList,
) -> None:
    wide = simulated(queries=60, missing=0.2).pivot_table(
        index="response_id", columns="scorer", values="value"
    )
    reference = wide.drop(columns="judge").mean(axis=1)
    kept = reference.notna()
    x, y = wide.loc[kept, "judge"], reference[kept]
    expected = {
        "pearson": stats.pearsonr(x, y)[0],
        "spearman": stats.spearmanr(x, y.round(9))[0],
        "kendall_tau_b": stats.kendalltau(x, y.round(9))[0],
        "mae": (x - y).abs().mean(),
        "bias": (x - y).mean(),
    }
    for name, value in expected.items():
        estimate = estimates_of_table.first(name, scope="pooled", scorer="judge")
        assert estimate is not None
        assert estimate.value == pytest.approx(value, abs=1e-9), name
        assert estimate.ci_low < estimate.value < estimate.ci_high


def test_scopes_are_given_where_they_make_sense(estimates_of_table: EstimateList) -> None:
    scopes = {e.scope for e in estimates_of_table.select("pearson")}
    assert scopes == {
        "pooled",
        "between_queries",
        "within_query",
        "system_level",
        "system:s0",
        "system:s1",
        "system:s2",
    }
    assert estimates_of_table.first("bias", scope="within_query") is None


def test_the_bias_is_given_for_both_targets(estimates_of_table: EstimateList) -> None:
    these = estimates_of_table.first("bias", scope="pooled", target="these_raters")
    like = estimates_of_table.first("bias", scope="pooled", target="raters_like_these")
    assert these is not None
    assert like is not None
    assert like.value == pytest.approx(these.value)
    assert like.has_interval
    assert like.n_raters == 3


def test_the_ceiling_difference_is_the_difference_of_its_parts(
    estimates_of_table: EstimateList,
) -> None:
    for scope in ("pooled", "within_query"):
        judge, rater, difference = (
            estimates_of_table.first(name, scope=scope, measure="pearson")
            for name in ("judge_against_others", "human_ceiling", "human_ceiling_difference")
        )
        assert judge is not None
        assert rater is not None
        assert difference is not None
        assert difference.value == pytest.approx(judge.value - rater.value)
        # Joint resamples: narrower than the two intervals taken as independent.
        width = difference.ci_high - difference.ci_low
        apart = np.hypot(judge.ci_high - judge.ci_low, rater.ci_high - rater.ci_low)
        assert width < apart


def test_reliability_has_three_levels_and_six_forms(estimates_of_table: EstimateList) -> None:
    assert {e.params["level"] for e in estimates_of_table.select("krippendorff_alpha")} == {
        "nominal",
        "ordinal",
        "interval",
    }
    forms = {e.params["form"] for e in estimates_of_table.select("icc")}
    assert forms == {"1,1", "1,k", "A,1", "A,k", "C,1", "C,k"}
    assert {e.target for e in estimates_of_table.select("icc")} == {"raters_like_these"}


def test_every_undefined_figure_says_why_and_every_interval_how(
    estimates_of_table: EstimateList,
) -> None:
    for e in estimates_of_table:
        assert e.defined or e.reason
        if e.has_interval:
            assert e.method
            assert e.ci_level == QUICK.level


def test_a_report_with_the_same_seed_has_the_same_figures() -> None:
    scores = table(simulated(queries=PERCENTILE_FROM + 5, systems=2))
    first, second = (
        [e.as_json() for e in estimates(scores, options=Options(resamples=150, seed=seed))]
        for seed in (3, 3)
    )
    assert first == second
    other = [e.as_json() for e in estimates(scores, options=Options(resamples=150, seed=4))]
    assert other != first


def test_the_headline_holds_what_the_verdict_needs() -> None:
    scores = table(simulated(queries=12, constructs=("QR", "AC")))
    first = headline(scores, options=QUICK)
    whole = completed(first)
    assert verdicts(first) == verdicts(whole)
    assert len(first.estimates) < len(whole.estimates) / 4


def test_differences_need_a_common_scale() -> None:
    frame = simulated()
    undeclared = analyse(table(frame, scale=None), options=QUICK).estimates
    bias = undeclared.first("bias", scope="pooled")
    assert bias is not None
    assert not bias.defined
    assert "--scale QR=MIN:MAX" in str(bias.reason)
    frame.loc[frame["scorer"] == "judge", "value"] /= 100
    scores = ScoreTable.from_frame(frame, {"QR": POINTS}, {("judge", "QR"): Scale(0, 1)})
    records = analyse(scores, options=QUICK).estimates
    mae, pearson = records.first("mae", scope="pooled"), records.first("pearson", scope="pooled")
    assert mae is not None
    assert mae.reason == (
        "judge is on 0 to 1, people are on 0 to 100: not a common scale; map it with --map "
        "judge=linear or judge=thresholds"
    )
    assert pearson is not None
    assert pearson.defined


def test_an_adjudicated_reference_withholds_the_ceiling() -> None:
    frame = simulated()
    final = frame[frame["scorer"] == "rater-1"].assign(scorer="final", scorer_kind="adjudicated")
    options = Options(reference="adjudicated", resamples=200)
    records = analyse(table(pd.concat([frame, final])), options=options).estimates
    ceiling = records.first("human_ceiling", scope="pooled")
    assert ceiling is not None
    assert not ceiling.defined
    assert "adjudicated" in str(ceiling.reason)
    pearson = records.first("pearson", scope="pooled", scorer="judge")
    assert pearson is not None
    assert pearson.scorers == ("judge", "final")
    alpha = records.first("krippendorff_alpha", level="interval")
    assert alpha is not None
    assert alpha.n_raters == 3


def test_composed_ac_has_correlations_only() -> None:
    frame = simulated(constructs=("AC",))
    em = frame[frame["scorer"] == "judge"].assign(scorer="EM", scorer_kind="metric")
    em["value"] = np.where(np.arange(len(em)) % 5 == 0, 100.0, 0.0)
    records = analyse(table(pd.concat([frame, em])), options=QUICK).estimates
    name = "judge composed with EM (lambda 0.7)"
    assert {e.statistic for e in records.select(scorer=name)} == {
        "attainable_without_match",
        "pearson",
        "spearman",
        "kendall_tau_b",
    }
    largest = records.first("attainable_without_match")
    assert largest is not None
    assert largest.value == pytest.approx(30)
    matches = records.first("exact_matches", scope="pooled")
    assert matches is not None
    # Every fifth of 36 responses, the first among them: 0, 5, ..., 35.
    assert matches.value == 8


def test_em_on_0_to_1_beside_points_is_not_composed() -> None:
    frame = simulated(constructs=("AC",))
    em = frame[frame["scorer"] == "judge"].assign(scorer="EM", scorer_kind="metric")
    em["value"] = np.where(np.arange(len(em)) % 5 == 0, 1.0, 0.0)
    records = analyse(table(pd.concat([frame, em])), options=QUICK).estimates
    largest = records.first("attainable_without_match")
    assert largest is not None
    assert largest.reason == "an exact match is 1; on a scale of 0 to 100 it is 0 or 100"


def test_missing_values_are_counted_by_reason() -> None:
    frame = rows(
        {"value": None, "missing_reason": "skipped"},
        {"response_id": "r2"},
        {"response_id": "r2", "scorer": "bob"},
        {"response_id": "r3", "scorer": "bob"},
    )
    selected = analyse(table(frame), options=QUICK).estimates.select(
        "missing_share", scope="pooled"
    )
    counts = {(e.scorers[0], e.params["reason"]): (e.n_dropped, e.n_responses) for e in selected}
    assert counts == {
        ("ann", "skipped"): (1, 3),
        ("ann", "no row"): (1, 3),
        ("bob", "no row"): (1, 3),
    }


def test_every_figure_counts_what_it_rests_on() -> None:
    frame = simulated(queries=20, constructs=("QR", "AC"), missing=0.3)
    em = frame[(frame["scorer"] == "judge") & (frame["construct"] == "AC")]
    em = em.assign(scorer="EM", scorer_kind="metric", value=np.arange(60) % 2 * 100.0)
    em.loc[em["query_id"] == "q3", "value"] = np.nan
    records = analyse(table(pd.concat([frame, em])), options=QUICK).estimates
    people = frame[(frame["scorer_kind"] == "human") & (frame["construct"] == "QR")]
    rated = people.dropna(subset="value")
    first = rated[rated["scorer"] == "rater-1"]
    of_first = [
        e for e in records.select(construct="QR", scope="pooled") if e.scorers == ("rater-1",)
    ]
    described = [e for e in of_first if not e.statistic.startswith(("missing", "mean_b"))]
    assert len(described) == 5
    assert {(e.n_responses, e.n_dropped) for e in described} == {(len(first), 60 - len(first))}
    assert {e.n_queries for e in described} == {first["query_id"].nunique()}
    matches = records.first("exact_matches", scope="pooled")
    assert matches is not None
    assert (matches.n_responses, matches.n_queries, matches.n_dropped) == (57, 19, 3)
    icc = records.first("icc", construct="QR")
    assert icc is not None
    assert icc.n_dropped == 60 - rated["response_id"].nunique() > 0
    for e in records:
        assert (e.n_queries > 0) == (e.n_responses > 0), e


def test_a_share_of_none_or_all_has_a_reason_in_place_of_an_interval() -> None:
    frame = simulated()
    frame.loc[frame["scorer"] == "judge", "value"] = 100
    records = analyse(table(frame), options=QUICK).estimates
    for name, word in (("share_at_min", "none of"), ("share_at_max", "all")):
        share = records.first(name, scorer="judge", scope="pooled")
        assert share is not None
        assert (
            share.reason
            == f"{word} the scores are at this end: without variation there is no interval"
        )


def preference_frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    records = []
    for query in range(20):
        for scorer in ("ann", "bob"):
            records.append(
                {
                    "query_id": f"q{query}",
                    "response_a": f"r{3 * query}",
                    "response_b": f"r{3 * query + 1}",
                    "construct": "QR",
                    "scorer": scorer,
                    "scorer_kind": "human",
                    "value": int(rng.integers(-2, 3)),
                }
            )
    return pd.DataFrame(records)


def test_preferences_against_score_differences_repeat_each_pair_by_rater() -> None:
    preferred = preference_frame()
    frame = simulated(queries=20)
    compared = PreferenceTable.from_frame(preferred, Scale(-2, 2))
    records = analyse(table(frame), compared, QUICK).estimates
    score = frame[frame["scorer"] == "judge"].set_index("response_id")["value"]
    delta = (preferred["response_b"].map(score) - preferred["response_a"].map(score)).to_numpy()
    estimate = records.first("pearson", scorer="judge", on="preferences")
    assert estimate is not None
    assert estimate.n_responses == 40
    assert estimate.value == pytest.approx(stats.pearsonr(delta, preferred["value"])[0])
    wide = preferred.pivot_table(index="query_id", columns="scorer", values="value")
    near = records.first("agreement_within", tolerance=1.0)
    assert near is not None
    assert near.value == pytest.approx(((wide["ann"] - wide["bob"]).abs() <= 1).mean())
    between = records.first("spearman", scorer="ann", on="preferences")
    assert between is not None
    assert between.value == pytest.approx(stats.spearmanr(wide["ann"], wide["bob"])[0])


def test_raters_agreement_over_all_constructs_counts_every_pair() -> None:
    first = preference_frame()
    second = first.assign(construct="AC", value=0)
    compared = PreferenceTable.from_frame(pd.concat([first, second]), Scale(-2, 2))
    records = analyse(ScoreTable.from_frame(rows({}).iloc[:0]), compared, QUICK).estimates
    near = {e.constructs: e for e in records.select("agreement_within")}
    both = near["QR", "AC"]
    assert both.n_responses == 40
    # On AC all agree, so the share is half-way between that on QR and 1.
    assert both.value == pytest.approx((near["QR",].value + 1) / 2)


def test_two_empty_tables_are_refused() -> None:
    with pytest.raises(AnalysisError, match="no scores and no preferences"):
        analyse(table(rows({}).iloc[:0]))


def test_every_id_is_documented(estimates_of_table: EstimateList) -> None:
    documented = set(re.findall(r"`([a-z_0-9]+)`", report_ids()))
    assert {e.statistic for e in estimates_of_table} <= documented
    assert all(not math.isinf(e.value) for e in estimates_of_table)
