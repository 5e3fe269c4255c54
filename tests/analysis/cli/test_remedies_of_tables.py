"""Tables that are refused with a remedy, each of which is followed and works."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ccrs_study import evaluate
from study.cli.root import cli

HUMAN = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 2, 4]
LLM = [2, 2, 3, 5, 5, 4, 4, 2, 1, 1, 3, 4]


def report(folder: Path, frame: pd.DataFrame, *options: str) -> Result:
    path = folder / "t.csv"
    frame.to_csv(path, index=False)
    return CliRunner().invoke(cli, ["report", str(path), "--text", *options])


def table(**columns: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame({"item": [f"i{row}" for row in range(12)], **columns})


def printed_command(result: Result) -> list[str]:
    """The arguments of the command that a message ends with."""
    return shlex.split(result.output.rpartition("ccrs ")[2].strip().removesuffix("."))


def in_words(words: Sequence[str], numbers: Sequence[int]) -> list[str]:
    return [words[number - 1] for number in numbers]


def test_each_word_is_to_be_declared_once(tmp_path: Path) -> None:
    judge = ["pass", "Pass", "fail", "Fail", "pass", "fail"] * 2
    frame = table(judge=judge, human=["Pass", "pass", "FAIL", "fail", "fial", "fail"] * 2)
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    option = result.output.rpartition("--values ")[2].strip().removesuffix(".")
    assert option == "pass=1,fail=0,fial=NUMBER"
    filled = report(tmp_path, frame, "--values", option.replace("NUMBER", "0"))
    assert filled.exit_code == 0, filled.output


@pytest.mark.parametrize("prompt", ["prompt", "You are an expert. Count the id of {{question}}:"])
@pytest.mark.parametrize("provider", ["openai:gpt-4o-mini", "anthropic:messages:claude-3-5-haiku"])
def test_csv_of_promptfoo(tmp_path: Path, prompt: str, provider: str) -> None:
    column = f"[{provider}] {prompt}"
    outputs = [f"[{'PASS' if value > 2 else 'FAIL'}] a text,\nof two lines" for value in LLM]
    human = ["pass" if value > 2 else "fail" for value in HUMAN]
    frame = pd.DataFrame({"question": [f"q {n}" for n in range(12)], column: outputs, "h": human})
    result = report(tmp_path, frame.rename(columns={"h": "human"}))
    assert result.exit_code == 0, result.output
    assert f"{column} compared with human: 12 responses; pass or fail." in result.stdout
    assert "cells that begin with [PASS] or [FAIL] read as that (12)" in result.output


def test_a_provider_that_nothing_tells_is_a_candidate(tmp_path: Path) -> None:
    outputs = [f"[{'PASS' if value > 2 else 'FAIL'}] a text" for value in LLM]
    frame = table(**{"[file://p.py] prompt": outputs}, human=["pass", "fail", "pass"] * 4)
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "Columns that may be: '[file://p.py] prompt'" in result.output
    assert "--judge COLUMN --human human" in result.output
    assert report(tmp_path, frame, "--judge", "[file://p.py] prompt").exit_code == 0


def objects(*fields: str) -> list[str]:
    return [json.dumps(dict.fromkeys(fields, value) | {"why": "so"}) for value in LLM]


@pytest.mark.parametrize("declared", [(), ("--judge", "judge", "--human", "human")])
def test_objects_with_several_scores(tmp_path: Path, declared: tuple[str, ...]) -> None:
    both = objects("relevance", "fluency")
    frame = table(judge=both, human=both[::-1])
    result = report(tmp_path, frame, *declared)
    assert result.exit_code == 2
    assert "1 fault" in result.output
    assert "the columns 'judge', 'human' have JSON objects with several scores" in result.output
    assert "(relevance, fluency)" in result.output
    code = result.output.rpartition("in pandas: ")[2].strip().removesuffix(".")
    names = {"frame": frame, "json": json, "pd": pd}
    exec(code, names)
    written = names["frame"]
    assert isinstance(written, pd.DataFrame)
    reread = report(tmp_path, written.drop(columns=["judge_why", "human_why"]))
    assert reread.exit_code == 0, reread.output
    assert "judge compared with human: 12 responses, 2 constructs" in reread.stdout
    with pytest.raises(ValueError, match="JSON objects with several scores"):
        evaluate(frame)


def test_doctor_names_objects_with_several_scores(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    both = objects("relevance", "fluency")
    table(judge=both, human=both).to_csv(path, index=False)
    result = CliRunner().invoke(cli, ["doctor", str(path)])
    assert "JSON objects with several scores (relevance, fluency)" in result.output
    assert "with the table in its new form" in result.output.lower()
    assert "OTHER_FILE" not in result.output


def test_an_object_with_one_judgment_is_read(tmp_path: Path) -> None:
    result = report(tmp_path, table(judge=objects("score", "tokens"), human=HUMAN))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("names", [["judge_anna", "judge_ben"], ["judge_1", "judge_2"], ["judge"]])
def test_people_who_are_called_judges(tmp_path: Path, names: list[str]) -> None:
    frame = table(**dict.fromkeys(names, HUMAN), gpt4=LLM)
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "may be of people who are called judges" in result.output
    people = " ".join(f"--human {name}" for name in names)
    assert f"--judge gpt4 {people} --id item" in result.output
    ready = CliRunner().invoke(cli, printed_command(result))
    assert ready.exit_code == 0, ready.output
    assert "gpt4 compared with" in ready.stdout
    with pytest.raises(ValueError, match=r"called judges.*evaluate\(data, judge='gpt4'"):
        evaluate(frame)


@pytest.mark.parametrize(
    "words",
    [
        ["mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"],
        ["sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"],
        ["très mauvais", "mauvais", "moyen", "bon", "très bon"],
        ["muy malo", "malo", "regular", "bueno", "muy bueno"],
        ["pessimo", "cattivo", "discreto", "buono", "ottimo"],
        ["muito ruim", "ruim", "regular", "bom", "muito bom"],
    ],
)
def test_scales_in_other_languages_are_read(tmp_path: Path, words: list[str]) -> None:
    frame = table(judge=in_words(words, LLM), human=in_words(words, HUMAN))
    result = report(tmp_path, frame)
    assert result.exit_code == 0, result.output
    assert "categories" not in result.stdout
    highest = next(line for line in result.output.splitlines() if line.startswith("Accepted: "))
    assert highest.startswith(f"Accepted: {words[-1]} read as ")
    assert highest.index(words[-2]) < highest.index(words[0])


@pytest.mark.parametrize(
    "words",
    [
        ["heikel", "brisant", "mies", "toll", "sehr toll"],
        ["lavender", "mild", "hot", "very hot", "extremely hot"],
    ],
)
def test_degrees_of_something_are_no_categories(tmp_path: Path, words: list[str]) -> None:
    frame = table(judge=in_words(words, LLM), human=in_words(words, HUMAN))
    result = report(tmp_path, frame)
    assert result.exit_code == 2, result.output
    option = result.output.rpartition("--values ")[2].strip().splitlines()[0].removesuffix(".")
    (pairs,) = shlex.split(option)
    assert pairs.count("NUMBER") == len(words)
    declared = ",".join(f"{word}={number}" for number, word in enumerate(words))
    assert report(tmp_path, frame, "--values", declared).exit_code == 0


def test_decimal_commas_are_one_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_commas = [f"{value},5" for value in HUMAN]
    frame = table(judge=with_commas, human=with_commas[::-1])
    result = report(tmp_path, frame)
    assert result.exit_code == 2
    assert "1 fault" in result.output
    assert "row 2, column judge: '1,5' is not a number. So are 23 further cells." in result.output
    code = result.output.rpartition("in pandas: ")[2].strip().removesuffix(".")
    exec(code, {"pd": pd})
    reread = CliRunner().invoke(cli, ["report", "t.csv", "--text"])
    assert reread.exit_code == 0, reread.output


def test_one_decimal_comma_is_named_with_its_number(tmp_path: Path) -> None:
    judge: list[object] = ["3,5", *LLM[1:]]
    result = report(tmp_path, table(judge=judge, human=HUMAN))
    assert result.exit_code == 2
    assert "Write 3.5 if a decimal number is meant." in result.output
