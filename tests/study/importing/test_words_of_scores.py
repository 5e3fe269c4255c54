"""Words in tables of scores are read as numbers, in bare tables and in imports."""

import pytest

from study import InputError, Scale, Study, import_file, read_scores
from study.errors import StudyError
from tests.study.importing.conftest import Write

HEAD = "query_id,response_id,construct,scorer,scorer_kind,value\n"


def test_a_long_table_of_words(write: Write) -> None:
    frame = read_scores(
        write("s.csv", f"{HEAD}q1,r1,OK,anna,human,Pass\nq2,r2,OK,anna,human,fail\n")
    )
    assert frame["value"].tolist() == [1, 0]
    assert "Accepted: Pass read as 1 and fail as 0 (2)." in frame.attrs["summary"]


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
        (
            ("pass", "yes"),
            "row 3, column value: 'yes' is among pass and fail (row 2). Give each word a number, "
            "or none if it means a missing value: --values pass=1,yes=NUMBER.",
        ),
        (("1", "fail"), "row 3, column value: 'fail' is among numbers (row 2). Write all"),
        (("pass", "pass", "1"), "row 4, column value: '1' is among pass and fail (row 2)."),
        (("1", "2", "pass"), "row 4, column value: 'pass' is among numbers (row 2)."),
        (("pass", "good"), "row 3, column value: 'good' is among pass and fail (row 2)."),
    ],
)
def test_mixed_ways_are_refused(write: Write, values: tuple[str, ...], message: str) -> None:
    rows = "".join(f"q{i},r{i},OK,anna,human,{value}\n" for i, value in enumerate(values))
    with pytest.raises(InputError) as caught:
        read_scores(write("s.csv", HEAD + rows))
    assert message in str(caught.value)
    assert "1 fault" in str(caught.value)


def test_words_are_refused_on_another_scale(write: Write) -> None:
    path = write("s.csv", f"{HEAD}q1,r1,OK,anna,human,pass\n")
    with pytest.raises(InputError) as caught:
        read_scores(path, scales={"OK": Scale(min=0, max=100)})
    assert (
        "row 2, column value: a word for one of two values is 1 or 0, and the scale is 0 to 100"
        in (str(caught.value))
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


def labels(*values: tuple[str, str]) -> str:
    """A long table with a scorer and a value for each response."""
    return HEAD + "".join(
        f"q{i},r{i},OK,{scorer},{'judge' if scorer == 'gpt' else 'human'},{value}\n"
        for i, (scorer, value) in enumerate(values)
    )


def test_all_scorers_of_a_construct_are_read_by_one_vocabulary(write: Write) -> None:
    rows = [("gpt", "good"), ("gpt", "bad"), ("anna", "good"), ("anna", "ok"), ("anna", "bad")]
    frame = read_scores(write("s.csv", labels(*rows)))
    assert frame["value"].tolist() == [2, 0, 2, 1, 0]
    assert frame.attrs["word_scales"]["OK"]["gpt"] == [0, 2, 1, "ordinal"]


def test_declared_words_are_read_first(write: Write) -> None:
    rows = [("anna", "good"), ("anna", "so-so"), ("anna", "bad"), ("anna", "pass")]
    values = {"good": 5, "So so": 3, "bad": 1, "pass": None}
    frame = read_scores(write("s.csv", labels(*rows)), values=values)
    assert frame["value"].tolist() == pytest.approx([5, 3, 1, float("nan")], nan_ok=True)
    assert frame["missing_reason"].tolist()[3] == "blank"


def test_declared_words_that_do_not_occur_are_refused(write: Write) -> None:
    path = write("s.csv", labels(("anna", "good"), ("anna", "bad")))
    with pytest.raises(InputError, match=r"no column .* \(great\); the words there are: good, bad"):
        read_scores(path, values={"great": 1})


def test_ratios_and_judges_json_are_read(write: Write) -> None:
    rows = [
        {"query_id": f"q{i}", "response_id": f"r{i}", "construct": "OK", "scorer": "gpt",
         "scorer_kind": "judge", "value": value}
        for i, value in enumerate(["4/5", {"Score": 3, "reasoning": "x"}, '{"rating": "5"}', 2])
    ]  # fmt: skip
    frame = read_scores(write("s.jsonl", rows), scales={"OK": Scale(min=0, max=5)})
    assert frame["value"].tolist() == [4, 3, 5, 2]


CONSTRUCT = """
[[constructs]]
key = "OK"
name = "Quality"
question = "How good?"
scale = { min = 0, max = 2, step = 1 }
values = { superb = 2, fine = 1, poor = 0, "can't say" = "" }
"""


def filled(study: Study, write: Write, settings: str) -> Study:
    """The study with a construct and three responses."""
    (study.folder / "study.toml").write_text(f'name = "Words"\n{settings}', encoding="utf-8")
    opened = Study.open(study.folder)
    text = "query_id,query,response,system,response_id\n"
    import_file(opened, write("r.csv", text + "".join(f"q{i},Who?,I,A,r{i}\n" for i in range(4))))
    return opened


def test_a_study_declares_the_words_of_a_construct(study: Study, write: Write) -> None:
    rows = [("anna", "superb"), ("anna", "Fine"), ("anna", "cant say"), ("anna", "poor")]
    with filled(study, write, CONSTRUCT) as opened:
        summary = import_file(opened, write("s.csv", labels(*rows)))
    assert summary.added == {"scores": 4}
    assert summary.rules["superb read as 2, Fine as 1 and poor as 0"] == 3
    assert summary.rules["cells with cant say read as missing"] == 1


def test_an_import_takes_words_before_those_of_the_study(study: Study, write: Write) -> None:
    rows = [("anna", "superb"), ("anna", "fine"), ("anna", "poor")]
    with filled(study, write, CONSTRUCT) as opened:
        values = {"superb": 2, "fine": 2, "poor": 0}
        summary = import_file(opened, write("s.csv", labels(*rows)), values=values)
    assert "superb read as 2, fine as 2 and poor as 0" in summary.rules


def test_a_study_refuses_words_off_its_scale(study: Study, write: Write) -> None:
    settings = CONSTRUCT.replace("superb = 2", "superb = 7")
    with pytest.raises(StudyError, match="values of OK: 7 is outside the scale 0 to 2"):
        filled(study, write, settings)


def test_two_unknown_words_of_a_long_table_are_names(write: Write) -> None:
    rows = [
        f"q{i},r{i},KIND,{name},{kind},{('spam', 'ham')[i % 2]}\n"
        for i in range(4)
        for name, kind in (("anna", "human"), ("gpt", "judge"))
    ]
    path = write("s.csv", HEAD + "".join(rows))
    frame = read_scores(path)
    assert frame.attrs["word_scales"]["KIND"]["gpt"] == [0, 1, 1, "nominal"]
    assert frame.attrs["value_names"] == {"KIND": {0: "ham", 1: "spam"}}
    with pytest.raises(InputError, match="have no known order"):
        read_scores(path, scales={"KIND": Scale(min=0, max=1)})


def test_a_long_table_notes_the_direction_of_a_failure(write: Write) -> None:
    for values, counted in ((("yes", "no"), "yes"), (("1", "0"), "1")):
        rows = [f"q{i},r{i},toxicity,anna,human,{values[i % 2]}\n" for i in range(4)]
        summary = read_scores(write("s.csv", HEAD + "".join(rows))).attrs["summary"]
        assert any(
            f"{counted} counts as pass; in a column named 'toxicity'" in line for line in summary
        )


def test_numbers_of_a_long_table_are_declared_missing(write: Write) -> None:
    path = write("s.csv", f"{HEAD}q1,r1,OK,anna,human,-1\nq2,r2,OK,anna,human,4\n")
    frame = read_scores(path, values={"-1": None})
    assert frame["value"].tolist() == pytest.approx([float("nan"), 4], nan_ok=True)
    with pytest.raises(InputError, match="no column of scores has the number 9"):
        read_scores(path, values={"9": None})
