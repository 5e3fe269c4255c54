import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.pipeline.estimation import headline
from analysis.render.verdicts import verdicts
from analysis.statistics.answer_correctness import composed_ac_as_published
from analysis.topics.answer_correctness.estimates import answer_correctness
from analysis.topics.answer_correctness.lambda_sweep import lambda_sweep_figure
from tests.analysis.scores import POINTS, simulated, table

QUICK = Options(resamples=150)


def audited(frame: pd.DataFrame, **scales: Scale) -> EstimateList:
    scores = table(frame)
    if scales:
        by_name = {(name, "AC"): scale for name, scale in scales.items()}
        scores = ScoreTable.from_frame(frame, dict.fromkeys(frame["construct"], POINTS), by_name)
    return EstimateList(tuple(answer_correctness(Context(scores, None, QUICK))))


def with_parts(match: float = 100.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A judge and people on AC, and EM, with the judge's rows."""
    frame = simulated(queries=30, constructs=("AC", "QR"))
    judged = frame[(frame["scorer"] == "judge") & (frame["construct"] == "AC")]
    em = judged.assign(scorer="EM", scorer_kind="metric")
    em["value"] = np.where(np.arange(len(em)) % 5 == 0, match, 0.0)
    return pd.concat([frame, em], ignore_index=True), judged


def test_the_sweep_begins_with_the_judges_part_and_ends_with_the_match() -> None:
    frame, judged = with_parts()
    estimates = audited(frame)
    for measure, count in (("pearson", 22), ("tie_probability", 11), ("discriminative_power", 11)):
        assert len(estimates.select("ac_lambda_sweep", measure=measure)) == count
    people = frame[(frame["construct"] == "AC") & (frame["scorer_kind"] == "human")]
    means = people.groupby("response_id")["value"].mean()[judged["response_id"]]
    ends = estimates.select("ac_lambda_sweep", scope="pooled", measure="pearson")
    em = frame[frame["scorer"] == "EM"]["value"]
    assert ends[0].value == pytest.approx(np.corrcoef(judged["value"], means)[0, 1])
    assert ends[-1].value == pytest.approx(np.corrcoef(em, means)[0, 1])
    ties = estimates.select("ac_lambda_sweep", measure="tie_probability")
    # 18 matches of 90: (18 * 17 + 72 * 71) of 90 * 89 ordered pairs.
    assert ties[-1].value == pytest.approx((18 * 17 + 72 * 71) / (90 * 89))


def test_a_judge_on_responses_that_nobody_rated_has_no_empty_panel() -> None:
    frame, _ = with_parts()
    second = frame[frame["scorer"].isin(["judge", "EM"])]
    second = second.assign(
        scorer=second["scorer"] + " elsewhere",
        response_id="other " + second["response_id"],
        query_id="other " + second["query_id"],
    )
    table = ScoreTable.from_frame(pd.concat([frame, second]), {"AC": Scale()})
    analysis = analyse(table, options=Options(resamples=100))
    (figure,) = lambda_sweep_figure(analysis)
    assert not [drawing.title for drawing in figure.drawings if "elsewhere" in drawing.title]


def test_normalized_match_and_token_overlap_are_swept_as_well() -> None:
    frame, judged = with_parts()
    f1 = judged.assign(scorer="F1", scorer_kind="metric", value=judged["value"] / 2)
    estimates = audited(pd.concat([frame, f1], ignore_index=True))
    assert {e.params["match"] for e in estimates.select("ac_lambda_sweep")} == {"EM", "F1"}


def test_the_slip_is_found_with_and_without_the_parts() -> None:
    frame, judged = with_parts()
    em = frame.loc[frame["scorer"] == "EM", "value"].to_numpy()
    llm = judged["value"].to_numpy().copy()
    llm[0] = 100.0
    column = judged.assign(scorer="AC as published", value=composed_ac_as_published(llm, em, 0.7))
    chosen = frame["response_id"].eq(judged["response_id"].iloc[0]) & frame["scorer"].eq("judge")
    frame.loc[chosen & frame["construct"].eq("AC"), "value"] = 100.0
    whole = pd.concat([frame, column], ignore_index=True)
    (check,) = audited(whole).select("ac_unit_check")
    assert (check.value, check.params["from"]) == (1.0, "parts")
    assert check.scorers == ("AC as published", "judge", "EM")
    assert "AC as published" not in {
        name for e in audited(whole).select("ac_lambda_sweep") for name in e.scorers
    }
    (alone,) = audited(column).select("ac_unit_check")
    assert (alone.value, alone.params["from"]) == (1.0, "values")


def test_a_match_of_1_is_a_match() -> None:
    frame, judged = with_parts(match=1.0)
    em = frame.loc[frame["scorer"] == "EM", "value"].to_numpy()
    column = judged.assign(scorer="whole", value=0.3 * judged["value"] + 0.7 * em)
    estimates = audited(pd.concat([frame, column], ignore_index=True), EM=Scale(0, 1))
    (check,) = estimates.select("ac_unit_check")
    assert check.value == 1.0


@pytest.mark.parametrize("parts", [True, False])
def test_the_slip_is_found_in_columns_from_0_to_1(parts: bool) -> None:
    frame, judged = with_parts()
    em = frame.loc[frame["scorer"] == "EM", "value"].to_numpy()
    llm = judged["value"].to_numpy().copy()
    llm[0] = 100.0
    value = composed_ac_as_published(llm, em, 0.7) / 100
    column = judged.assign(scorer="AC as published", value=value)
    if parts:
        of_judge = frame["response_id"].eq(judged["response_id"].iloc[0]) & frame["scorer"].eq(
            "judge"
        )
        frame.loc[of_judge & frame["construct"].eq("AC"), "value"] = 100.0
        column = pd.concat([frame, column], ignore_index=True)
    own_scale = {("AC as published", "AC"): Scale(0, 1)}
    scales = dict.fromkeys(column["construct"], POINTS)
    analysis = headline(ScoreTable.from_frame(column, scales, own_scale), options=QUICK)
    (check,) = analysis.estimates.select("ac_unit_check")
    assert (check.value, check.params["from"]) == (1.0, "parts" if parts else "values")
    (note,) = [n for v in verdicts(analysis) for n in v.notes if "an exact match adds" in n]
    assert note.startswith(
        "In AC as published an exact match adds 0.007 where 0.7 are meant: the match was left at 1"
    )


def test_scores_that_are_not_composed_are_left_alone() -> None:
    frame, judged = with_parts()
    assert not audited(frame).select("ac_unit_check")
    frame.loc[frame["scorer"] == "judge", "value"] /= 3
    assert not audited(frame).select("ac_unit_check")
    (alone,) = audited(judged.assign(value=judged["value"] / 3)).select("ac_unit_check")
    assert np.isnan(alone.value)
    assert "means of repeats" in str(alone.reason)


def test_the_mean_of_composed_ac_stands_beside_peoples() -> None:
    frame, judged = with_parts()
    em = frame.loc[frame["scorer"] == "EM", "value"].to_numpy()
    mean = audited(frame).first("composed_ac_mean")
    assert mean is not None
    assert mean.value == pytest.approx(np.mean(0.7 * em + 0.3 * judged["value"]))
    assert mean.params["people"] == pytest.approx(
        frame[(frame["construct"] == "AC") & (frame["scorer_kind"] == "human")]
        .groupby("response_id")["value"]
        .mean()
        .mean()
    )


@pytest.mark.parametrize("match", [0.0, 100.0, np.nan])
def test_nothing_or_everything_matches(match: float) -> None:
    frame, judged = with_parts()
    frame.loc[frame["scorer"] == "EM", "value"] = match
    for e in audited(frame):
        assert e.defined or e.reason
    assert list(audited(judged[:1])) == []
