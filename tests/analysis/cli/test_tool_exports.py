"""From an export of another tool to the answer of `ccrs report`."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.cli.column_options import NamedColumns
from analysis.cli.read_scores import from_file
from analysis.cli.read_study import from_study
from study.cli.root import cli

pytestmark = pytest.mark.usefixtures("without_drawing")

RESPONSES = 16


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def points(seed: int) -> list[int]:
    """Return points from 1 to 5 that two seeds have in common up to one point."""
    shared = np.random.default_rng(0).integers(1, 5, RESPONSES)
    return [int(p) for p in shared + np.random.default_rng(seed).integers(0, 2, RESPONSES)]


def langfuse_scores() -> pd.DataFrame:
    """Return the export of a scores table: two people and an LLM on the same traces."""
    scorers = (("ANNOTATION", "anna"), ("ANNOTATION", "ben"), ("EVAL", None))
    return pd.DataFrame(
        {
            "id": f"{trace}-{source}-{author}",
            "traceId": f"trace-{trace}",
            "observationId": None,
            "source": source,
            "name": "helpfulness",
            "dataType": "NUMERIC",
            "value": value,
            "stringValue": None,
            "authorUserName": author,
        }
        for seed, (source, author) in enumerate(scorers, start=1)
        for trace, value in enumerate(points(seed))
    )


def phoenix_annotations() -> pd.DataFrame:
    """Return annotations of two people and an LLM on the same spans."""
    return pd.DataFrame(
        {
            "span_id": f"span-{span}",
            "annotation_name": "helpfulness",
            "annotator_kind": kind,
            "result.score": value,
            "result.label": None,
            "identifier": name,
        }
        for seed, (kind, name) in enumerate((("HUMAN", "anna"), ("HUMAN", "ben"), ("LLM", "")))
        for span, value in enumerate(points(seed))
    )


def test_ratings_and_automatic_scores_of_one_export(tmp_path: Path) -> None:
    path, out = tmp_path / "export.csv", tmp_path / "out"
    langfuse_scores().to_csv(path, index=False)
    advice = run("doctor", str(path))
    assert advice.exit_code == 0, advice.output
    assert f"ccrs report {path} --scale 1:5:1" in advice.output
    result = run("report", str(path), "--scale", "1:5:1", "--out", str(out))
    assert result.exit_code == 0, result.output
    assert "Can langfuse:helpfulness be used to" in result.output
    report = json.loads((out / "report.json").read_text("utf-8"))
    assert {d["scorer"] for d in report["decisions"]} == {"langfuse:helpfulness"}
    assert "helpfulness" in {d["construct"] for d in report["decisions"]}


def test_annotations_of_phoenix(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    phoenix_annotations().to_csv(path, index=False)
    assert f"ccrs report {path} --scale 1:5:1" in run("doctor", str(path)).output
    scores = from_file(path, ["1:5:1"], (), None, None, {}).scores
    kinds = {"anna": "human", "ben": "human", "phoenix:helpfulness": "judge"}
    assert scores.scorer_kinds == kinds
    assert len(scores.frame) == 3 * RESPONSES


def test_scores_of_ragas_beside_a_column_of_ratings(tmp_path: Path) -> None:
    path = tmp_path / "ragas.csv"
    pd.DataFrame(
        {
            "user_input": [f"What is it {n // 2}?" for n in range(RESPONSES)],
            "response": [f"Answer {n}." for n in range(RESPONSES)],
            "faithfulness": [p / 5 for p in points(1)],
            "human_score": [p / 5 for p in points(2)],
        }
    ).to_csv(path, index=False)
    columns = NamedColumns(("faithfulness",), ("human_score",), query="user_input")
    scores = from_file(path, ["0:1"], (), None, None, {}, columns=columns).scores
    assert scores.scorer_kinds == {"faithfulness": "judge", "human_score": "human"}


def test_automatic_scores_without_ratings_need_a_study(tmp_path: Path) -> None:
    path, study = tmp_path / "run.json", tmp_path / "study"
    cases = [
        {"input": f"Q{n}?", "actualOutput": f"A{n}.",
         "metricsData": [{"name": "Helpfulness", "score": p / 5, "evaluationModel": "m"}]}
        for n, p in enumerate(points(1))
    ]  # fmt: skip
    path.write_text(json.dumps({"testCases": cases}))
    for command in ("report", "doctor"):
        assert (
            f"ccrs init my-study && ccrs import my-study {path}" in run(command, str(path)).output
        )
    assert run("init", str(study)).exit_code == 0
    with (study / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(
            '\n[[constructs]]\nkey = "helpfulness"\nname = "Helpfulness"\n'
            'question = "Does it help?"\nscale = {min = 0, max = 1}\n'
        )
    imported = run("import", str(study), str(path), "--system", "A")
    assert imported.exit_code == 0, imported.output
    scores = from_study(study, {}).scores
    assert scores.scorer_kinds == {"deepeval:Helpfulness": "judge"}
    assert len(scores.frame) == RESPONSES
