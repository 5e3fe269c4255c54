"""A judge on a scale of its own, mapped to people's as declared."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable, analyse
from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.scale_mapping import equipercentile, linear
from analysis.statistics.agreement.cohen_kappa import nearest_level
from tests.analysis.scores import simulated

STARS = Scale(1, 5, 1, "ordinal")


def table(queries: int = 40) -> ScoreTable:
    """People on 1 to 5 and a judge on 0 to 100."""
    frame = simulated(queries=queries, raters=3, kindness=0)
    people = frame["scorer_kind"] == "human"
    frame.loc[people, "value"] = np.clip(np.round(frame.loc[people, "value"] / 20), 1, 5)
    return ScoreTable.from_frame(frame, {"QR": STARS}, {("judge", "QR"): Scale(0, 100)})


def analysed(**mappings: str) -> Analysis:
    options = Options(resamples=100, map=mappings)
    return analyse(table(), options=options)


def test_without_a_mapping_the_reason_names_the_remedy() -> None:
    for name in ("bias", "cohen_kappa", "alt_test_winning_rate"):
        e = analysed().estimates.first(name, scorer="judge")
        assert e is not None
        assert not e.defined
        assert "--map judge=linear" in str(e.reason)


@pytest.mark.parametrize("how", ["linear", "thresholds"])
def test_a_mapped_judge_has_bias_kappa_and_the_test(how: str) -> None:
    analysis = analysed(judge=how)
    for name in ("bias", "cohen_kappa", "alt_test_winning_rate"):
        e = analysis.estimates.first(name, scorer="judge")
        assert e is not None
        assert e.defined, e.reason
    assert analysis.options.scorer_notes["judge"].startswith("mapped ")
    assert "on QR from 0 to 100 to 1 to 5" in analysis.options.scorer_notes["judge"]


def test_linear_keeps_correlations() -> None:
    plain, mapped = (
        analysis.estimates.first("pearson", scorer="judge", scope="pooled")
        for analysis in (analysed(), analysed(judge="linear"))
    )
    assert plain is not None
    assert mapped is not None
    assert mapped.value == pytest.approx(plain.value)


def test_thresholds_give_peoples_distribution_and_nearly_no_bias() -> None:
    analysis = analysed(judge="thresholds")
    judged = analysis.scores.frame.query("scorer == 'judge'")["value"]
    assert set(judged) <= {1, 2, 3, 4, 5}
    bias = analysis.estimates.first("bias", scorer="judge", scope="pooled")
    assert bias is not None
    assert abs(bias.value) < 0.1


def test_a_querys_own_ratings_do_not_move_its_mapped_scores() -> None:
    scores = table()
    frame = scores.frame.copy()
    of_q0_people = (frame["query_id"] == "q0") & (frame["scorer_kind"] == "human")
    frame.loc[of_q0_people, "value"] = 1.0
    other = ScoreTable.from_frame(frame, {"QR": STARS}, {("judge", "QR"): Scale(0, 100)})
    options = Options(resamples=100, map={"judge": "thresholds"})

    def of_q0(table: ScoreTable) -> pd.Series:
        rows = analyse(table, options=options).scores.frame
        return rows[(rows["query_id"] == "q0") & (rows["scorer"] == "judge")]["value"]

    assert list(of_q0(scores)) == list(of_q0(other))


def test_a_mapped_scale_by_hand() -> None:
    assert list(linear(np.array([0, 50, 100.0]), Scale(0, 100), STARS)) == [1, 3, 5]
    # Percentiles .125, .375, .75 (two equal) among [10, 20, 30, 30]; people 1, 1, 2, 5.
    scores = np.array([10, 20, 30, np.nan])
    mapped = equipercentile(scores, np.array([10, 20, 30, 30.0]), np.array([1, 1, 2, 5.0]))
    assert list(mapped[:3]) == [1, 1, 2]
    assert np.isnan(mapped[3])
    assert list(nearest_level([1.4, 2.5, 9.0], (1, 2, 3))) == [1, 3, 3]


@pytest.mark.parametrize(
    ("mappings", "says"),
    [
        ({"jugde": "linear"}, "there is no such judge or metric; there are judge"),
        ({"rater-1": "linear"}, "there is no such judge"),
    ],
)
def test_a_mapping_of_nothing_is_refused(mappings: dict[str, str], says: str) -> None:
    with pytest.raises(AnalysisError, match=says):
        analysed(**mappings)


def test_a_judge_on_peoples_scale_needs_no_mapping() -> None:
    scores = ScoreTable.from_frame(simulated(), {"QR": Scale(0, 100)})
    with pytest.raises(AnalysisError, match="no scale that differs from people's"):
        analyse(scores, options=Options(resamples=100, map={"judge": "linear"}))
