import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse
from analysis.core.computation import one_blas_thread
from analysis.core.context import Context
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import estimates_of
from analysis.topics.agreement.section import SECTION
from tests.analysis.scores import simulated, table
from tests.benchmarks.report_paper_size import CONSTRUCTS, simulated_scores

QUICK = Options(resamples=200)


def agreement(context: Context) -> Iterator[Estimate]:
    return estimates_of(SECTION.statistics, context)


def agreement_of(frame: pd.DataFrame, scale: Scale | None = None, **options: float) -> EstimateList:
    scores = table(frame, scale or Scale(0, 100))
    return EstimateList(tuple(agreement(Context(scores, None, replace(QUICK, **options)))))


def wide(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The judge's scores and the mean of raters, by response."""
    of = frame.pivot_table(index="response_id", columns="scorer", values="value", sort=False)
    return of["judge"].to_numpy(), of.drop(columns="judge").mean(axis=1).to_numpy()


def test_values_differ_by_the_planted_kindness_and_the_limits_follow() -> None:
    frame = simulated(queries=40, kindness=12)
    estimates = agreement_of(frame)
    judge, people = wide(frame)
    apart = judge - people
    bias = estimates.first("bland_altman_bias")
    upper = estimates.first("bland_altman_upper")
    assert bias is not None
    assert upper is not None
    assert bias.value == pytest.approx(apart.mean())
    assert upper.value == pytest.approx(apart.mean() + 1.96 * apart.std(ddof=1))
    assert upper.ci_low < upper.value < upper.ci_high
    assert {e.scope for e in estimates.select("ccc")} == {
        "pooled",
        "between_queries",
        "within_query",
        "system_level",
    }
    within = estimates.first("ccc", scope="within_query")
    pooled = estimates.first("ccc", scope="pooled")
    assert within is not None
    assert pooled is not None
    assert within.value > pooled.value


def test_kappas_stand_beside_the_raters_own_on_a_scale_of_few_levels() -> None:
    frame = simulated(queries=30)
    frame["value"] = (frame["value"] / 25).round() + 1
    records = agreement_of(frame, Scale(1, 5, 1)).select("cohen_kappa", weights="quadratic")
    assert [e.params["between"] for e in records] == ["judge_rater", "rater_rater"]
    assert all(e.has_interval for e in records)
    frame.loc[frame["scorer"] == "judge", "value"] += 0.5
    off = agreement_of(frame, Scale(1, 6, 1)).first("cohen_kappa", between="judge_rater")
    assert off is not None
    assert off.reason == "90 of its scores are not on the scale's levels"
    assert not agreement_of(simulated()).select("cohen_kappa")


def test_without_a_common_scale_only_orders_are_compared() -> None:
    estimates = EstimateList(tuple(agreement(Context(table(simulated(), None), None, QUICK))))
    assert not any(e.defined for e in estimates.select("ccc"))
    assert estimates.select("alt_test_winning_rate")[0].reason
    accuracy = estimates.first("pairwise_accuracy", calibration="none", scope="within_query")
    assert accuracy is not None
    assert accuracy.defined


def test_pairwise_accuracy_is_raw_calibrated_and_out_of_fold() -> None:
    records = agreement_of(simulated(queries=40)).select("pairwise_accuracy", scope="within_query")
    assert [e.params["calibration"] for e in records] == ["none", "in_sample", "out_of_fold"]
    raw, best, outside = (e.value for e in records)
    assert best >= raw
    assert best >= outside - 0.02
    assert records[2].params["tie_threshold"] is None
    assert records[0].params["pairs"] == 40 * 3


def test_decisions_on_systems_say_who_finds_the_difference() -> None:
    frame = simulated(queries=60, systems=3)
    judged = (frame["scorer"] == "judge") & (frame["system"] == "s1")
    frame.loc[judged, "value"] = np.clip(frame.loc[judged, "value"] - 25, 0, 100)
    estimates = agreement_of(frame)
    whole = estimates.first("decision_agreement")
    assert whole is not None
    assert whole.params["pairs"] == 3
    assert whole.params["judge_only"] == 2
    assert whole.value == pytest.approx(1 / 3)
    each = {e.systems: e for e in estimates.select("decision")}
    assert each["s0", "s1"].params["decision"] == "judge_only"
    assert float(str(each["s0", "s1"].params["judge_low"])) > 0
    soft = estimates.first("soft_pairwise_accuracy")
    assert soft is not None
    assert soft.value < 0.8


def test_the_alternative_annotator_test_has_a_constant_judge_beside_it() -> None:
    estimates = agreement_of(simulated(queries=40, kindness=0, judge_noise=1))
    rates = estimates.select("alt_test_winning_rate", alignment="rmse")
    assert [e.scorers[0] for e in rates] == ["judge", "constant"]
    assert [e.params["passed"] for e in rates] == ["yes", "no"]
    assert rates[0].params["epsilon"] == 0.15
    strict = agreement_of(simulated(queries=40, kindness=0, judge_noise=9), alt_test_epsilon=0.0)
    assert strict.select("alt_test_winning_rate")[0].params["passed"] == "no"


def test_a_pass_is_withheld_where_the_constant_passes() -> None:
    frame = simulated(queries=60)
    rng = np.random.default_rng(0)
    rated = frame["scorer_kind"] == "human"
    frame.loc[rated, "value"] = rng.integers(40, 61, rated.sum())
    frame.loc[~rated, "value"] = 50
    rates = agreement_of(frame).select("alt_test_winning_rate", alignment="rmse")
    assert [e.params["passed"] for e in rates] == ["withheld", "yes"]
    assert "constant" in str(rates[0].params["note"])


def test_too_few_raters_are_told_why() -> None:
    rate = agreement_of(simulated(queries=40, raters=2)).first("alt_test_winning_rate")
    assert rate is not None
    assert rate.reason is not None
    assert "needs 3 raters" in rate.reason


def test_non_inferiority_and_equivalence_are_tested_at_declared_margins_only() -> None:
    frame = simulated(queries=40, kindness=3, judge_noise=3)
    assert not agreement_of(frame).select("non_inferiority")
    assert not agreement_of(frame).select("equivalence_p")
    estimates = agreement_of(frame, non_inferiority_margin=0.2, bias_margin=10.0)
    tested = estimates.first("non_inferiority", scope="within_query")
    assert tested is not None
    assert tested.params["non_inferior"] == "yes"
    assert tested.ci_level == pytest.approx(0.9)
    assert tested.ci_low > -0.2
    equal = estimates.first("equivalence_p")
    assert equal is not None
    assert equal.value < 0.05
    assert equal.params["equivalent"] == "yes"
    narrow = agreement_of(frame, bias_margin=0.5).first("equivalence_p")
    assert narrow is not None
    assert narrow.params["equivalent"] == "no"


def test_the_difference_that_is_tested_is_that_of_the_ceiling() -> None:
    scores = table(simulated(queries=40))
    estimates = analyse(
        scores, options=Options(resamples=200, non_inferiority_margin=0.1)
    ).estimates
    for scope in ("pooled", "within_query"):
        tested = estimates.first("non_inferiority", scope=scope)
        ceiling = estimates.first("human_ceiling_difference", scope=scope, measure="kendall_tau_b")
        assert tested is not None
        assert ceiling is not None
        assert tested.value == ceiling.value
        # One-sided at the report's level: narrower than the two-sided interval.
        assert ceiling.ci_low < tested.ci_low < tested.value


def test_against_an_adjudicated_value_nothing_is_said_of_raters() -> None:
    frame = simulated(queries=40)
    settled = frame[frame["scorer"] == "rater-1"].assign(
        scorer="settled", scorer_kind="adjudicated"
    )
    options = Options(resamples=200, reference="adjudicated", non_inferiority_margin=0.1)
    context = Context(table(pd.concat([frame, settled])), None, options)
    estimates = EstimateList(tuple(agreement(context)))
    assert not estimates.select("alt_test_winning_rate")
    assert not estimates.select("pearson_disattenuated")
    tested = estimates.first("non_inferiority")
    assert tested is not None
    assert "adjudicated" in str(tested.reason)
    assert estimates.select("ccc")[0].defined


def test_correction_for_error_has_no_interval_with_missing_ratings() -> None:
    whole = agreement_of(simulated(queries=40)).first("pearson_disattenuated")
    assert whole is not None
    assert whole.has_interval
    gaps = agreement_of(simulated(queries=40, missing=0.2)).first("pearson_disattenuated")
    assert gaps is not None
    assert gaps.defined
    assert not gaps.has_interval
    assert "lack raters" in str(gaps.reason)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"non_inferiority_margin": 0.0}, "margin"),
        ({"non_inferiority_margin": 1.5}, "margin"),
        ({"bias_margin": -1.0}, "bias_margin"),
        ({"alt_test_epsilon": 1.0}, "epsilon"),
    ],
)
def test_margins_out_of_range_are_refused(options: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Options(**options)


def test_on_the_papers_size_it_takes_a_moment() -> None:
    from analysis.core.tables import ScoreTable

    scores = ScoreTable.from_frame(simulated_scores(), dict.fromkeys(CONSTRUCTS, Scale()))
    context = Context(scores, None, Options(resamples=10_000))
    context.rated  # noqa: B018  (worked out once, for everything)
    started = time.process_time()
    with one_blas_thread():
        list(agreement(context))
    # 1.2 s on 2 busy cores; the bound only catches a loop that should not be there.
    assert time.process_time() - started < 8
