"""Names that programs give to columns: camelCase, names of inner objects, Mechanical Turk, means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from study.cli.root import cli
from tests.analysis.cli.test_first_tables import IDS, JUDGE, PEOPLE, QUESTIONS, compared

SYSTEMS = ["one", "two"]
QUERIES = [f"What is {place // 2}?" for place in range(len(IDS))]
OF_SYSTEMS = SYSTEMS * (len(IDS) // 2)
RESPONSES = f"{len(IDS)} responses to {len(IDS) // 2} queries by 2 systems"


def report(path: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["report", str(path), "--text", "--resamples", "100", *options])


def in_lines(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "names",
    [
        ("responseId", "userInput", "modelName"),
        ("ResponseID", "QueryId", "systemName"),
        ("itemId", "questionId", "modelId"),
    ],
)
def test_words_of_a_name_may_be_joined(tmp_path: Path, names: tuple[str, str, str]) -> None:
    columns = zip(names, (IDS, QUERIES, OF_SYSTEMS), strict=True)
    path = tmp_path / "t.csv"
    pd.DataFrame({**dict(columns), "judge": JUDGE, "human": PEOPLE}).to_csv(path, index=False)
    result = report(path)
    assert RESPONSES in compared(result), result.output


@pytest.mark.parametrize(
    ("query", "system"),
    [
        (("meta", "query"), ("meta", "system")),
        (("sample", "question"), ("sample", "model")),
        (("query", "text"), ("response", "model")),
        (("question", "id"), ("system", "name")),
        (("item", "prompt"), ("model", "id")),
    ],
)
def test_inner_values_of_objects_are_recognized(
    tmp_path: Path, query: tuple[str, str], system: tuple[str, str]
) -> None:
    rows: list[dict[str, Any]] = []
    for place, text in enumerate(QUERIES):
        row: dict[str, Any] = {"scores": {"human": PEOPLE[place], "judge": JUDGE[place]}}
        for (outer, inner), cell in ((query, text), (system, OF_SYSTEMS[place])):
            row.setdefault(outer, {})[inner] = cell
        rows.append(row)
    result = report(in_lines(tmp_path, rows))
    assert RESPONSES in compared(result), result.output


@pytest.mark.parametrize("outer", ["judge", "evaluator", "grader"])
def test_the_model_of_a_judge_is_no_system(tmp_path: Path, outer: str) -> None:
    rows = [
        {"id": key, "question": text, outer: {"model": f"m{place % 2}", "score": JUDGE[place]},
         "human": {"score": PEOPLE[place]}}
        for place, (key, text) in enumerate(zip(IDS, QUESTIONS, strict=True))
    ]  # fmt: skip
    result = report(in_lines(tmp_path, rows))
    assert "systems" not in result.stdout.split("\n\n")[0], result.output


def test_results_of_mechanical_turk(tmp_path: Path) -> None:
    shifts = {"A1": 0, "A2": 1, "A3": -1}
    rows = [
        {
            "HITId": f"H{place}",
            "AssignmentId": f"{place}{worker}",
            "WorkerId": worker,
            "WorkTimeInSeconds": 30 + place,
            "Input.question": QUERIES[place],
            "Input.answer": f"It is {place}.",
            "Input.model": OF_SYSTEMS[place],
            "Input.gpt4_score": JUDGE[place],
            "Answer.rating": min(5, max(1, PEOPLE[place] + shift * (place % 2))),
        }
        for place in range(len(IDS))
        for worker, shift in shifts.items()
    ]
    path = tmp_path / "batch.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    result = report(path)
    assert "3 raters (A1, A2 and A3)" in result.stdout, result.output
    assert RESPONSES in result.stdout


def test_columns_whose_mean_a_table_has_are_those_of_raters(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question": QUERIES, "Anna": PEOPLE, "Ben": JUDGE[::-1], "judge": JUDGE})
    frame["Cleo"] = [1 + place % 5 for place in range(len(frame))]
    frame["words"] = [10 + place for place in range(len(frame))]
    frame["mean_human"] = frame[["Anna", "Ben", "Cleo"]].mean(axis=1).round(2)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    result = report(path)
    assert "3 raters (Anna, Ben and Cleo)" in result.stdout, result.output
    left_out = next(line for line in result.stderr.splitlines() if line.startswith("Left out"))
    assert "mean_human" in left_out
    assert "Anna" not in left_out


def test_a_mean_of_nothing_in_the_table_stands_for_the_raters(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question": QUERIES, "Anna": PEOPLE, "Ben": JUDGE[::-1], "judge": JUDGE})
    frame["mean_human"] = [(place * 7 % 9) / 2 + 0.5 for place in range(len(frame))]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    assert "judge compared with mean_human" in report(path).stdout


def test_answers_of_several_lines_are_texts(tmp_path: Path) -> None:
    cells = [f"The answer is fine.\nScore: {value}" for value in JUDGE]
    path = tmp_path / "t.csv"
    pd.DataFrame({"id": IDS, "human": PEOPLE, "judge_output": cells}).to_csv(path, index=False)
    result = report(path)
    assert result.exit_code == 2
    assert "the column 'judge_output' contains texts, such as" in result.stderr
    assert "=NUMBER" not in result.stderr
