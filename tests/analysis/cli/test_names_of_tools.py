"""Names and shapes that programs give to tables: joined words, inner objects, lists, means."""

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


def test_a_long_table_with_joined_words(tmp_path: Path) -> None:
    rows = [
        {"responseId": key, "queryId": query, "evaluatorType": kind, "evaluatorName": name,
         "score": values[place]}
        for kind, name, values in (("human", "anna", PEOPLE), ("llm", "gpt-4o", JUDGE))
        for place, (key, query) in enumerate(zip(IDS, QUERIES, strict=True))
    ]  # fmt: skip
    result = report(in_lines(tmp_path, rows))
    assert f"gpt-4o compared with anna: {len(IDS)} responses" in compared(result), result.output


@pytest.mark.parametrize("others", [("std", "n"), ("min", "max"), ("n_raters", "sd", "range")])
def test_what_describes_the_mean_of_people_is_no_rater(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    table = {"id": IDS, "query": QUERIES, "human_mean": [value + 0.25 for value in PEOPLE]}
    table |= {f"human_{name}": [1 + place % 3 for place in range(len(IDS))] for name in others}
    path = tmp_path / "t.csv"
    pd.DataFrame({**table, "llm_score": JUDGE}).to_csv(path, index=False)
    assert "llm_score compared with human_mean" in compared(report(path))


@pytest.mark.parametrize("as_text", [False, True])
def test_lists_of_scores_are_refused_with_how_to_part_them(tmp_path: Path, as_text: bool) -> None:
    lists = [[value, 6 - value, 3] for value in PEOPLE]
    frame = pd.DataFrame({"id": IDS, "query": QUERIES, "human_scores": lists, "judge": JUDGE})
    path = tmp_path / ("t.csv" if as_text else "t.jsonl")
    if as_text:
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    result = report(path)
    assert result.exit_code == 2
    assert "'human_scores' has lists, such as [" in result.stderr
    frame = pd.read_csv(path) if as_text else pd.read_json(path, lines=True)
    remedy = result.stderr.split("in pandas: ")[1].split("\n")[0].rstrip(".")
    names = {"frame": frame}
    exec(remedy, names)
    again = tmp_path / "again.csv"
    names["frame"].to_csv(again, index=False)
    assert "compared with 3 raters" in report(again).stdout


def test_rows_of_raters_with_a_column_for_each_response_are_refused_as_such(tmp_path: Path) -> None:
    frame = pd.DataFrame([PEOPLE, PEOPLE[::-1], JUDGE], columns=IDS)
    frame.insert(0, "rater", ["Anna", "Ben", "GPT-4"])
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    result = report(path)
    assert result.exit_code == 2
    assert "each row has the scores of one rater, whom 'rater' names" in result.stderr
    assert "frame.set_index('rater').T" in result.stderr
    turned = pd.read_csv(path).set_index("rater").T.rename_axis("response_id").reset_index()
    turned.to_csv(path, index=False)
    again = report(path, "--judge", "GPT-4", "--human", "Anna", "--human", "Ben")
    assert "GPT-4 compared with 2 raters" in compared(again), again.output


def test_rows_within_a_document_are_named(tmp_path: Path) -> None:
    rows = [
        {"id": key, "human": person, "judge": judge}
        for key, person, judge in zip(IDS, PEOPLE, JUDGE, strict=True)
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"version": 2, "meta": {"by": "x"}, "results": rows}))
    result = report(path)
    assert result.exit_code == 2
    assert "the rows are in 'results' of the document" in result.stderr
    remedy = result.stderr.split("in Python: ")[1].split("\n")[0].rstrip(".")
    exec(remedy.replace("'t.json", f"'{tmp_path}/t.json"), {})
    assert "judge compared with human" in compared(report(tmp_path / "t.jsonl"))


def test_names_of_columns_in_two_rows_are_refused_as_such(tmp_path: Path) -> None:
    names = [("item", "id"), ("item", "query"), ("human", "relevance"), ("judge", "relevance")]
    cells = zip(IDS, QUERIES, PEOPLE, JUDGE, strict=True)
    frame = pd.DataFrame(cells, columns=pd.MultiIndex.from_tuples(names))
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    result = report(path)
    assert result.exit_code == 2
    assert "the names of the columns are in two rows" in result.stderr
    remedy = result.stderr.split("in pandas: ")[1].split("\n")[0].rstrip(".")
    exec(remedy.replace("'t.csv'", repr(str(path))), {"pandas": pd})
    assert "judge_relevance compared with human_relevance" in compared(report(path))


def test_further_sheets_are_named_where_one_side_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as workbook:
        for name, values in (("human", PEOPLE), ("judge", JUDGE)):
            pd.DataFrame({"id": IDS, name: values}).to_excel(workbook, sheet_name=name, index=False)
    result = report(path)
    assert result.exit_code == 2
    assert "The sheet 'human' is read, and 'judge' is not" in result.stderr


@pytest.mark.parametrize("name", ["answer_model", "generatorModel", "rag_system"])
def test_names_of_what_gave_the_response(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    table = {"id": IDS, "query": QUERIES, name: OF_SYSTEMS, "gpt-4o": JUDGE, "human": PEOPLE}
    pd.DataFrame(table).to_csv(path, index=False)
    assert RESPONSES in compared(report(path))


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_scores_beside_objects_are_read_with_them(tmp_path: Path, form: str) -> None:
    rows = [
        {"question": query, "meta": {"model": system}, "llm_score": llm, "human_score": human}
        for query, system, llm, human in zip(QUERIES, OF_SYSTEMS, JUDGE, PEOPLE, strict=True)
    ]
    path = in_lines(tmp_path, rows)
    if form == "json":
        path = tmp_path / "t.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
    result = report(path)
    assert RESPONSES in compared(result), result.output


@pytest.mark.parametrize("item", ["itemId", "exampleId", "Item ID"])
def test_an_item_in_joined_words_is_the_query_beside_systems(tmp_path: Path, item: str) -> None:
    rows = [
        {item: query, "model": system, "annotator": name, "score": values[place]}
        for name, values in (("anna", PEOPLE), ("gpt-4o", JUDGE))
        for place, (query, system) in enumerate(zip(QUERIES, OF_SYSTEMS, strict=True))
    ]
    path = tmp_path / "t.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    result = report(path)
    assert RESPONSES in compared(result), result.output


@pytest.mark.parametrize(
    ("names", "judge"),
    [
        (("clarity", "depth"), "judge"),
        (("Relevance", "Fluency"), "judge"),
        (("Easy", "Hard"), "judge"),
        (("ModelA", "ModelB"), "judge"),
        (("Gemini", "Claude"), "judge"),
        (("A", "B"), "judge"),
        (("Anna", "Ben"), "judge_mean"),
    ],
)
def test_a_mean_of_what_are_perhaps_no_raters_stands_for_them(
    tmp_path: Path, names: tuple[str, str], judge: str
) -> None:
    frame = pd.DataFrame({"question": QUERIES, names[0]: PEOPLE, names[1]: JUDGE[::-1]})
    frame["human_mean"] = frame[[*names]].mean(axis=1)
    frame[judge] = JUDGE
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    result = report(path, "--judge", judge) if names[0] == "Gemini" else report(path)
    line = result.stderr.splitlines()[0]
    assert "people: human_mean" in line, result.output


@pytest.mark.parametrize("neutral", ["meta", "metadata", "info"])
@pytest.mark.parametrize("inner", ["model", "system"])
def test_the_model_of_the_response_is_the_system_before_that_of_the_record(
    tmp_path: Path, neutral: str, inner: str
) -> None:
    rows = [
        {neutral: {inner: "harness"}, "question": query, "response": {"text": "?", "model": system},
         "llm_score": llm, "human_score": human}
        for query, system, llm, human in zip(QUERIES, OF_SYSTEMS, JUDGE, PEOPLE, strict=True)
    ]  # fmt: skip
    result = report(in_lines(tmp_path, rows))
    assert RESPONSES in compared(result), result.output


@pytest.mark.parametrize(
    ("runs", "query"),
    [(OF_SYSTEMS, True), (None, False), ([place % 2 for place in range(len(IDS))], False)],
)
def test_a_numbered_topic_is_the_query_beside_runs_alone(
    tmp_path: Path, runs: list[object] | None, query: bool
) -> None:
    table: dict[str, Any] = {"topic": [place // 2 for place in range(len(IDS))]}
    table |= {} if runs is None else {"run": runs}
    path = tmp_path / "t.csv"
    pd.DataFrame({**table, "judge": JUDGE, "human": PEOPLE}).to_csv(path, index=False)
    assert ("query: topic" in report(path).stderr.splitlines()[0]) == query


def of_turk(folder: Path, answers: dict[str, Any], judge: str, **more: Any) -> Path:
    """Results of Mechanical Turk with two workers for each task."""
    frame = pd.DataFrame({"question": QUESTIONS, judge: JUDGE}).add_prefix("Input.")
    answered = pd.DataFrame(answers).add_prefix("Answer.")
    workers = [
        frame.join(answered).assign(HITId=IDS, WorkerId=worker, **more) for worker in ("A1", "A2")
    ]
    path = folder / "batch.csv"
    pd.concat(workers).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("other", ["english_level", "relevance"])
def test_several_answers_on_mechanical_turk_are_refused(tmp_path: Path, other: str) -> None:
    path = of_turk(tmp_path, {"rating": PEOPLE, other: PEOPLE[::-1]}, "llm_score")
    result = report(path)
    assert result.exit_code == 2
    assert "Columns that may be:" in result.stderr, result.output
    assert f"'Answer.{other}'" in result.stderr
    assert "2 raters (A1 and A2)" in report(path, *_named("Answer.rating")).stdout


def _named(human: str) -> list[str]:
    return ["--judge", "Input.llm_score", "--human", human, "--query", "Input.question"]


def test_answers_on_mechanical_turk_on_what_the_judge_scored_are_taken(tmp_path: Path) -> None:
    path = of_turk(tmp_path, {"level": PEOPLE[::-1], "relevance": PEOPLE}, "llm_relevance")
    result = report(path)
    assert "people: Answer.relevance" in result.stderr.splitlines()[0], result.output
    assert "Answer.level" not in result.stderr.splitlines()[0]


def test_rejected_assignments_of_mechanical_turk_are_left_out(tmp_path: Path) -> None:
    status = ["Rejected" if place % 4 == 3 else "Approved" for place in range(len(IDS))]
    path = of_turk(tmp_path, {"rating": PEOPLE}, "llm_score", AssignmentStatus=status)
    result = report(path)
    left = 2 * status.count("Rejected")
    assert f"Left out: rows whose AssignmentStatus is Rejected ({left})" in result.stderr
    assert f"{len(IDS) - left // 2} responses" in compared(result)


@pytest.mark.parametrize("about", ["n", "max", "mode"])
def test_what_describes_another_column_is_no_rater(tmp_path: Path, about: str) -> None:
    table = {"id": IDS, "human": PEOPLE, f"human_{about}": PEOPLE[::-1], "judge": JUDGE}
    path = tmp_path / "t.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    result = report(path)
    assert "judge compared with human:" in compared(result), result.output
    assert f"human_{about}" in result.stderr


def test_the_ends_of_a_range_are_no_raters(tmp_path: Path) -> None:
    table = {"id": IDS, "human_min": PEOPLE, "human_max": PEOPLE[::-1], "judge": JUDGE}
    path = tmp_path / "t.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    result = report(path)
    assert result.exit_code == 2
    assert "no column of scores is clearly that of a rater" in result.stderr


@pytest.mark.parametrize("mean", [False, True])
def test_raters_may_be_called_by_a_letter(tmp_path: Path, mean: bool) -> None:
    frame = pd.DataFrame({"id": IDS, "rater_m": PEOPLE, "rater_n": PEOPLE[::-1], "judge": JUDGE})
    if mean:
        frame["mean_rater"] = frame[["rater_m", "rater_n"]].mean(axis=1)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    assert "2 raters (rater_m and rater_n)" in report(path).stdout


def test_a_model_beside_a_larger_one_is_another_judge(tmp_path: Path) -> None:
    table = {"id": IDS, "human": PEOPLE, "qwen": JUDGE, "qwen_max": JUDGE[::-1]}
    path = tmp_path / "t.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    assert "judge: qwen, qwen_max" in report(path).stderr.splitlines()[0]
