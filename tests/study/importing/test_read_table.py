"""A bare table is read as tolerantly, and refused as clearly, as an import."""

import numpy as np
import pandas as pd
import pytest

from study import InputError, Scale, read_scores
from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.importing.read_table import read_preferences
from tests.study.importing.conftest import Write

HEAD = "query_id,response_id,system,construct,scorer,scorer_kind,value\n"


def test_a_long_table_is_read(write: Write) -> None:
    frame = read_scores(write("s.csv", f"{HEAD}q1,r1,A,FL,anna,human,3\nq1,r1,B,FL,anna,human,3\n"))
    assert list(frame.columns) == list(SCORE_COLUMNS)
    assert frame["system"].tolist() == ["A", "B"]
    assert frame["repeat"].tolist() == [0, 0]
    assert frame["inclusion_prob"].tolist() == [1.0, 1.0]
    assert frame["value"].dtype == np.float64


def test_the_system_may_be_absent(write: Write) -> None:
    text = "query_id,response_id,construct,scorer,scorer_kind,value\nq1,r1,FL,anna,human,\n"
    frame = read_scores(write("s.csv", text))
    assert frame["system"].tolist() == [None]
    assert frame["missing_reason"].tolist() == ["blank"]
    assert np.isnan(frame["value"]).all()


LESS_NAMED = [
    ("item_id,annotator,label\nr1,anna,3\nr1,ben,4\nr2,anna,\n", ["r1", "r1", "r2"], [None] * 3),
    (
        "question_id,rater_id,rating\nr1,anna,3\nr1,ben,4\nr2,anna,\n",
        ["r1", "r1", "r2"],
        [None] * 3,
    ),
    (
        "prompt_id,model,worker_id,score\nq1,A,anna,3\nq1,B,anna,4\nq2,A,anna,\n",
        ["q1/A", "q1/B", "q2/A"],
        ["A", "B", "A"],
    ),
    # Next to the id of a response, a model may be the judge's.
    (
        "response_id,query_id,model,scorer,value\nr1,q1,gpt,anna,3\nr2,q1,gpt,anna,4\nr3,q2,x,anna,\n",
        ["r1", "r2", "r3"],
        [None] * 3,
    ),
    (
        "item_id,model,annotator,label\nq1,A,anna,3\nq1,B,anna,3\nq2,A,anna,\n",
        ["q1/A", "q1/B", "q2/A"],
        ["A", "B", "A"],
    ),
    (
        "prompt_id,item_id,model,annotator,label\nq1,r1,A,anna,3\nq1,r2,B,anna,3\nq2,r3,A,anna,\n",
        ["r1", "r2", "r3"],
        ["A", "B", "A"],
    ),
]


@pytest.mark.parametrize(("text", "responses", "systems"), LESS_NAMED)
def test_a_long_table_may_name_less(
    write: Write, text: str, responses: list[str], systems: list[str | None]
) -> None:
    kinds = {"anna": "human", "ben": "human"}
    frame = read_scores(write("s.csv", text), kinds=kinds, construct="FL")
    assert frame["response_id"].tolist() == responses
    queries = ["q1", "q1", "q2"] if "q1" in text else responses
    assert frame["query_id"].tolist() == queries
    assert frame["system"].tolist() == systems
    assert frame["value"].isna().tolist() == [False, False, True]
    assumed = [line for line in frame.attrs["summary"] if line.startswith("Warning: ")]
    assert bool(assumed) == ("response_id" not in text)


ASSUMED_WRONGLY = [
    # The system is in a column of another name, and the values happen to be equal.
    (
        "question_id,model_name,annotator,score\nq1,A,anna,3\nq1,B,anna,3\n",
        r"row 3, .*a second value by 'anna' on FL .*as in row 2.*rename it to system",
    ),
    # Responses are numbered anew within each query.
    (
        "prompt_id,item_id,annotator,label\nq1,1,anna,3\nq2,1,anna,3\n",
        r"row 3, .*'1' is one to the query 'q2' here, and to 'q1' above",
    ),
    ("query_id,anna:FL,ben:FL\nq1,3,4\n", r"'response_id' \(or system\) is missing"),
]


@pytest.mark.parametrize(("text", "message"), ASSUMED_WRONGLY)
def test_nothing_is_dropped_by_what_is_assumed(write: Write, text: str, message: str) -> None:
    kinds = {"anna": "human", "ben": "human"}
    with pytest.raises(InputError, match=message):
        read_scores(write("s.csv", text), kinds=kinds, construct="FL")


def test_wide_by_scorer_with_words_beside(write: Write) -> None:
    text = "query_id;response_id;anna:FL;ben:FL;note\nq1;r1;;2,5;fine\nq1;r2;3;NA;\n"
    frame = read_scores(write("s.csv", text), kinds={"anna": "human", "ben": "human"})
    assert frame["construct"].unique().tolist() == ["FL"]
    assert frame["value"].dropna().tolist() == [2.5, 3]
    assert any("not used: note" in line for line in frame.attrs["summary"])


def test_wide_by_construct(write: Write) -> None:
    text = "query_id,response_id,FL,QR\nq1,r1,4,\nq1,r2,5,80\n"
    frame = read_scores(write("s.csv", text), scorer="anna", kinds={"anna": "human"})
    assert sorted(set(frame["construct"])) == ["FL", "QR"]
    assert len(frame) == 4


def test_parquet_and_json_lines(write: Write) -> None:
    frame = read_scores(write("s.csv", f"{HEAD}q1,r1,A,FL,anna,human,3\n"))
    path = write("s.jsonl", frame.drop(columns=["stratum", "source"]).to_dict("records"))
    pd.testing.assert_frame_equal(read_scores(path), frame)
    frame.to_parquet(path.with_suffix(".parquet"))
    pd.testing.assert_frame_equal(read_scores(path.with_suffix(".parquet")), frame)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q1,r1,A,FL,anna,human,nice\n", "row 2, column value: 'nice' is neither a number"),
        (
            "q1,r1,A,FL,anna,human,7\n",
            "row 2, column value: 7 for FL by 'anna' is outside 1 to 5",
        ),
        ("q1,r1,A,FL,anna,human,3\nq1,r1,B,FL,anna,human,4\n", "row 3, column value: 4 by 'anna'"),
        ("q1,r1,A,FL,anna,huma,3\n", "Did you mean 'human'"),
        ("q1,r1,A,FL,anna,human,3\nq1,r2,A,FL,anna,judge,3\n", "is judge here and human in row 2"),
        (",r1,A,FL,anna,human,3\n", "row 2, column query_id: is blank"),
    ],
)
def test_faults_are_placed(write: Write, rows: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_scores(write("s.csv", HEAD + rows), scales={"FL": Scale(min=1, max=5)})
    assert message in str(caught.value)


def test_how_a_judge_was_read(write: Write) -> None:
    text = "query_id,response_id,construct,scorer,scorer_kind,value,missing_reason,rule\n"
    text += "q1,r1,FL,j,judge,3,,labelled\nq1,r2,FL,j,judge,,refusal,\nq1,r1,FL,anna,human,3,,\n"
    assert read_scores(write("s.csv", text))["rule"].tolist() == ["labelled", None, None]


def test_a_rule_in_a_wide_table_is_that_of_its_judges(write: Write) -> None:
    kinds = {"anna": "human", "j": "judge"}
    head = "query_id,response_id,anna:FL,j:FL,j:QR,rule\n"
    frame = read_scores(write("s.csv", f"{head}q1,r1,3,4,,bare\nq1,r2,3,,,\n"), kinds=kinds)
    ruled = frame.dropna(subset="rule")
    assert ruled[["scorer", "construct", "rule"]].to_numpy().tolist() == [["j", "FL", "bare"]]
    with pytest.raises(InputError, match="has the rule 'bare' and no value of a judge"):
        read_scores(write("t.csv", f"{head}q1,r1,3,4,1,\nq1,r2,3,,,bare\n"), kinds=kinds)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("anna,human,3,,bare", "has the rule 'bare' and a human scorer"),
        ("j,judge,,refusal,bare", "has the rule 'bare' and no value"),
    ],
)
def test_a_rule_that_read_nothing_is_refused(write: Write, row: str, message: str) -> None:
    head = "query_id,response_id,construct,scorer,scorer_kind,value,missing_reason,rule\n"
    with pytest.raises(InputError) as caught:
        read_scores(write("s.csv", f"{head}q1,r1,FL,{row}\n"))
    assert message in str(caught.value)
    assert "give the column another name" in str(caught.value)


@pytest.mark.parametrize("missing", ["construct", "scorer", "value"])
def test_a_required_column_missing(write: Write, missing: str) -> None:
    text = f"{HEAD}q1,r1,A,FL,anna,human,3\n".replace(missing, f"{missing}x", 1)
    with pytest.raises(InputError, match=f"'{missing}'"):
        read_scores(write("s.csv", text))


def test_an_identical_row_twice_counts_once(write: Write) -> None:
    frame = read_scores(write("s.csv", HEAD + "q1,r1,A,FL,anna,human,3\n" * 2))
    assert len(frame) == 1
    assert any("identical row" in line for line in frame.attrs["summary"])


def test_files_of_another_kind_are_named(write: Write) -> None:
    with pytest.raises(InputError, match="contains responses, not scores"):
        read_scores(write("r.csv", "query,response\na,b\n"))
    with pytest.raises(InputError, match="compares responses"):
        read_scores(write("p.csv", "query_id,response_a,response_b\nq,a,b\n"))


def test_preferences(write: Write) -> None:
    text = (
        "query_id,response_a,response_b,construct,scorer,scorer_kind,value\n"
        "q1,a,b,FL,anna,human,-1\nq1,a,c,FL,anna,human,\n"
    )
    frame = read_preferences(write("p.csv", text), scale=Scale(min=-2, max=2))
    assert list(frame.columns) == list(PREFERENCE_COLUMNS)
    assert frame["missing_reason"].tolist() == [None, "blank"]
    with pytest.raises(InputError, match="is outside"):
        read_preferences(write("p.csv", text.replace("-1", "-3")), scale=Scale(min=-2, max=2))
