"""A table with a column for each judge and rater: named by options, or recognized."""

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, strategies as st

from analysis.cli.column_options import NamedColumns
from analysis.cli.doctor import doctor
from analysis.cli.read_scores import from_file
from analysis.cli.report import report
from analysis.cli.report_input import say_declared
from analysis.cli.taken_columns import taken_columns
from analysis.core.errors import TableError
from study.errors import InputError

pytestmark = pytest.mark.usefixtures("without_drawing")


def written(folder: Path, name: str, **columns: list[object]) -> Path:
    path = folder / name
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return written(
        tmp_path,
        "my results.csv",
        question=[f"What is {i // 2}?" for i in range(20)],
        answer=["text"] * 20,
        human_score=[1 + i % 5 for i in range(20)],
        llm_score=[1 + (i + i // 7) % 5 for i in range(20)],
    )


def run(*arguments: object) -> Result:
    words = [*map(str, arguments), "--resamples", "200", "--no-verify"]
    return CliRunner().invoke(report, words, prog_name="report")


def test_named_columns_are_read_whole(answers: Path) -> None:
    result = run(
        answers, "--judge", "llm_score", "--human", "human_score", "--query", "question",
        "--scale", "1:5:1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads((answers.parent / "my results-report" / "report.json").read_text("utf-8"))
    assert document["verdict"][0]["scorer"] == "llm_score"
    assert "Left out, not used: answer." in result.stderr
    scores = from_file(
        answers, ["1:5:1"], (), None, None, {},
        columns=NamedColumns(("llm_score",), ("human_score",), query="question"),
    ).scores  # fmt: skip
    assert len(scores.frame) == 40
    assert len(scores.queries) == 10


def test_columns_are_recognized_and_the_declaration_is_printed(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = from_file(answers, (), (), None, None, {})
    scores = inputs.scores
    assert scores.scorer_kinds == {"llm_score": "judge", "human_score": "human"}
    assert "ccrs report" not in capsys.readouterr().err
    say_declared(inputs.declared)
    message = capsys.readouterr().err
    declared = f"{shlex.quote(str(answers))} --judge llm_score --human human_score --query question"
    assert message == f"The same, declared: ccrs report {declared}\n"
    assert "--scale 1:5:1, which is used" in scores.warnings[-1]


def test_what_the_user_names_takes_precedence(answers: Path) -> None:
    table = pd.read_csv(answers).assign(topic=["a", "b", "c", "d"] * 5)
    table.to_csv(answers, index=False)
    named = NamedColumns(query="topic")
    scores = from_file(answers, (), (), None, None, {}, columns=named).scores
    assert scores.scorer_kinds == {"llm_score": "judge", "human_score": "human"}
    assert len(scores.queries) == 4


def test_the_scale_that_was_understood_is_said_once(tmp_path: Path) -> None:
    human = [1 + i % 5 for i in range(40)]
    path = written(tmp_path, "t.csv", human=human, gpt4=[6 - v if v < 3 else v for v in human])
    result = CliRunner().invoke(report, [str(path), "--no-verify"], prog_name="report")
    assert result.exit_code == 0
    assert result.output.count("the values look as if they were on that of") == 1


def test_several_columns_in_one_option_are_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", anna=[1, 2, 3], ben=[1, 3, 2], judge=[1, 2, 3])
    result = run(path, "--human", "anna,ben")
    assert "Of several columns each has an option of its own." in result.stderr


def test_constructs_are_recognized_by_the_rest_of_names(tmp_path: Path) -> None:
    path = written(
        tmp_path, "t.csv",
        human_qr=[1.0, 2.0], human_cc=[1.0, 2.0], llm_qr=[1.0, 2.0], llm_cc=[2.0, 1.0],
    )  # fmt: skip
    assert taken_columns(path).columns == NamedColumns(
        ("QR=llm_qr", "CC=llm_cc"), ("QR=human_qr", "CC=human_cc")
    )


@pytest.mark.parametrize(
    ("columns", "example"),
    [
        ({"rating": [1, 2], "judge": [5, 4]}, "--judge judge --human COLUMN"),
        (
            {"id": ["a", "a"], "human": [1, 2], "llm": [5, 4]},
            "--judge llm --human human --query id",
        ),
        (
            {"construct": ["x", "y"], "human": [1, 2], "llm": [5, 4]},
            "--judge llm --human human --id COLUMN --construct construct",
        ),
    ],
)
def test_unclear_columns_are_refused_with_a_command(
    tmp_path: Path, columns: dict[str, list[object]], example: str
) -> None:
    path = written(tmp_path, "t.csv", **columns)
    with pytest.raises(TableError) as caught:
        taken_columns(path)
    assert example in str(caught.value)
    assert f"ccrs report {path}" in str(caught.value)


def test_rows_of_a_response_on_several_constructs_are_recognized_by_their_id(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path, "t.csv", id=["a", "a"], construct=["x", "y"], human=[1, 2], llm=[5, 4]
    )  # fmt: skip
    columns = NamedColumns(("llm",), ("human",), id="id", construct="construct")
    assert taken_columns(path).columns == columns


def test_tables_that_name_their_scorers_are_not_recognized(tmp_path: Path) -> None:
    long = {"query_id": ["q"], "construct": ["QR"], "rater": [1], "value": [3]}
    assert taken_columns(written(tmp_path, "long.csv", **long)).form == "long"
    wide: dict[str, list[object]] = {"query_id": ["q"], "anna:QR": [1], "human:QR": [3]}
    assert taken_columns(written(tmp_path, "wide.csv", **wide)).form == "wide"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"llm": ["4", "many"]}, "row 3, column llm: 'many' is not a number"),
        ({"id": ["a", "a"]}, "row 3, column id: 'a' is also in row 2"),
        ({"id": ["a", ""]}, "row 3, column id: is blank"),
        ({"llm": [4, 9]}, "row 3: 9 for score by 'llm' is outside 1 to 5"),
    ],
)
def test_faults_name_the_row_in_the_file(
    tmp_path: Path, change: dict[str, list[object]], says: str
) -> None:
    columns: dict[str, list[object]] = {"id": ["a", "b"], "human": [1, 2], "llm": [5, 4]}
    path = written(tmp_path, "t.csv", **(columns | change))
    result = run(path, "--judge", "llm", "--human", "human", "--id", "id", "--scale", "1:5")
    assert result.exit_code == 2
    assert says in result.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--judge", "llm_scor"], "--judge: the column 'llm_scor' is missing"),
        (["--judge", "llm", "--human", "human_score"], "column 'llm' is missing"),
        (["--judge", "QR=llm_score", "--human", "human_score"], "both by construct, or neither"),
        (
            ["--judge", "llm_score", "--human", "human_score", "--kind", "x=human"],
            "leave --kind out",
        ),
    ],
)
def test_bad_names_exit_2(answers: Path, options: list[str], says: str) -> None:
    result = run(answers, *options)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_scale_that_values_contradict_is_refused_unless_declared_for_the_scorer(
    answers: Path,
) -> None:
    result = run(answers, "--scale", "0:100")
    assert result.exit_code == 2
    assert "all 20 values are within 1 to 5, on a declared scale of 0 to 100" in result.stderr
    assert "--scale llm_score:score=1:5:1" in result.stderr
    sure = ["llm_score:score=0:100", "human_score:score=0:100"]
    from_file(answers, ["0:100", *sure], (), None, None, {})


def test_words_for_pass_and_fail_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path, "t.csv", human=["pass", "fail", "pass"], llm=["Pass", "pass", "fail"]
    )  # fmt: skip
    scores = from_file(path, ["0:1:1"], (), None, None, {}).scores
    assert scores.frame["value"].tolist() == [1, 1, 0, 1, 0, 1]
    result = run(path, "--scale", "0:10")
    assert result.exit_code == 2
    assert "is 1 or 0, and the scale is 0 to 10" in result.stderr


def test_doctor_prints_the_command_that_works(answers: Path) -> None:
    result = CliRunner().invoke(doctor, [str(answers), "--json"])
    assert result.exit_code == 0, result.output
    command = shlex.split(json.loads(result.stdout)["command"])
    assert command[:2] == ["ccrs", "report"]
    assert command[3:7] == ["--judge", "llm_score", "--human", "human_score"]
    assert run(*command[2:]).exit_code == 0


@given(
    st.lists(
        st.tuples(*[st.none() | st.integers(0, 100)] * 3), min_size=3, max_size=12
    ).filter(lambda rows: any(value is not None for row in rows for value in row))
)  # fmt: skip
@pytest.mark.slow
def test_a_wide_table_has_the_scores_of_the_long_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int | None, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    names = {"llm": "judge", "anna": "human", "ben": "human"}
    wide = pd.DataFrame(rows, columns=list(names), dtype=object)
    wide.insert(0, "id", [f"r{i}" for i in range(len(rows))])
    wide.insert(1, "question", [f"q{i // 2}" for i in range(len(rows))])
    wide.to_csv(folder / "wide.csv", index=False)
    long = wide.melt(id_vars=["id", "question"], var_name="scorer", value_name="value")
    long = long.rename(columns={"id": "response_id", "question": "query_id"})
    long["scorer_kind"] = long["scorer"].map(names)
    long.assign(construct="score").to_csv(folder / "long.csv", index=False)
    columns = NamedColumns(("llm",), ("anna", "ben"), id="id", query="question")
    first = from_file(folder / "wide.csv", ["0:200"], (), None, None, {}, columns=columns).scores
    second = from_file(folder / "long.csv", ["0:200"], (), None, None, {}).scores
    same = ["response_id", "query_id", "construct", "scorer", "scorer_kind", "value"]
    pd.testing.assert_frame_equal(
        first.frame[same].astype(dict.fromkeys(same[:-1], str)),
        second.frame[same].astype(dict.fromkeys(same[:-1], str)),
    )


def test_a_judge_of_pass_and_fail_leads_to_the_cut_of_graded_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "t.csv", human=[1, 2, 5, 4], llm=["fail", "fail", "pass", "fail"])
    named = NamedColumns(("llm",), ("human",))
    from_file(path, (), (), None, None, {}, columns=named)
    assert "--cut human=VALUE" in capsys.readouterr().err
    from_file(path, (), (), None, None, {"cut": {"human": 4.0}}, columns=named)
    assert "--cut" not in capsys.readouterr().err
    with pytest.raises(InputError, match="Add --scale llm:score=0:1:1 and the lowest value with"):
        from_file(path, ["1:5"], (), None, None, {}, columns=named)
    scales = ["1:5:1", "llm:score=0:1:1"]
    assert from_file(path, scales, (), None, None, {}, columns=named).scores.scales


def test_a_third_category_among_pass_and_fail_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", human=["pass", "fail", "mostly"], llm=["pass"] * 3)
    with pytest.raises(InputError) as caught:
        from_file(path, (), (), None, None, {}, columns=NamedColumns(("llm",), ("human",)))
    assert "row 4, column human: 'mostly' is among pass and fail (row 2)" in str(caught.value)
    assert "--values pass=1,fail=0,mostly=NUMBER" in str(caught.value)


def test_doctor_names_columns_of_pass_and_fail(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", human=[1, 2, 5, 4], llm=["fail", "fail", "pass", "fail"])
    result = CliRunner().invoke(doctor, [str(path)])
    assert "score, llm (judge): 4 values; 0 to 1, 2 distinct; pass or fail" in result.output
    assert "score, human (human): 4 values; 1 to 5, 4 distinct; looks like 1:5:1" in result.output
