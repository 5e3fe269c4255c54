"""Exports of other tools in which people's grades are beside those of a judge."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.ccrs_command import in_process

N = 30
RNG = np.random.default_rng(11)
PEOPLE = [int(v) for v in RNG.integers(0, 2, N)]
JUDGE = [v if RNG.random() < 0.85 else 1 - v for v in PEOPLE]
ACCURACY = sum(a == b for a, b in zip(PEOPLE, JUDGE, strict=True)) / N


def promptfoo_result(row: int, grading: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"r{row}",
        "promptIdx": row % 2,
        "testIdx": row // 2,
        "provider": {"id": f"openai:model-{row % 2}", "label": ""},
        "prompt": {"raw": f"Answer: Q{row // 2}?", "label": "p"},
        "vars": {"question": f"Q{row // 2}?"},
        "response": {"output": f"Answer {row}."},
        "score": 0,
        "success": True,
        "namedScores": {"correct": 1},
        "gradingResult": grading,
    }


def component(assertion: dict[str, Any] | None, passed: int, **more: Any) -> dict[str, Any]:
    return {
        "pass": bool(passed), "score": float(passed), "reason": "-", "assertion": assertion, **more
    }  # fmt: skip


RUBRIC = {"type": "llm-rubric", "value": "is right", "metric": "correct"}
MANUAL = "Manual result (overrides all other grading results)"


def promptfoo_with_components() -> list[dict[str, Any]]:
    """A person's grade is a result of its own, and replaces the verdict on the whole."""
    return [
        promptfoo_result(
            row,
            {
                **component(None, p, reason=MANUAL),
                "componentResults": [
                    component(RUBRIC, j), component({"type": "human"}, p, reason=MANUAL)
                ],
            },
        )
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]  # fmt: skip


def promptfoo_without_components_of_people() -> list[dict[str, Any]]:
    """A person's grade replaced the verdict on the whole, and its text says so."""
    return [
        promptfoo_result(
            row,
            {**component(None, p, reason=MANUAL), "componentResults": [component(RUBRIC, j)]},
        )
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]


def langsmith_feedback() -> list[dict[str, Any]]:
    rows = []
    for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True)):
        of_run = {"run_id": f"run-{row}", "value": None, "comment": "x"}
        by_model = {"type": "model", "metadata": {}}
        by_kim = {"type": "app", "user_id": "u1", "user_name": "kim"}
        rows += [
            {**of_run, "key": "correctness", "score": float(j), "feedback_source": by_model},
            {**of_run, "key": "correctness", "score": float(p), "feedback_source": by_kim},
        ]
    return rows


def langsmith_runs() -> list[dict[str, Any]]:
    return [
        {
            "id": f"run-{row}",
            "inputs": {"question": f"Q{row}?"},
            "outputs": {"answer": "A."},
            "feedback_stats": {
                "correctness": {"n": 1, "avg": float(j), "stdev": 0.0, "values": {}},
                "human_correctness": {"n": 1, "avg": float(p), "stdev": 0.0, "values": {}},
            },
        }
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]


def langsmith_experiment() -> list[dict[str, Any]]:
    return [
        {
            "inputs.question": f"Q{row}?",
            "outputs.answer": f"A{row}",
            "error": None,
            "feedback.correctness": float(j),
            "feedback.human_correctness": float(p),
            "execution_time": 1 + row / 10,
            "example_id": f"ex-{row}",
            "id": f"run-{row}",
        }
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]


def braintrust() -> list[dict[str, Any]]:
    return [
        {
            "id": f"b{row}",
            "input": {"question": f"Q{row}?"},
            "output": f"Answer {row}",
            "expected": f"Expected {row}",
            "scores": {"Factuality": float(j), "Human review": float(p)},
            "metrics": {"start": 1.5 + row, "tokens": 100 + row},
            "tags": ["a"],
            "span_id": f"s{row}",
        }
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]


def langfuse() -> list[dict[str, Any]]:
    rows = []
    for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True)):
        of_trace = {"traceId": f"t{row}", "observationId": None}
        rows += [
            {**of_trace, "source": "EVAL", "name": "correctness", "dataType": "BOOLEAN",
             "value": j, "stringValue": str(bool(j))},
            {**of_trace, "source": "ANNOTATION", "name": "human-correctness", "value": None,
             "dataType": "CATEGORICAL", "stringValue": ("bad", "good")[p], "authorUserId": "u7"},
        ]  # fmt: skip
    return rows


def inspect_log() -> dict[str, Any]:
    return {
        "version": 2,
        "eval": {"task": "t", "model": "openai/gpt-4o"},
        "samples": [
            {
                "id": row,
                "epoch": 1,
                "input": f"Q{row}?",
                "target": "t",
                "output": {"completion": f"A{row}"},
                "scores": {"model_graded_qa": {"value": "IC"[j]}, "human": {"value": "IC"[p]}},
            }
            for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
        ],
    }


def inspect_samples() -> list[dict[str, Any]]:
    return [
        {"eval_id": "e", "sample_id": f"s{row}", "id": row, "epoch": 1, "input": f"Q{row}?",
         "score_model_graded_qa": "IC"[j], "score_human": "IC"[p], "total_time": 1.5}
        for row, (p, j) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]  # fmt: skip


def document(results: list[dict[str, Any]], version: int) -> dict[str, Any]:
    return {"evalId": "e", "results": {"version": version, "results": results}, "config": {}}


EXPORTS: dict[str, tuple[str, Callable[[], Any], str, str]] = {
    "promptfoo 3": ("json", lambda: document(promptfoo_with_components(), 3),
                    "promptfoo:correct", "promptfoo:human"),
    "promptfoo 4": ("json", lambda: document(promptfoo_without_components_of_people(), 4),
                    "promptfoo:correct", "promptfoo:human"),
    "promptfoo lines": ("jsonl", promptfoo_with_components,
                        "promptfoo:correct", "promptfoo:human"),
    "langsmith feedback": ("json", langsmith_feedback, "langsmith:correctness", "kim"),
    "langsmith lines": ("jsonl", langsmith_feedback, "langsmith:correctness", "kim"),
    "langsmith runs": ("jsonl", langsmith_runs,
                       "langsmith:correctness", "langsmith:human_correctness"),
    "langsmith experiment": ("csv", langsmith_experiment,
                             "feedback.correctness", "feedback.human_correctness"),
    "braintrust": ("json", braintrust, "scores.Factuality", "scores.Human review"),
    "braintrust lines": ("jsonl", braintrust, "scores.Factuality", "scores.Human review"),
    "braintrust table": ("csv", braintrust, "scores.Factuality", "scores.Human review"),
    "langfuse": ("json", lambda: {"data": langfuse(), "meta": {}}, "langfuse:correctness", "u7"),
    "langfuse table": ("csv", langfuse, "langfuse:correctness", "u7"),
    "inspect log": ("json", inspect_log, "inspect:model_graded_qa", "inspect:human"),
    "inspect samples": ("csv", inspect_samples, "score_model_graded_qa", "score_human"),
}  # fmt: skip


def written(folder: Path, form: str, content: Any) -> Path:
    path = folder / f"export.{form}"
    if form == "csv":
        pd.json_normalize(content).to_csv(path, index=False)
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, content)), "utf-8")
    else:
        path.write_text(json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("name", EXPORTS)
def test_people_and_judge_are_told_apart(name: str, tmp_path: Path) -> None:
    form, content, judge, people = EXPORTS[name]
    path = written(tmp_path, form, content())
    report = in_process("report", path, "--text")
    assert report.returncode == 0, report.stderr
    assert f"{judge} compared with {people}: {N} responses" in report.stdout
    assert f"Accuracy: {100 * ACCURACY:.0f}%" in report.stdout
    advice = in_process("doctor", path)
    assert advice.returncode == 0, advice.stderr
    command = advice.stdout.partition("Next:   ")[2].splitlines()[0]
    again = in_process(*shlex.split(command)[1:], "--text")
    assert again.stdout.splitlines()[2:5] == report.stdout.splitlines()[2:5], again.stderr


@pytest.mark.usefixtures("without_drawing")
def test_a_failed_grader_and_several_assertions(tmp_path: Path) -> None:
    results = promptfoo_with_components()
    for row, result in enumerate(results):
        parts = result["gradingResult"]["componentResults"]
        parts.append(component({"type": "contains", "value": "A"}, 1))
        if row == 0:
            parts[0]["metadata"] = {"graderError": True}
    path = written(tmp_path, "json", document(results, 3))
    report = in_process("report", path, "--out", tmp_path / "out", "--no-verify")
    assert report.returncode == 0, report.stderr
    assert f"promptfoo:correct compared with promptfoo:human: {N - 1} responses" in report.stdout
    content = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    kinds = {item["scorer"]: item["kind"] for item in content["scorers"]}
    assert kinds["promptfoo:correct"] == "judge"
    assert kinds["promptfoo:contains"] == "metric"


def test_results_that_nobody_graded_need_a_study(tmp_path: Path) -> None:
    results = [
        promptfoo_result(row, {**component(None, j), "componentResults": [component(RUBRIC, j)]})
        for row, j in enumerate(JUDGE)
    ]
    done = in_process("report", written(tmp_path, "json", document(results, 3)), "--text")
    assert done.returncode == 2
    assert "ccrs import my-study" in done.stderr


def test_feedback_of_an_unknown_source_asks_for_its_kind(tmp_path: Path) -> None:
    rows = langsmith_feedback()
    for row in rows:
        if row["feedback_source"]["type"] == "model":
            row["feedback_source"] = {"type": "api"}
    path = written(tmp_path, "jsonl", rows)
    done = in_process("report", path, "--text")
    assert done.returncode == 2
    assert "--kind langsmith:correctness=KIND" in done.stderr
    again = in_process("report", path, "--text", "--kind", "langsmith:correctness=judge")
    assert again.returncode == 0, again.stderr
    assert f"Accuracy: {100 * ACCURACY:.0f}%" in again.stdout
