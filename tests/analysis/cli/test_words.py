"""Words, ratios and JSON in the columns of judges and raters, through the installed command."""

import json
import random
from pathlib import Path

import pytest

from analysis.cli.column_options import NamedColumns
from analysis.cli.read_scores import from_file
from study.base.scales import Scale
from tests.ccrs_command import in_process

ROWS = 60
NAMED = ("--judge", "llm", "--human", "human", "--query", "question")


def written(folder: Path, judge: list[str], human: list[str]) -> Path:
    """A table of two columns and a question for every three rows."""
    path = folder / "t.tsv"
    lines = [f"q{row // 3}\t{a}\t{b}" for row, (a, b) in enumerate(zip(judge, human, strict=True))]
    path.write_text("\n".join(["question\tllm\thuman", *lines, ""]), encoding="utf-8")
    return path


def agreeing(words: list[str]) -> tuple[list[str], list[str]]:
    """Words of a judge and of a rater, of which four in five are alike."""
    chance = random.Random(4)
    human = [words[row % len(words)] for row in range(ROWS)]
    judge = [word if chance.random() < 0.8 else chance.choice(words) for word in human]
    return judge, human


TABLES = {
    "good, ok, bad": (["good", "ok", "bad"], (), "good read as 2, ok as 1 and bad as 0"),
    "correct, incorrect": (["correct", "incorrect"], (), "correct read as 1 and incorrect as 0"),
    "Y, N": (["Y", "N"], (), "Y read as 1 and N as 0"),
    "thumbs": (["👍", "👎🏽"], (), "👍 read as 1 and 👎🏽 as 0"),
    "Inspect": (["C", "P", "I", "N"], (), "C read as 1, P as 0.5, I as 0 and N as 0"),
    "neg, ind, pos": (["neg", "ind", "pos"], (), "pos read as 2, ind as 1 and neg as 0"),
    "unsure": (["good", "bad", "unsure"], (), "cells with unsure read as missing"),
    "declared": (
        ["superb", "meh", "dire"],
        ("--values", "superb=2,meh=1,dire=0"),
        "superb read as 2, meh as 1 and dire as 0",
    ),
    "JSON": (
        ['{"score": 1, "why": "x"}', '{"score": 2}', '```json {"score": 3} ```'],
        ("--scale", "1:3:1"),
        "cells with a JSON object read as the judgment in it (120)",
    ),
    "ratio": (
        ["1/5", "3/5", "5/5"],
        ("--scale", "1:5:1"),
        "scores such as 4/5 or 80% read by the end of the declared scale (120)",
    ),
    "categories": (["tea", "milk", "juice"], (), "juice read as 0, milk as 1 and tea as 2"),
}


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize("name", TABLES)
def test_a_report_reads_words(tmp_path: Path, name: str) -> None:
    words, options, told = TABLES[name]
    path = written(tmp_path, *agreeing(words))
    done = in_process("report", path, *NAMED, *options, "--no-verify", "--resamples", "100")
    assert done.returncode == 0, done.stderr
    assert f"Accepted: {told}" in done.stderr
    json.loads((tmp_path / "t-report" / "report.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("words", "options", "problem"),
    [
        (["good", "bad", "so-so"], (), "--values good=1,bad=0,so-so=NUMBER"),
        (["good", "bad"], ("--values", "great=1"), "no column of scores has a word"),
        (["good", "bad"], ("--values", "great"), "'great' is not WORD=NUMBER"),
        (["4/5", "3/5"], (), "--scale 0:5"),
        (["4 out of 5", "3 out of 5"], (), "--scale 0:5"),
        (["good", "ok", "bad"], ("--scale", "1:5:1"), "the words are 0 to 2"),
    ],
)
@pytest.mark.parametrize("command", ["report", "doctor"])
def test_what_cannot_be_read_is_refused_with_the_option(
    tmp_path: Path, words: list[str], options: tuple[str, ...], problem: str, command: str
) -> None:
    done = in_process(command, written(tmp_path, *agreeing(words)), *NAMED, *options)
    assert done.returncode == 2, done.stdout
    assert problem in done.stderr


def scales_of(path: Path, *scales: str) -> dict[tuple[str, str], Scale | None]:
    columns = NamedColumns(("llm",), ("human",), query="question")
    scores = from_file(path, scales, (), None, None, {}, columns=columns).scores
    return {("score", name): scores.scale("score", name) for name in ("llm", "human")}


def test_graded_words_have_their_scale(tmp_path: Path) -> None:
    path = written(tmp_path, *agreeing(["low", "medium", "high"]))
    assert set(scales_of(path).values()) == {Scale(0, 2, 1, "ordinal")}


def test_categories_are_nominal(tmp_path: Path) -> None:
    path = written(tmp_path, *agreeing(["tea", "milk", "juice", "beer"]))
    assert set(scales_of(path).values()) == {Scale(0, 3, 1, "nominal")}


def test_words_beside_numbers_have_a_scale_of_their_own(tmp_path: Path) -> None:
    judge, human = agreeing(["low", "medium", "high"])
    points = {"low": "1", "medium": "3", "high": "5"}
    path = written(tmp_path, [points[word] for word in judge], human)
    scales = scales_of(path)
    assert scales["score", "human"] == Scale(0, 2, 1, "ordinal")
    # The numbers are understood to be on the scale that they look like.
    assert scales["score", "llm"] == Scale(1, 5, 1)


SEVERITY = ["none", "minor", "major", "critical"]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (SEVERITY, "none read as 3, minor as 2, major as 1 and critical as 0"),
        (["None", "Mild", "Moderate", "Severe"], "None read as 3, Mild as 2"),
        (["none", "partial", "full"], "full read as 2, partial as 1 and none as 0"),
        (["none", "low", "medium", "high"], "high read as 3, medium as 2, low as 1 and none as 0"),
        (["hate", "none", "offensive"], "hate read as 0, none as 1 and offensive as 2"),
    ],
)
def test_none_is_a_word_among_words_that_it_belongs_to(
    tmp_path: Path, words: list[str], read: str
) -> None:
    people = [words[place % len(words)] for place in range(40)]
    judge = [words[(place + (place % 5 == 0)) % len(words)] for place in range(40)]
    result = in_process("report", str(written(tmp_path, judge, people)), "--text")
    assert read in result.stderr
    assert "40 responses" in result.stdout, result.stderr
    assert "read as missing" not in result.stderr


@pytest.mark.parametrize("words", [["pass", "fail"], ["1", "2"], ["Hate", "Offensive"]])
def test_none_is_missing_among_others(tmp_path: Path, words: list[str]) -> None:
    people = [words[place % 2] for place in range(40)]
    judge = ["none" if place < 4 else word for place, word in enumerate(people)]
    result = in_process("report", str(written(tmp_path, judge, people)), "--text")
    assert "36 responses" in result.stdout, result.stderr
    assert "none read as missing (4)" in result.stderr


def test_none_may_be_declared(tmp_path: Path) -> None:
    people = [SEVERITY[place % 4] for place in range(40)]
    values = "none=,minor=2,major=1,critical=0"
    path = written(tmp_path, people, people)
    result = in_process("report", str(path), "--text", "--values", values)
    assert "30 responses" in result.stdout, result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["minor", "major", "critical"],
        ["major", "minor"],
        ["partial", "full"],
        ["hate", "offensive"],
        ["low", "medium", "high"],
    ],
)
@pytest.mark.parametrize("level", [True, False])
def test_none_in_other_capitals_than_the_words_is_missing(
    tmp_path: Path, words: list[str], level: bool
) -> None:
    people = [words[place % len(words)] for place in range(40)]
    judge = ["None" if place < 4 else word for place, word in enumerate(people)]
    if level:
        judge = ["none" if 4 <= place < 10 else word for place, word in enumerate(judge)]
        people = ["none" if 4 <= place < 10 else word for place, word in enumerate(people)]
    result = in_process("report", str(written(tmp_path, judge, people)), "--text")
    assert "36 responses" in result.stdout, result.stderr
    assert "none read as missing (4)" in result.stderr


def test_none_with_a_capital_letter_as_a_level_is_named(tmp_path: Path) -> None:
    words = ["None", "Low", "Medium", "High"]
    people = [words[place % 4] for place in range(40)]
    path = written(tmp_path, people, people)
    result = in_process("report", str(path), "--text")
    assert "None is read as one of" in result.stderr
    assert "--values None=" in result.stderr
    again = in_process("report", str(path), "--text", "--values", "None=")
    assert "30 responses" in again.stdout, again.stderr


def test_the_numbers_of_categories_are_asked_for_none_too(tmp_path: Path) -> None:
    words = ["hate", "none", "offensive"]
    people = [words[place % 3] for place in range(40)]
    result = in_process("report", str(written(tmp_path, people, people)), "--text")
    assert "hate=NUMBER,none=NUMBER,offensive=NUMBER" in result.stderr
