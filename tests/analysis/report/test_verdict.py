"""Each sentence is tested on figures made by hand, so that its words are seen in full."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis import Options, Scale, analyse
from analysis.compose import Analysis
from analysis.estimates import Estimate, EstimateList
from analysis.report.verdict import Verdict, verdicts
from tests.analysis.scores import rows, simulated, table

QUICK = Options(resamples=200)


def with_figures(analysis: Analysis, **values: tuple[float, float, float]) -> Analysis:
    """The analysis with figures replaced: value, low, high by statistic (and scope)."""

    def changed(e: Estimate) -> Estimate:
        for key in (f"{e.statistic}_{e.scope}", e.statistic):
            if key in values:
                value, low, high = values[key]
                return replace(e, value=value, ci_low=low, ci_high=high, ci_level=0.95, method="m")
        return e

    return replace(analysis, estimates=EstimateList(tuple(map(changed, analysis.estimates))))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(table(simulated()), options=QUICK)


def only(analysis: Analysis) -> Verdict:
    found = verdicts(analysis)
    assert len(found) == 1
    return found[0]


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
        "QR: within a query the judge orders responses less well than a rater does (.41 against "
        ".55, difference -.14 [-.20, -.08]); it is 11 points too kind [7, 15] and 78% of its "
        "scores are at the ceiling."
    )
    assert verdict.comparison == "worse"
    assert verdict.scope == "within_query"
    assert any("can't tell good responses from better ones" in note for note in verdict.notes)


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
    assert "can't be told apart from a rater in how it orders responses" in verdict.sentence
    assert "no bias can be shown (-3 points [-8, 2])" in verdict.sentence
    assert "ceiling" not in verdict.sentence
    assert any("The interval is wide" in note for note in verdict.notes)


def test_a_strict_judge_has_its_sign_in_words(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, bias=(-6, -9, -3)))
    assert "it is 6 points too strict [3, 9]" in verdict.sentence


def test_two_values_have_no_ceiling() -> None:
    frame = simulated(queries=20)
    frame["value"] = (frame["value"] > 55).astype(float)
    verdict = only(analyse(table(frame, Scale(0, 1, level="nominal")), options=QUICK))
    assert "ceiling" not in verdict.sentence + " ".join(verdict.notes)


def test_a_better_judge_is_said_to_be_better(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, human_ceiling_difference=(0.1, 0.02, 0.2)))
    assert verdict.comparison == "better"
    assert "orders responses better than a rater does" in verdict.sentence


def test_a_high_correlation_with_a_large_bias_is_explained(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, pearson=(0.9, 0.8, 0.95), bias=(12, 9, 15)))
    assert any("Use it to compare, not to report a level" in note for note in verdict.notes)
    fair = only(with_figures(analysis, pearson=(0.9, 0.8, 0.95), bias=(2, 1, 3)))
    assert not any("Use it to compare" in note for note in fair.notes)


def test_raters_who_disagree_are_a_low_bar(analysis: Analysis) -> None:
    verdict = only(with_figures(analysis, krippendorff_alpha=(0.4, 0.3, 0.5)))
    assert any("alpha .40 [.30, .50]" in note for note in verdict.notes)


def test_a_rater_who_stands_apart_is_named() -> None:
    frame = simulated(raters=4, queries=20)
    own = frame["scorer"] == "rater-4"
    turned = frame.loc[own, "value"].sample(frac=1, random_state=2).to_numpy()
    frame.loc[own, "value"] = turned
    verdict = only(analyse(table(frame), options=QUICK))
    assert any(note.startswith("rater-4 agrees little") for note in verdict.notes)
    fair = only(analyse(table(simulated(raters=4, queries=20)), options=QUICK))
    assert not any("agrees little with the other" in note for note in fair.notes)


def test_one_response_a_query_falls_back_to_all_responses_and_says_so() -> None:
    verdict = only(analyse(table(simulated(queries=40, systems=1)), options=QUICK))
    assert verdict.scope == "pooled"
    assert "one a query, so the order within a query can't be told" in verdict.sentence


def test_one_rater_gives_no_ceiling() -> None:
    verdict = only(analyse(table(simulated(raters=1)), options=QUICK))
    assert verdict.comparison == "withheld"
    assert "with the one rater; whether another rater does better takes a second one" in (
        verdict.sentence
    )


def test_an_adjudicated_reference_gives_no_ceiling() -> None:
    frame = simulated()
    final = frame[frame["scorer"] == "rater-1"].assign(scorer="final", scorer_kind="adjudicated")
    options = Options(resamples=200, reference="adjudicated")
    verdict = only(analyse(table(pd.concat([frame, final])), options=options))
    assert verdict.comparison == "withheld"
    assert "with the adjudicated values; whether a rater does better is not said" in (
        verdict.sentence
    )


def test_no_human_rating_leaves_nothing_to_say() -> None:
    verdict = only(analyse(table(simulated(raters=0)), options=QUICK))
    assert verdict.sentence.startswith(
        "QR: no human rating on QR, so nothing can be said of the judge"
    )


def test_no_judge_is_said() -> None:
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
    found = verdicts(analyse(table(pd.concat([frame, second])), options=QUICK))
    assert [verdict.scorer for verdict in found] == ["judge", "other"]
    assert "within a query other " in found[1].sentence


def test_raters_who_share_nothing_give_no_ceiling() -> None:
    records: list[dict[str, object]] = []
    for i in range(12):
        here = {"response_id": f"r{i}", "query_id": f"q{i // 3}"}
        records.append({**here, "scorer": f"rater-{i % 2}", "value": 10 + 5 * i})
        records.append({**here, "scorer": "gpt", "scorer_kind": "judge", "value": 90 - i * i / 3})
    verdict = only(analyse(table(rows(*records)), options=QUICK))
    assert verdict.comparison == "withheld"
    assert "who rated too few of the same responses" in verdict.sentence
