"""Words for pass and fail are read as 1 and 0, in bare tables and in imports."""

import pytest

from study import InputError, RatingScale, Study, import_file, read_scores
from tests.study.importing.conftest import Write

HEAD = "query_id,response_id,construct,scorer,scorer_kind,value\n"


def test_a_long_table_of_words(write: Write) -> None:
    frame = read_scores(
        write("s.csv", f"{HEAD}q1,r1,OK,anna,human,Pass\nq2,r2,OK,anna,human,fail\n")
    )
    assert frame["value"].tolist() == [1, 0]
    assert (
        "Accepted: pass, true or yes read as 1, fail, false or no as 0 (2)."
        in (frame.attrs["summary"])
    )


def test_a_wide_table_of_words(write: Write) -> None:
    text = "query_id,response_id,anna:OK,gpt:OK\nq1,r1,yes,true\nq2,r2,,false\nq3,r3,no,true\n"
    frame = read_scores(write("s.csv", text), kinds={"anna": "human", "gpt": "judge"})
    of = {name: rows["value"].tolist() for name, rows in frame.groupby("scorer")}
    assert of["gpt"] == [1, 0, 1]
    assert of["anna"] == pytest.approx([1, float("nan"), 0], nan_ok=True)


def test_booleans_of_json(write: Write) -> None:
    rows = [
        {"query_id": f"q{i}", "response_id": f"r{i}", "construct": "OK", "scorer": "anna",
         "scorer_kind": "human", "value": value}
        for i, value in enumerate([True, False])
    ]  # fmt: skip
    assert read_scores(write("s.jsonl", rows))["value"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("pass", "yes"), "row 3, column value: 'yes' is among pass and fail (row 2). Write all"),
        (("1", "fail"), "row 3, column value: 'fail' is among numbers (row 2). Write all"),
        (("pass", "good"), "row 3, column value: 'good' is not one of pass and fail. Write three"),
    ],
)
def test_mixed_ways_are_refused(write: Write, values: tuple[str, str], message: str) -> None:
    rows = "".join(f"q{i},r{i},OK,anna,human,{value}\n" for i, value in enumerate(values))
    with pytest.raises(InputError) as caught:
        read_scores(write("s.csv", HEAD + rows))
    assert message in str(caught.value)


def test_words_are_refused_on_another_scale(write: Write) -> None:
    path = write("s.csv", f"{HEAD}q1,r1,OK,anna,human,pass\n")
    with pytest.raises(InputError) as caught:
        read_scores(path, scales={"OK": RatingScale(min=0, max=100)})
    assert "row 2, column value: a word for pass or fail is 1 or 0, and the scale is 0 to 100" in (
        str(caught.value)
    )


def test_an_import_refuses_words_on_another_scale(study: Study, write: Write) -> None:
    import_file(
        study, write("r.csv", "query_id,query,response,system,response_id\nq1,Who?,I,A,r1\n")
    )
    path = write("s.csv", f"{HEAD}q1,r1,QR,anna,human,pass\n")
    with pytest.raises(InputError, match="the scale is 0 to 100"):
        import_file(study, path)


def test_a_probability_is_no_verdict(write: Write) -> None:
    text = "query_id,response_id,construct,scorer,scorer_kind,value,inclusion_prob\n"
    with pytest.raises(InputError, match="'yes' is not a number"):
        read_scores(write("s.csv", f"{text}q1,r1,OK,anna,human,1,yes\n"))
