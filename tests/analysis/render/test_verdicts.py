"""Each sentence is tested on figures made by hand, so that its words are seen in full."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse
from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, EstimateList
from analysis.render.verdict_notes import reading
from analysis.render.verdicts import Verdict, verdicts
from study.base.scales import Level
from tests.analysis.claimed import with_claims, with_normal_p
from tests.analysis.scores import rows, simulated, table

QUICK = Options(resamples=200)


def with_figures(analysis: Analysis, **values: tuple[float, float, float]) -> Analysis:
    """The analysis with figures replaced: value, low, high by statistic (and target)."""

    def changed(e: Estimate) -> Estimate:
        for key in (f"{e.statistic}_{e.target}", e.statistic):
            if key in values:
                value, low, high = values[key]
                ends = {"ci_low": low, "ci_high": high, "ci_level": 0.95, "method": "m"}
                return with_normal_p(replace(e, value=value, **ends))
        return e

    estimates = EstimateList(tuple(map(changed, analysis.estimates)))
    return with_claims(replace(analysis, estimates=estimates))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(simulated(raters=5)), options=QUICK)


def only(analysis: Analysis) -> Verdict:
    shown = verdicts(analysis)
    assert len(shown) == 1
    return shown[0]


def test_the_sentence_of_the_design(analysis: Analysis) -> None:
    verdict = only(
        with_figures(
            analysis,
            judge_against_others=(0.41, 0.3, 0.5),
            human_ceiling=(0.55, 0.4, 0.6),
            human_ceiling_difference=(-0.14, -0.20, -0.08),
            bias=(11, 7, 15),
            share_at_max=(0.78, 0.7, 0.8),
        )
    )
    assert verdict.sentence == (
        "QR: within a query the judge orders responses less well than a rater like these does "
        "(tau-b .41 against .55, difference -.14 [-.20, -.08]); it is 11 points too lenient "
        "[7, 15] and 78% of its scores are at the maximum."
    )
    assert verdict.comparison == "worse"
    assert verdict.scope == "within_query"
    assert any("distinguish good responses from better ones" in note for note in verdict.notes)


def test_an_interval_with_0_claims_nothing(analysis: Analysis) -> None:
    verdict = only(
        with_figures(
            analysis,
            judge_against_others=(0.5, 0.3, 0.6),
            human_ceiling=(0.55, 0.4, 0.6),
            human_ceiling_difference=(-0.05, -0.2, 0.1),
            bias=(-3, -8, 2),
            share_at_max=(0.1, 0, 0.2),
        )
    )
    assert verdict.comparison == "undecided"
    assert (
        "cannot be distinguished from a rater like these in how it orders responses"
        in verdict.sentence
    )
    assert "no bias can be shown (-3 points [-8, 2])" in verdict.sentence
    assert "ceiling" not in verdict.sentence
    assert any("The interval is wide" in note for note in verdict.notes)


def test_a_strict_judge_has_its_sign_in_words(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, bias=(-6, -9, -3)))
    assert "it is 6 points too strict [3, 9]" in verdict.sentence


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ((1.0, 0.3, 1.6), "it is 1.0 points too lenient [0.3, 1.6]."),
        ((-1.0, -1.6, -0.3), "it is 1.0 points too strict [0.3, 1.6]."),
        ((-0.3, -1.0, 0.4), "no bias can be shown (-0.3 points [-1.0, 0.4])."),
        ((-0.2, -3.0, 2.0), "no bias can be shown (0 points [-3, 2])."),
        ((0.07, 0.03, 0.11), "it is 0.07 points too lenient [0.03, 0.11]."),
        ((0.0, 0.0, 0.0), "it has no bias on these responses."),
    ],
)
def test_a_bias_near_0_shows_its_side(
    analysis: Analysis, figures: tuple[float, float, float], text: str
) -> None:
    verdict = only(with_figures(analysis, bias=figures, share_at_max=(0.1, 0, 0.2)))
    assert verdict.sentence.endswith(f"; {text}")


def test_equal_values_throughout_are_no_bias() -> None:
    verdict = only(analyse(table(simulated().assign(value=70.0)), options=QUICK))
    assert verdict.sentence.endswith("; it has no bias on these responses.")
    assert not any("rests on" in note for note in verdict.notes)


def test_a_narrow_scale_is_named_instead_of_points() -> None:
    frame = simulated(raters=5)
    frame["value"] = frame["value"] / 100
    analysis = analyse(table(frame, Scale(0, 1)), options=QUICK)
    strict = only(with_figures(analysis, bias=(-0.04, -0.06, -0.02)))
    assert "it is 0.04 too strict [0.02, 0.06] on a scale from 0 to 1" in strict.sentence
    unclear = only(with_figures(analysis, bias=(-0.04, -0.1, 0.02)))
    assert "no bias can be shown (-0.04 [-0.10, 0.02] on a scale from 0 to 1)" in unclear.sentence


def test_a_sentence_is_about_one_set_of_raters() -> None:
    verdict = only(analyse(table(simulated(raters=1)), options=QUICK))
    assert re.search(r"points too lenient \[\d+, \d+\] for this rater\.$", verdict.sentence)
    verdict = only(analysis := analyse(table(simulated(raters=4)), options=QUICK))
    assert verdict.target == "these_raters"
    assert "one of these raters" in verdict.sentence
    assert re.search(r"points too lenient \[\d+, \d+\] for these raters\.$", verdict.sentence)
    assert "like these" not in reading(analysis)
    verdict = only(analysis := analyse(table(simulated(raters=5)), options=QUICK))
    assert verdict.target == "raters_like_these"
    assert "a rater like these" in verdict.sentence
    assert re.search(r"points too lenient \[\d+, \d+\]\.$", verdict.sentence)
    assert "are for raters like these" in reading(analysis)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_two_values_have_no_ceiling(level: Level) -> None:
    frame = simulated(queries=20)
    frame["value"] = (frame["value"] > 55).astype(float)
    verdict = only(analyse(table(frame, Scale(0, 1, level=level)), options=QUICK))
    assert "ceiling" not in verdict.sentence
    assert not any("cannot distinguish good" in note for note in verdict.notes)


def test_a_judge_at_the_ends_beside_people_between_them_keeps_its_ceiling() -> None:
    frame = simulated(queries=20)
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] = 100.0 * (frame.loc[judged, "value"] > 30)
    verdict = only(analyse(table(frame), options=QUICK))
    assert "of its scores are at the maximum" in verdict.sentence


def test_one_query_with_several_responses_does_not_speak_for_all() -> None:
    frame = pd.concat([simulated(queries=60, systems=1), more_responses_to_q0()])
    verdict = only(analyse(table(frame), options=QUICK))
    assert verdict.scope == "pooled"
    assert (
        "over all responses (within a query, 3 responses to 1 query have no interval)"
        in verdict.sentence
    )


def more_responses_to_q0() -> pd.DataFrame:
    frame = simulated(queries=1, systems=3, seed=1)
    return frame[frame["system"] != "s0"].assign(response_id=lambda f: "more-" + f["system"])


def test_few_queries_are_counted_beside_the_order() -> None:
    verdict = only(analyse(table(simulated()), options=QUICK))
    assert "That order rests on 36 responses to 12 queries only." in verdict.notes
    verdict = only(analyse(table(simulated(queries=20)), options=QUICK))
    assert not any("rests on" in note for note in verdict.notes)


def test_a_better_judge_is_said_to_be_better(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, human_ceiling_difference=(0.1, 0.04, 0.16)))
    assert verdict.comparison == "better"
    assert "orders responses better than a rater like these does" in verdict.sentence


def test_what_correction_takes_away_is_not_claimed(analysis: Analysis) -> None:
    figures = {"human_ceiling_difference": (-0.1, -0.19, -0.01), "bias": (4, 0.2, 7.8)}
    verdict = only(with_figures(analysis, **figures, share_at_max=(0.1, 0, 0.2)))
    assert verdict.comparison == "undecided"
    corrected = "not significant after correction for 3 comparisons"
    assert f"difference -.10 [-.19, -.01], {corrected})" in verdict.sentence
    assert verdict.sentence.endswith(f"no bias can be shown (4.0 points [0.2, 7.8], {corrected}).")


def test_a_high_correlation_with_a_large_bias_is_explained(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, kendall_tau_b=(0.7, 0.6, 0.8), bias=(12, 9, 15)))
    assert any("Use it to compare, not to report a level" in note for note in verdict.notes)
    nan = float("nan")
    for harmless in ((2, 1, 3), (12, -1, 25), (12, nan, nan)):
        fair = only(with_figures(analysis, kendall_tau_b=(0.7, 0.6, 0.8), bias=harmless))
        assert not any("Use it to compare" in note for note in fair.notes)
    # The sentence speaks of raters like these, and so does the note.
    claimed = only(
        with_figures(analysis, kendall_tau_b=(0.7, 0.6, 0.8), bias_raters_like_these=(12, -1, 25))
    )
    assert "no bias can be shown" in claimed.sentence
    assert not any("Use it to compare" in note for note in claimed.notes)


def test_a_bias_is_large_beyond_the_margin_of_a_level() -> None:
    for margin, named in ((10.0, True), (13.0, False)):
        options = Options(resamples=200, bias_margin=margin)
        analysis = analyse(table(simulated(raters=5)), options=options)
        verdict = only(with_figures(analysis, kendall_tau_b=(0.7, 0.6, 0.8), bias=(12, 9, 15)))
        assert any("Use it to compare" in note for note in verdict.notes) == named


def test_raters_who_disagree_are_a_low_bar(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, krippendorff_alpha=(0.4, 0.3, 0.5)))
    assert any("alpha .40 [.30, .50]" in note for note in verdict.notes)


def test_a_rater_who_stands_apart_is_named() -> None:
    frame = simulated(raters=4, queries=20)
    of_scorer = frame["scorer"] == "rater-4"
    turned = frame.loc[of_scorer, "value"].sample(frac=1, random_state=2).to_numpy()
    frame.loc[of_scorer, "value"] = turned
    verdict = only(analyse(table(frame), options=QUICK))
    assert any(note.startswith("rater-4 agrees little") for note in verdict.notes)
    fair = only(analyse(table(simulated(raters=4, queries=20)), options=QUICK))
    assert not any("agrees little with the other" in note for note in fair.notes)


def test_one_response_a_query_falls_back_to_all_responses_and_says_so() -> None:
    verdict = only(analyse(table(simulated(queries=40, systems=1)), options=QUICK))
    assert verdict.scope == "pooled"
    assert "one a query, so the order within a query is unknown" in verdict.sentence


def test_one_rater_gives_no_ceiling() -> None:
    verdict = only(analyse(table(simulated(raters=1)), options=QUICK))
    assert verdict.comparison == "withheld"
    assert "with the one rater; how well a rater does is unknown without a second one" in (
        verdict.sentence
    )


def test_an_adjudicated_reference_gives_no_ceiling() -> None:
    frame = simulated()
    final = frame[frame["scorer"] == "rater-1"].assign(scorer="final", scorer_kind="adjudicated")
    options = Options(resamples=200, reference="adjudicated")
    verdict = only(analyse(table(pd.concat([frame, final])), options=options))
    assert verdict.comparison == "withheld"
    assert "with the adjudicated values; whether a rater does better is not stated" in (
        verdict.sentence
    )
    assert "for these raters" not in verdict.sentence


def test_raters_who_disagree_are_no_bar_beside_an_adjudicated_value() -> None:
    frame = simulated()
    final = frame[frame["scorer"] == "rater-1"].assign(scorer="final", scorer_kind="adjudicated")
    options = Options(resamples=200, reference="adjudicated")
    analysis = analyse(table(pd.concat([frame, final])), options=options)
    verdict = only(with_figures(analysis, krippendorff_alpha=(0.4, 0.3, 0.5)))
    assert not any("easy standard" in note for note in verdict.notes)


def test_no_human_rating_leaves_nothing_to_say() -> None:
    verdict = only(analyse(table(simulated(raters=0)), options=QUICK))
    assert verdict.sentence.startswith(
        "QR: no human rating on QR, so there is no result for the judge"
    )


def test_a_verdict_without_a_judge_says_so() -> None:
    frame = simulated()
    verdict = only(analyse(table(frame[frame["scorer"] != "judge"]), options=QUICK))
    assert verdict.sentence == "QR: people rated 36 responses; there is no judge to compare."


def test_an_undeclared_scale_withholds_bias_and_says_how_to_declare_it() -> None:
    verdict = only(analyse(table(simulated(), scale=None), options=QUICK))
    assert "points" not in verdict.sentence
    assert any("--scale QR=MIN:MAX" in note for note in verdict.notes)


def test_judges_are_named_where_there_are_several() -> None:
    frame = simulated()
    second = frame[frame["scorer"] == "judge"].assign(scorer="other")
    shown = verdicts(analyse(table(pd.concat([frame, second])), options=QUICK))
    assert [verdict.scorer for verdict in shown] == ["judge", "other"]
    assert "within a query other " in shown[1].sentence


def test_raters_who_share_nothing_give_no_ceiling() -> None:
    records: list[dict[str, object]] = []
    for i in range(12):
        here = {"response_id": f"r{i}", "query_id": f"q{i // 3}"}
        records.append({**here, "scorer": f"rater-{i % 2}", "value": 10 + 5 * i})
        records.append({**here, "scorer": "gpt", "scorer_kind": "judge", "value": 90 - i * i / 3})
    verdict = only(analyse(table(rows(*records)), options=QUICK))
    assert verdict.comparison == "withheld"
    assert "who rated too few of the same responses" in verdict.sentence


def of_a_bunched_judge() -> pd.DataFrame:
    """A judge who knows the quality of each response exactly and spends the scale at its top."""
    frame = simulated(queries=40, systems=4)
    rng = np.random.default_rng(5)
    quality = np.clip(50 + 10 * rng.normal(size=(40, 1)) + 14 * rng.normal(size=(40, 4)), 0, 99)
    for scorer in frame["scorer"].unique():
        rated = np.clip(np.round(quality + 10 * rng.normal(size=quality.shape)), 0, 100)
        bunched = 100 * (1 - np.exp(-0.12 * quality))
        of_scorer = frame["scorer"] == scorer
        frame.loc[of_scorer, "value"] = (bunched if scorer == "judge" else rated).ravel()
    return frame


def test_a_judge_who_bunches_its_scores_is_compared_by_its_order() -> None:
    verdict = only(analyse(table(of_a_bunched_judge()), options=QUICK))
    assert (
        "within a query the judge orders responses better than one of these raters does (tau-b .7"
        in (verdict.sentence)
    )
    assert verdict.comparison == "better"
    (note,) = [note for note in verdict.notes if note.startswith("Pearson's r")]
    assert "by it the order is less good than a rater's" in note
    assert re.search(r"difference -\.2\d \[", note)


def test_queries_without_a_tau_are_counted() -> None:
    frame = simulated(queries=40)
    frame["value"] = 100.0 * (frame["value"] > 25)
    analysis = analyse(table(frame), options=QUICK)
    verdict = only(analysis)
    (note,) = [note for note in verdict.notes if "has no tau-b" in note]
    rater = analysis.estimates.first("human_ceiling", scope="within_query", measure="kendall_tau_b")
    assert rater is not None
    share = rater.params["undefined_share"]
    assert f"in {share:.0%} a rater has none" in note
