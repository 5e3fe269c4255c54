"""Judges' scores and people's scores in two files, joined by the ids of responses."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli
from tests.ccrs_command import in_process

pytestmark = pytest.mark.usefixtures("without_drawing")

N = 30
RNG = np.random.default_rng(7)
PEOPLE = RNG.integers(1, 6, N)
JUDGE = np.clip(PEOPLE + RNG.integers(-1, 2, N), 1, 5)
IDS = [f"s{i}" for i in range(N)]

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a CSV file and returns its path."""

    def written(name: str, **columns: Any) -> str:
        path = tmp_path / name
        pd.DataFrame(columns).to_csv(path, index=False)
        return str(path)

    return written


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def report(*arguments: str) -> Result:
    return run("report", *arguments, "--text")


def refused(*arguments: str) -> str:
    """Return the message of a command that could not run."""
    result = report(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def declared(result: Result) -> list[str]:
    """Return the words of the command that declares what was recognized."""
    line = next(x for x in result.output.splitlines() if "The same, declared: " in x)
    return shlex.split(line.partition("declared: ")[2])


def test_a_run_of_a_judge_and_a_queue_of_ratings(write: Write, tmp_path: Path) -> None:
    judge = write("run.csv", session_id=IDS[::-1], evaluator="gpt-4o", score=JUDGE[::-1])
    people = write("queue.csv", session_id=IDS[:20], annotator="kim", rating=PEOPLE[:20])
    result = in_process("report", judge, people, "--on", "session_id", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert "gpt-4o compared with kim: 20 responses" in result.stdout
    assert "run.csv: 10 responses are without people's scores" in result.stderr
    content = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    bias = next(e for e in content["estimates"] if e["statistic"] == "bias")
    assert bias["value"] == pytest.approx(float(np.mean(JUDGE[:20] - PEOPLE[:20])))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("judge", "people"),
    [
        pytest.param({"llm_score": JUDGE}, {"human_score": PEOPLE}, id="columns"),
        pytest.param({"evaluator": "gpt-4o", "score": JUDGE}, {"human": PEOPLE}, id="rows"),
        pytest.param({"gpt4o": JUDGE}, {"annotator": "kim", "label": PEOPLE}, id="annotator"),
        pytest.param({"score": JUDGE}, {"score": PEOPLE}, id="named by files"),
        pytest.param({"quality": JUDGE}, {"quality": PEOPLE}, id="a construct named by files"),
    ],
)
def test_the_sides_are_told_by_evidence(
    write: Write, judge: dict[str, Any], people: dict[str, Any], order: int
) -> None:
    files = [write("judge.csv", id=IDS, **judge), write("human.csv", id=IDS, **people)]
    result = report(*files[::order])
    assert result.exit_code == 0, result.output
    assert f"Bias: {float(np.mean(JUDGE - PEOPLE)):+.1f}" in result.output
    assert "joined by the column 'id'" in result.output
    if "declared: " in result.output:
        again = run(*declared(result)[1:])
        assert again.exit_code == 0, again.output
        assert again.stdout.splitlines()[2:] == result.stdout.splitlines()[2:]


def test_columns_of_one_name_are_the_judges_in_the_first_file(write: Write) -> None:
    first, second = write("a.csv", id=IDS, score=JUDGE), write("b.csv", id=IDS, score=PEOPLE)
    message = refused(first, second)
    assert "--judge COLUMN --human COLUMN" in message
    assert "'score'" in message
    result = report(first, second, "--on", "id", "--judge", "score", "--human", "score")
    assert result.exit_code == 0, result.output
    assert "judge score compared with human score" in result.output


def test_one_side_that_nothing_tells_is_left_open(write: Write) -> None:
    judge = write("a.csv", id=IDS, gpt4o=JUDGE)
    people = write("b.csv", id=IDS, anna=PEOPLE, ben=PEOPLE[::-1])
    message = refused(judge, people)
    assert "'anna', 'ben'" in message
    words = shlex.split(message.partition("place of COLUMN: ")[2])
    assert words[-4:] == ["--judge", "gpt4o", "--human", "COLUMN"]
    assert run(*words[1:-1], "anna").exit_code == 0


def test_several_people_in_rows_of_a_column_with_another_name(write: Write) -> None:
    judge = write("a.csv", id=IDS, gpt4o=JUDGE)
    names = ["kim"] * N + ["bo"] * N
    people = write("b.csv", id=IDS * 2, annotator=names, human_score=[*PEOPLE, *JUDGE])
    result = report(judge, people)
    assert result.exit_code == 0, result.output
    assert "2 raters" in result.output


def test_constructs_of_both_files_belong_together(write: Write) -> None:
    scores = {"criterion": ["relevance"] * N + ["fluency"] * N, "score": [*JUDGE, *PEOPLE]}
    rows = write("a.csv", id=IDS * 2, evaluator="gpt-4o", **scores)
    columns = write("b.csv", id=IDS, human_relevance=PEOPLE, human_fluency=PEOPLE)
    result = report(rows, columns)
    assert result.exit_code == 0, result.output
    assert "2 constructs" in result.output
    other = write("c.csv", id=IDS, human_style=PEOPLE)
    message = refused(rows, other)
    assert "relevance, fluency" in message
    assert "CONSTRUCT=COLUMN" in message


def test_ids_of_people_without_a_partner_are_an_error(write: Write) -> None:
    judge = write("a.csv", id=IDS[5:], gpt4o=JUDGE[5:])
    people = write("b.csv", id=[*IDS[:10], *IDS[12:]], human=[*PEOPLE[:10], *PEOPLE[12:]])
    message = refused(judge, people)
    assert "5 of 28 ids of b.csv are not in a.csv ('s0', 's1', 's2', 's3', 's4')" in message
    assert "ids of a.csv" not in message
    result = report(judge, people, "--allow-unmatched")
    assert result.exit_code == 0, result.output
    assert "compared with human: 23 responses" in result.output
    assert "scores on 5 responses left out" in result.output


def test_without_a_common_id_nothing_is_compared(write: Write) -> None:
    judge = write("a.csv", id=IDS, gpt4o=JUDGE)
    people = write("b.csv", key=[f"x{i}" for i in IDS], human=PEOPLE)
    assert "no column has the same ids" in refused(judge, people)
    message = refused(judge, people, "--on", "id=key", "--allow-unmatched")
    assert "30 of 30 ids of a.csv are not in b.csv" in message
    assert "'gone' of --on is missing" in refused(judge, people, "--on", "gone")


def test_ids_are_compared_without_white_space_and_decimals(write: Write) -> None:
    judge = write("a.csv", run=[f"{i}.0" for i in range(N)], gpt4o=JUDGE)
    people = write("b.csv", trace=[f" {i}" for i in range(N)], human=PEOPLE)
    result = report(judge, people, "--on", "run=trace")
    assert result.exit_code == 0, result.output
    assert "Joined by run=trace: 30 responses are in both files" in result.output


def test_the_query_and_the_system_are_those_of_the_file_that_has_them(write: Write) -> None:
    queries, systems = [f"q{i // 2}" for i in range(N)], ["x", "y"] * (N // 2)
    judge = write("a.csv", id=IDS, question=queries, gpt4o=JUDGE)
    people = write("b.csv", id=IDS, human=PEOPLE, model=systems)
    result = report(judge, people)
    assert "30 responses to 15 queries by 2 systems" in result.output
    other = write("c.csv", id=IDS, human=PEOPLE, question=queries[::-1])
    assert "has the query 'q0' in a.csv and 'q14' in c.csv" in refused(judge, other)


def test_words_of_both_files_are_numbers_of_one_scale(write: Write) -> None:
    two = ["bad" if v < 3 else "good" for v in JUDGE]
    three = [("bad", "ok", "good")[min(2, int(v - 1) // 2)] for v in PEOPLE]
    judge, people = write("a.csv", id=IDS, gpt4o=two), write("b.csv", id=IDS, human=three)
    assert "--values WORD=NUMBER" in refused(judge, people)
    given = ("--values", "bad=0,ok=1,good=2")
    assert report(judge, people, *given).exit_code == 0
    numbers = write("c.csv", id=IDS, gpt4o=JUDGE)
    assert report(numbers, people, *given).exit_code == 0
    assert "(gone)" in refused(numbers, people, "--values", "gone=1")


def test_names_of_two_files_have_one_number(write: Write) -> None:
    names = [("ham", "spam")[int(v) % 2] for v in JUDGE]
    others = [("egg", "ham")[int(v) % 2] for v in PEOPLE]
    judge = write("a.csv", id=IDS, gpt4o=names, claude=names[::-1])
    people = write("b.csv", id=IDS, human=others, expert=others[::-1])
    assert "have no known order, and are others in a.csv than in b.csv" in refused(judge, people)
    assert report(judge, people, "--values", "egg=0,ham=1,spam=2").exit_code == 0


def test_numbers_are_missing_in_the_file_that_has_them(write: Write) -> None:
    judge = write("a.csv", id=IDS, gpt4o=["99", *JUDGE[1:]])
    people = write("b.csv", id=IDS, human=[*PEOPLE[:-1], "-1"])
    result = report(judge, people, "--values=-1=,99=")
    assert "cells with 99 read as missing (1)" in result.output
    assert "cells with -1 read as missing (1)" in result.output
    assert "has the number 98" in refused(judge, people, "--values=-1=,99=,98=")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--on", "id"], "--on joins two files, and one is given"),
        (["--allow-unmatched"], "--allow-unmatched joins two files"),
    ],
)
def test_options_of_two_files_need_two(write: Write, arguments: list[str], message: str) -> None:
    assert message in refused(write("a.csv", id=IDS, gpt4o=JUDGE, human=PEOPLE), *arguments)


def test_two_files_of_people_or_of_judges_alone_are_refused(write: Write, tmp_path: Path) -> None:
    one, other = write("a.csv", id=IDS, human=PEOPLE), write("b.csv", id=IDS, expert=PEOPLE)
    assert "none of judges" in refused(one, other)
    assert "is named twice" in refused(one, one)
    assert "is a folder" in refused(one, str(tmp_path))
    judge = write("c.csv", id=IDS, gpt4o=JUDGE)
    assert "--allow-unmatched has no effect" in refused(judge, one, "--allow-unmatched")


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_the_command_for_another_file_runs_once_it_is_filled_in(write: Write, form: str) -> None:
    scores = {"evaluator": "gpt-4o", "score": JUDGE} if form == "rows" else {"gpt4o": JUDGE}
    judge, people = write("a.csv", run_id=IDS, **scores), write("b.csv", run_id=IDS, human=PEOPLE)
    result = report(judge)
    command = " ".join(result.output.split()).partition("give both: ")[2].split(" Joined")[0]
    words = shlex.split(command.partition(" a\n")[0])
    words = words[: words.index("run_id") + 1]
    assert "OTHER_FILE" in words
    filled = [people if word == "OTHER_FILE" else word for word in words]
    again = run(*filled[1:])
    assert again.exit_code == 0, again.output


def test_check_doctor_and_plan_take_two_files(write: Write) -> None:
    files = (write("a.csv", id=IDS, gpt4o=JUDGE), write("b.csv", id=IDS, human=PEOPLE))
    advice = in_process("doctor", *files)
    assert advice.returncode == 0, advice.stderr
    assert "two tables of scores, joined by id" in advice.stdout
    command = advice.stdout.partition("Next:   ")[2].splitlines()[0]
    assert run(*shlex.split(command)[1:], "--text").exit_code == 0
    checked = run("check", *files, "--scale", "1:5", "--require", "report_level=likely")
    assert checked.exit_code in (0, 1), checked.output
    assert "report_level" in checked.output
    people = write("b.csv", id=IDS, human_1=PEOPLE, human_2=JUDGE)
    few = ("--wanted", "pearson=0.2", "--runs", "2", "--queries", "20", "--raters", "2")
    planned = run("plan", files[0], people, *few)
    assert planned.exit_code == 0, planned.output


def test_ids_of_different_names_are_proposed(write: Write) -> None:
    judge = write("judge.csv", trace_id=IDS, judge_score=JUDGE)
    human = write("human.csv", trace=IDS, human_score=PEOPLE)
    assert "--on trace_id=trace." in refused(judge, human)
    done = report(judge, human, "--on", "trace_id=trace")
    assert f"{N} responses" in done.stdout, done.output
