"""Rows of a data frame that are no responses of their own are named, whatever becomes of them."""

import pandas as pd
import pytest

import ccrs_study as ccrs
from analysis.core.errors import TableError
from tests.analysis.cli.test_rows_of_judges import IDS, scored

SCORES = {"judge": "judge_score", "human": "human_score"}


def test_rows_of_several_judges_have_a_warning() -> None:
    frame = scored({"judge_model": ["gpt-4o", "llama"]})
    with pytest.warns(UserWarning, match="a row for each value of 'judge_model'") as caught:
        result = ccrs.evaluate(frame, **SCORES, query="question")
    assert caught[0].filename == __file__
    assert any("'judge_model'" in line for line in result.analysis.scores.warnings)


def test_rows_of_several_judges_are_refused_where_their_id_is_named() -> None:
    frame = scored({"judge_model": ["gpt-4o", "llama"]}, response_id=IDS)
    with pytest.raises(TableError, match="a row for each value of 'judge_model'") as caught:
        ccrs.evaluate(frame, **SCORES, id="response_id")
    remedy = str(caught.value).partition("in pandas: ")[2].strip()
    joined = eval(remedy, {"frame": frame})
    judges = [name for name in joined if name.startswith("judge_score")]
    result = ccrs.evaluate(joined, judges, "human_score", id="response_id")
    assert "60 responses" in result.verdict


def test_rows_that_are_the_same_have_a_warning() -> None:
    frame = scored({"judge": ["gpt-4o"]}).drop(columns="judge")
    with pytest.warns(UserWarning, match="row 60 has the same cells as row 0, and 9 further rows"):
        ccrs.evaluate(pd.concat([frame, frame[:10]]))


@pytest.mark.parametrize("named", [{}, {**SCORES, "id": "response_id"}])
def test_rows_that_count_once_have_a_warning(named: dict[str, str]) -> None:
    frame = scored({"judge": ["gpt-4o"]}, response_id=IDS).drop(columns="judge")
    with pytest.warns(UserWarning, match="20 scores in rows that repeat another one"):
        result = ccrs.evaluate(pd.concat([frame, frame[:10]]), **named)
    assert "60 responses" in result.verdict


def test_scores_of_a_long_table_that_count_once_have_a_warning() -> None:
    wide = scored({"judge": ["gpt-4o"]}, response_id=IDS)
    long = wide.melt("response_id", ["judge_score", "human_score"], "scorer", "value")
    long["scorer_kind"] = long["scorer"].map({"judge_score": "judge", "human_score": "human"})
    with pytest.warns(UserWarning, match="1 score in rows that repeat another one"):
        ccrs.evaluate(pd.concat([long, long[:1]]))
