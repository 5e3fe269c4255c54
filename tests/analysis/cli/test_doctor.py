"""`ccrs doctor`: each command that it names runs."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.cli.column_options import NamedColumns
from analysis.cli.source_contents import file_contents
from study.cli.root import cli
from tests.analysis.scores import simulated
from tests.annotate_ui.label_studio.export_builder import annotation, result, task, written

pytestmark = pytest.mark.usefixtures("without_drawing")


def doctor(path: Path, *more: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", str(path), *more])


def rescaled(low: float, high: float, whole: bool) -> pd.DataFrame:
    frame = simulated()
    values = low + (high - low) * frame["value"] / 100
    return frame.assign(value=values.round() if whole else values.round(3))


@pytest.mark.parametrize(
    ("form", "low", "high", "whole", "scale"),
    [
        ("csv", 0, 1, False, "0:1"),
        ("csv", 1, 5, True, "1:5:1"),
        ("csv", 1, 10, True, "1:10"),
        ("csv", 0, 100, True, "0:100"),
        ("csv", 0, 100, False, "0:100"),
        ("tsv", 0, 100, False, "0:100"),
        ("jsonl", 1, 10, True, "1:10"),
        ("parquet", 1, 5, True, "1:5:1"),
        ("semicolons", 0, 1, False, "0:1"),
        ("semicolons", 0, 100, True, "0:100"),
        ("wide", 0, 100, False, "0:100"),
    ],
)
def test_each_scale_and_form_leads_to_a_command_that_runs(
    tmp_path: Path, form: str, low: float, high: float, whole: bool, scale: str
) -> None:
    frame = rescaled(low, high, whole)
    path = tmp_path / f"scores.{form if form in {'tsv', 'jsonl', 'parquet'} else 'csv'}"
    kinds: list[str] = []
    if form == "csv":
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    elif form == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif form == "jsonl":
        frame.astype(object).where(frame.notna(), None).to_json(path, orient="records", lines=True)
    elif form == "parquet":
        frame.to_parquet(path)
    elif form == "semicolons":
        frame.to_csv(path, index=False, sep=";", decimal=",")
    else:
        named = frame.assign(column=frame["scorer"] + ":" + frame["construct"])
        wide = named.pivot_table(
            index=["response_id", "query_id"], columns="column", values="value", aggfunc="first"
        )
        wide.reset_index().to_csv(path, index=False)
        kinds = [n for n, kind in zip(frame["scorer"], frame["scorer_kind"], strict=True)]
    result = doctor(path, "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert scale in content["diagnosis"]["scales"]
    assert set(content["guessed_kinds"]) == set(kinds)
    program, *words = shlex.split(content["command"])
    assert program == "ccrs"
    words += ["--no-verify", "--resamples", "100", "--out", str(tmp_path / "report")]
    made = CliRunner().invoke(cli, words)
    assert made.exit_code == 0, made.output


def test_the_text_says_what_cannot_be_computed_and_why(tmp_path: Path) -> None:
    frame = simulated()
    path = tmp_path / "judge.csv"
    frame[frame["scorer"] == "judge"].to_csv(path, index=False)
    result = doctor(path)
    assert result.exit_code == 0
    assert "no human ratings" in result.output
    assert "looks like 0:100" in result.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "query_id,response_id,construct,scorer,scorer_kind,value\nq,r,QR,a,human,some text\n",
            "some text",
        ),
        ("system,construct,scorer,scorer_kind,value\ns,QR,a,human,1\n", "query_id"),
        ("", "empty"),
        ("query_id,response_id,construct,scorer,scorer_kind,value\n", ""),
    ],
)
def test_what_cannot_be_read_exits_2_with_place_and_remedy(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    result = doctor(path)
    assert result.exit_code == 2, result.output
    assert says in result.stderr


def test_blanks_only_exit_1(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    simulated().assign(value=np.nan).to_csv(path, index=False)
    result = doctor(path)
    assert result.exit_code == 1, result.output
    assert "no statistic" in result.output


def test_responses_and_preferences_are_told(tmp_path: Path) -> None:
    responses = tmp_path / "responses.csv"
    responses.write_text("query_id,query,system,response\nq1,Who?,a,Me\n", encoding="utf-8")
    result = doctor(responses)
    assert result.exit_code == 0, result.output
    assert "ccrs import" in result.output
    preferences = tmp_path / "preferences.csv"
    preferences.write_text(
        "query_id,response_a,response_b,construct,scorer,scorer_kind,value\n"
        "q1,r1,r2,QR,anna,human,1\n",
        encoding="utf-8",
    )
    result = doctor(preferences)
    assert result.exit_code == 0, result.output
    assert "--preferences" in result.output


@pytest.mark.slow
def test_a_study_is_described(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    made = CliRunner().invoke(cli, ["demo", "--keep", str(folder), "--no-verify"])
    assert made.exit_code == 0, made.output
    result = doctor(folder)
    assert result.exit_code == 0, result.output
    assert "declared 0:100" in result.output
    assert f"ccrs report {folder}" in result.output


def test_an_export_of_label_studio_is_described_with_its_import(tmp_path: Path) -> None:
    numbers = annotation(1, 5, quality=40)
    numbers["result"] += [result("stars", "rating", 4), result("why", "choices", ["short"])]
    path = written(tmp_path, task(1, numbers, annotation(2, 7, quality=90)))
    found = doctor(path)
    assert found.exit_code == 0
    for line in (
        "control quality  number: 2 from 40 to 90",
        "control stars    rating: 1 from 4 to 4",
        "control why      choices: 'short' 1",
        "users            5, 7",
    ):
        assert f"  {line}\n" in found.output
    typed = f"{path} --control quality=CONSTRUCT --control stars=CONSTRUCT --scale stars=1:5"
    assert f"ccrs import my-study {typed}\n" in found.output
    # The command runs once its words in capitals are replaced.
    words = shlex.split(typed.replace("y=CONSTRUCT", "y=AC").replace("s=CONSTRUCT", "s=QR"))
    folder = str(tmp_path / "study")
    assert CliRunner().invoke(cli, ["init", folder]).exit_code == 0
    imported = CliRunner().invoke(cli, ["import", folder, *words])
    assert imported.exit_code == 0, imported.output


def test_choices_alone_are_described_with_the_number_of_each(tmp_path: Path) -> None:
    chosen = {**annotation(1, 5), "result": [result("verdict", "choices", ["good"])]}
    path = written(tmp_path, task(1, chosen))
    assert "--control verdict=CONSTRUCT --value good=NUMBER\n" in doctor(path).output
    record = json.loads(doctor(path, "--json").stdout)
    assert "--value good=NUMBER" in json.dumps(record)
    chosen["result"] = [result("verdict", "choices", ["4 - good"])]
    text = doctor(written(tmp_path, task(1, chosen))).output
    assert "--control verdict=CONSTRUCT\n" in text


def test_files_that_a_study_refuses_have_its_reasons_in_place_of_the_command(
    tmp_path: Path,
) -> None:
    two = [task(number, annotation(number, 5, AC=40 + number)) for number in (1, 2)]
    pushed = task(3, annotation(3, 5, AC=43), ccrs_id="1-1")
    listed = task(3, annotation(3, 5, AC=43)) | {"data": []}
    known = task(3, annotation(3, 5, AC=43)) | {"data": {"response_id": "r9"}}
    conflicting = task(3, annotation(3, 5, AC=43), question="Question 1?", response="Answer 1.")
    for third, says in (
        (listed, "row 3: the task has no data. Export the project again."),
        (known, "row 3, column response_id: 'r9' is not in the study."),
        (conflicting, "row 3: 43 for 'task-3' by 'ls-5' on AC, repeat 0, but row 1 has 41"),
        (pushed, "ccrs label-studio pull"),
    ):
        path = written(tmp_path, *two, third)
        found = doctor(path)
        assert found.exit_code == 1, found.output
        assert "A new study refuses the file\n" in found.output
        assert says in found.output
        assert "ccrs import" not in found.output
        record = json.loads(doctor(path, "--json").stdout)
        assert record["command"] is None
        assert says in record["refused"]
    path = written(tmp_path, *two)
    assert json.loads(doctor(path, "--json").stdout)["refused"] is None


def test_responses_that_a_study_refuses_are_no_command(tmp_path: Path) -> None:
    responses = tmp_path / "responses.csv"
    responses.write_text("query_id,query,system,response\nq1,Who?,a,Me\nq1,Who else?,b,You\n")
    found = doctor(responses)
    assert found.exit_code == 1, found.output
    assert "q1" in found.output.partition("A new study refuses the file")[2]


def test_the_command_of_a_file_whose_name_looks_like_an_option_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-r.csv").write_text("query_id,query,system,response\nq1,Who?,a,Me\n")
    found = CliRunner().invoke(cli, ["doctor", "--", "-r.csv"])
    assert found.exit_code == 0, found.output
    for command in found.output.rpartition("Next:")[2].split("&&"):
        done = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output


def test_the_trial_import_asks_for_nothing_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    def asked(*_: object) -> dict[str, str]:
        pytest.fail("a question that nobody sees")

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("study.cli.import_options.prompt_for_constructs", asked)
    path = written(tmp_path, task(1, annotation(1, 5, AC=41)), task(2, annotation(2, 5, AC=42)))
    assert file_contents(path, (), (), NamedColumns()).refused == ""
