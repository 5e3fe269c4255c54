"""Answers on studies whose truth is known, and on figures that read too kindly elsewhere."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.answers import answered, decisions
from analysis.decisions.records import Use, UseDecision
from analysis.decisions.table_facts import scored_facts
from analysis.pipeline.estimation import headline
from analysis.render.decision_words import answer_word, as_record, sentence, settled_by
from analysis.render.opening import lines
from analysis.render.opening_of_analysis import openings_of
from analysis.render.verdicts import verdict_subjects
from tests.analysis.scores import POINTS, simulated, table


def reported(frame: pd.DataFrame, scale: Scale | None = POINTS, **options: Any) -> Analysis:
    return headline(table(frame, scale), options=Options(**options))


def answers(
    analysis: Analysis, construct: str | None = None, target: str = "these_raters"
) -> dict[Use, UseDecision]:
    chosen = decisions(analysis, verdict_subjects(analysis))
    return {d.use: d for d in chosen if (d.construct, d.target) == (construct, target)}


def with_figures(analysis: Analysis, **values: tuple[float, float, float]) -> Analysis:
    """The analysis with figures replaced: value, low, high by statistic."""

    def changed(e: Estimate) -> Estimate:
        if e.statistic not in values or e.params.get("measure", "kendall_tau_b") == "pearson":
            return e
        value, low, high = values[e.statistic]
        error = Uncertainty((((high - low) / 3.92) ** 2,), (np.inf,))
        return replace(e, value=value, ci_low=low, ci_high=high, uncertainty=error)

    return replace(analysis, estimates=EstimateList(tuple(map(changed, analysis.estimates))))


@pytest.fixture(scope="module")
def rated() -> Analysis:
    """A judge that follows five raters closely on 60 queries."""
    return reported(simulated(queries=60, raters=5, kindness=0))


def test_a_judge_that_follows_people_may_choose_report_and_replace(rated: Analysis) -> None:
    found = answers(rated)
    for use in ("choose_between_responses", "report_level", "replace_rater"):
        assert found[use].answer == "yes", use  # type: ignore[index]
        assert settled_by(found[use]) is None  # type: ignore[index]
    # The systems are equal: no order of them is known.
    assert found["rank_systems"].answer not in {"yes", "no"}
    assert found["rank_systems"].probability is not None


def test_more_queries_are_not_promised_to_show_an_order_of_equal_systems(rated: Analysis) -> None:
    rank = answers(rated)["rank_systems"]
    assert rank.unshown
    assert rank.further_queries is None
    assert settled_by(rank) is None


@pytest.mark.parametrize(("several", "says"), [(9, " on 9 of 40 queries;"), (30, "];")])
def test_an_order_known_on_few_of_the_queries_says_on_how_many(several: int, says: str) -> None:
    frame = simulated(queries=40, systems=2, raters=2, kindness=0)
    number = frame["query_id"].str.removeprefix("q").astype(int)
    frame = frame[(number < several) | (frame["system"] == "s0")]
    analysis = reported(frame.reset_index(drop=True))
    (opening,) = openings_of(analysis, decisions(analysis, verdict_subjects(analysis)))
    assert opening.constructs[0].agreement[0].startswith("Pairs to one query ordered alike: ")
    assert says in opening.constructs[0].agreement[0]


def test_the_constructs_with_a_yes_stand_below_an_answer_that_is_none() -> None:
    good = simulated(queries=60, raters=5, kindness=0)
    bad = simulated(queries=60, raters=5, kindness=15, constructs=("CC",), seed=1)
    analysis = reported(pd.concat([good, bad], ignore_index=True))
    (opening,) = openings_of(analysis, decisions(analysis, verdict_subjects(analysis)))
    level, *_ = (line for line in opening.answers if line.use == "report_level")
    assert level.answer == "no"
    assert level.on_some is not None
    assert level.on_some.startswith("Yes on QR, for raters like these: bias ")
    assert f"    {level.on_some}" in list(lines(opening))
    choose = [line for line in opening.answers if line.use == "choose_between_responses"]
    assert [(line.answer, line.on_some) for line in choose] == [("yes", None)]


def test_what_a_chance_is_of_is_said_where_no_systems_are_told_apart(rated: Analysis) -> None:
    ranked = answers(rated)["rank_systems"]
    assert ranked.unshown
    chance = answer_word(ranked).split(", ")[1]
    assert (
        f"allowed are 5 points; {chance} is the chance of that, not of telling systems apart; "
        "no two systems are shown to be in the same order"
    ) in sentence(rated, ranked)
    assert settled_by(ranked) is None


def test_no_number_of_queries_is_promised_beside_one_that_dominates(rated: Analysis) -> None:
    wide = with_figures(rated, bias=(3.0, -2.0, 8.0))
    assert settled_by(answers(wide)["report_level"]) is not None
    facts = [replace(scored_facts(wide, "QR", "judge"), dominant="q0, 61%")]
    found = {d.use: d for d in answered(wide.estimates, facts, wide.options) if not d.construct}
    assert found["report_level"].answer == answers(wide)["report_level"].answer
    assert settled_by(found["report_level"]) is None


def test_a_correlation_between_minus_1_and_1_chooses_nothing(rated: Analysis) -> None:
    analysis = with_figures(rated, kendall_tau_b=(0.6, -1, 1))
    choose = answers(analysis)["choose_between_responses"]
    # Normal with the error of that interval: P(tau-b > 0) = Phi(.6 / .51).
    assert (choose.answer, choose.probability) == ("likely", pytest.approx(0.880, abs=1e-3))
    assert "tau-b within a query .60 [-.24, 1.44]" in sentence(analysis, choose)


def test_no_claim_rests_on_pearson_alone(rated: Analysis) -> None:
    # Pearson's r of the fixture is high; tau-b and the pairs of responses are not.
    analysis = with_figures(
        rated,
        kendall_tau_b=(0.1, -0.2, 0.4),
        human_ceiling_difference=(-0.2, -0.5, 0.1),
        pairwise_accuracy_difference=(-0.2, -0.35, -0.05),
    )
    choose = answers(analysis)["choose_between_responses"]
    assert choose.answer == "unlikely"
    assert "rated by these raters would decide it" in str(settled_by(choose))


def test_a_bias_that_cannot_be_shown_is_no_praise(rated: Analysis) -> None:
    analysis = with_figures(rated, bias=(14, -1, 29))
    level = answers(analysis)["report_level"]
    assert level.answer == "unlikely"
    assert "14 points [1, 27] (92%), allowed are ±5 points" in sentence(analysis, level)


def test_scores_at_the_maximum_are_named_and_weaken_no_answer(rated: Analysis) -> None:
    analysis = with_figures(rated, share_at_max=(0.78, 0.7, 0.85))
    choose = answers(analysis)["choose_between_responses"]
    assert choose.answer == "yes"
    assert "it does not distinguish the 78%" in sentence(analysis, choose)


def test_a_query_that_carries_the_order_is_named(rated: Analysis) -> None:
    analysis = with_figures(rated, agreement_without_one=(-0.05, np.nan, np.nan))
    choose = answers(analysis)["choose_between_responses"]
    assert choose.answer == "yes"
    assert "without the query" in sentence(analysis, choose)


def test_a_kind_judge_reports_no_level() -> None:
    analysis = reported(simulated(queries=60, raters=5, kindness=12))
    found = answers(analysis)
    assert found["choose_between_responses"].answer == "yes"
    assert found["report_level"].answer == "no"
    assert found["replace_rater"].answer == "no"


def test_a_margin_that_was_declared_decides() -> None:
    frame = simulated(queries=60, raters=5, kindness=12)
    analysis = reported(frame, bias_margin=20)
    level = answers(analysis)["report_level"]
    assert level.answer == "yes"
    assert as_record(analysis, level)["threshold"] == {
        "name": "level_margin", "value": 20, "declared": "bias_margin",
    }  # fmt: skip


def test_systems_that_differ_are_ranked() -> None:
    frame = simulated(queries=60, raters=5, kindness=0)
    number = frame["system"].str[1:].astype(int)
    frame["value"] = np.clip(frame["value"] - 12 * number, 0, 100)
    found = answers(reported(frame))
    assert found["rank_systems"].answer == found["rank_all_systems"].answer == "yes"
    judged = frame["scorer_kind"] == "judge"
    frame.loc[judged, "value"] = np.clip(frame["value"] + 24 * number, 0, 100)[judged]
    found = answers(reported(frame))
    assert found["rank_systems"].answer == found["rank_all_systems"].answer == "no"


def test_two_systems_are_a_choice_and_no_ranking_and_two_raters_are_too_few() -> None:
    found = answers(reported(simulated(queries=40, systems=2, raters=2)))
    assert found["rank_systems"].answer != "not_applicable"
    assert found["rank_all_systems"].missing == "it takes 3 systems, the table has 2"
    assert found["replace_rater"].missing == "it takes 3 raters, the table has 2"
    assert found["rank_all_systems"].answer == found["replace_rater"].answer == "not_applicable"
    assert settled_by(found["rank_all_systems"]) is None


def test_two_raters_say_nothing_of_raters_like_these() -> None:
    analysis = reported(simulated(queries=40, raters=2))
    assert answers(analysis, target="raters_like_these") == {}
    three = reported(simulated(queries=40, raters=3))
    assert "report_level" in answers(three, target="raters_like_these")


def test_the_judge_as_a_whole_is_its_weakest_construct() -> None:
    good = simulated(queries=60, raters=5, kindness=0)
    kind = simulated(queries=60, raters=5, kindness=12).assign(construct="CC")
    analysis = reported(pd.concat([good, kind], ignore_index=True))
    whole = answers(analysis)["report_level"]
    assert (whole.answer, whole.weakest, whole.answers) == ("no", "CC", 2)
    assert answers(analysis, "QR")["report_level"].answer == "yes"


def on_two_constructs() -> pd.DataFrame:
    pair = simulated(queries=60, raters=5, kindness=0)
    return pd.concat([pair, pair.assign(construct="CC")], ignore_index=True)


@pytest.mark.parametrize(("p", "answer"), [(0.049, "yes"), (0.051, "likely")])
def test_a_yes_for_all_constructs_needs_no_correction(
    rated: Analysis, p: float, answer: str
) -> None:
    # Berger 1982: each at .05; Hochberg's method then gives each construct its yes.
    low = -0.1 * stats.norm.isf(0.025) / stats.norm.isf(p)
    for analysis in (rated, reported(on_two_constructs())):
        edge = with_figures(analysis, human_ceiling_difference=(0.0, low, -low))
        assert answers(edge)["choose_between_responses"].answer == answer
        assert answers(edge, "QR")["choose_between_responses"].answer == answer


@pytest.mark.parametrize(("p", "answer"), [(0.019, "no"), (0.021, "unlikely")])
def test_a_no_is_corrected_over_constructs(p: float, answer: str) -> None:
    # Half of the .04 that the biases on systems leave.
    half = 3 * stats.norm.isf(0.025) / stats.norm.isf(p)
    edge = with_figures(reported(on_two_constructs()), bias=(8.0, 8 - half, 8 + half))
    level = answers(edge)["report_level"]
    assert level.answer == answer
    assert level.binding is not None
    # The interval is the one that decides.
    assert (level.binding.estimate.ci_low > 5) == (answer == "no")
    assert level.binding.estimate.ci_level == pytest.approx(0.96)
    assert "] (96%), allowed are" in sentence(edge, level)


def test_several_judges_share_the_error(rated: Analysis) -> None:
    frame = simulated(queries=60, raters=5, kindness=0)
    second = frame[frame["scorer_kind"] == "judge"].assign(scorer="second")
    both = reported(pd.concat([frame, second], ignore_index=True))
    half = 0.1 * stats.norm.isf(0.025) / stats.norm.isf(0.03)
    one = with_figures(rated, human_ceiling_difference=(0.0, -half, half))
    assert answers(one)["choose_between_responses"].answer == "yes"
    two = with_figures(both, human_ceiling_difference=(0.0, -half, half))
    assert answers(two)["choose_between_responses"].answer == "likely"


@pytest.mark.parametrize(
    ("bias", "answer", "probability"),
    [((3.0, -0.92, 6.92), "likely", 0.841), ((5.0, 1.08, 8.92), "open", 0.5),
     ((7.0, 3.08, 10.92), "unlikely", 0.159)],
)  # fmt: skip
def test_the_chance_is_that_of_a_flat_prior(
    rated: Analysis, bias: tuple[float, float, float], answer: str, probability: float
) -> None:
    analysis = with_figures(rated, bias=bias)
    level = answers(analysis)["report_level"]
    assert level.answer == answer
    assert level.probability == pytest.approx(probability, abs=2e-3)
    assert as_record(analysis, level)["probability"] == level.probability


@pytest.mark.parametrize(("shift", "answer"), [(0, "yes"), (12, "no")])
def test_a_system_on_which_the_bias_is_outside_leaves_no_level(shift: float, answer: str) -> None:
    frame = simulated(queries=60, raters=5, kindness=0)
    judged = frame["scorer_kind"] == "judge"
    # Too kind to one system and too strict to another: right on average.
    for system, sign in (("s0", 1), ("s1", -1)):
        at = judged & (frame["system"] == system)
        frame.loc[at, "value"] = np.clip(frame.loc[at, "value"] + sign * shift, 0, 100)
    analysis = reported(frame)
    level = answers(analysis)["report_level"]
    assert level.answer == answer
    if answer == "no":
        assert "bias on s" in sentence(analysis, level)


def test_a_rater_in_the_opposite_order_is_named_and_is_no_bar() -> None:
    frame = simulated(queries=60, raters=3, kindness=0)
    opposite = frame["scorer"] == "rater-3"
    frame.loc[opposite, "value"] = 100 - frame.loc[opposite, "value"]
    analysis = reported(frame)
    found = answers(analysis)
    assert found["choose_between_responses"].answer == "open"
    assert found["replace_rater"].answer == "open"
    said = sentence(analysis, found["choose_between_responses"])
    assert said == (
        "not known, since the order of rater-3 is opposite to that of the other raters."
    )
    # What to do about it is said once, before the answers.
    (opening,) = openings_of(analysis, decisions(analysis, verdict_subjects(analysis)))
    (note,) = [note for part in opening.constructs for note in part.patterns]
    assert "the rater rater-3 orders responses in the opposite way" in note
    assert "tau-b of -.61 [-.72, -.48]" in note


def test_a_judge_that_is_too_kind_replaces_no_rater() -> None:
    found = answers(reported(simulated(queries=60, raters=5, kindness=9)))
    assert found["choose_between_responses"].answer == "yes"
    assert found["replace_rater"].answer == "no"


def test_a_binary_judge_is_held_to_both_rates() -> None:
    rng = np.random.default_rng(5)
    frame = simulated(queries=150, raters=5, kindness=0)
    frame["value"] = (frame["value"] > 40).astype(float)
    judged = frame["scorer_kind"] == "judge"
    lenient = rng.random(len(frame)) < 0.6
    frame.loc[judged & lenient, "value"] = 1.0
    found = answers(headline(ScoreTable.from_frame(frame, {"QR": Scale(0, 1, 1)})))
    level = found["report_level"]
    assert level.answer == "no"
    statistics = [f.estimate.statistic for f in level.figures]
    assert {"true_positive_rate", "true_negative_rate"} <= set(statistics)


def test_without_a_scale_no_level_is_known() -> None:
    found = answers(reported(simulated(queries=40, raters=5), scale=None))
    assert found["report_level"].answer == "not_applicable"
    assert "no scale is declared" in str(found["report_level"].missing)
