"""All suites on responses of the example study with a real model, tiny and random.

Its words mean nothing. Every evaluation ends with a value or a reason, whatever the model writes,
and the report has both.
"""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge import OpenAISettings, compare_pairs, judge_metrics
from judge.metrics.registry import PROMPTED_SUITES, load_metric
from study import Study
from study.cli.root import cli
from study.importing.file_import import import_file
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.tiny_model.process import MODEL, build, model_python, running

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("without_drawing")]

QUERIES = 2


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Return the folder of a study with the first queries of the example and their ratings."""
    folder, source = tmp_path / "study", files("study._example")
    responses = source.joinpath("responses.jsonl").read_text("utf-8").splitlines(keepends=True)
    rows = [json.loads(line) for line in responses]
    queries = list(dict.fromkeys(row["query_id"] for row in rows))[:QUERIES]
    kept = [line for line, row in zip(responses, rows, strict=True) if row["query_id"] in queries]
    (tmp_path / "responses.jsonl").write_text("".join(kept), encoding="utf-8")
    scores = source.joinpath("scores.csv").read_text("utf-8").splitlines(keepends=True)
    ids = {json.loads(line)["response_id"] for line in kept}
    rated = [line for line in scores[1:] if line.split(",")[0] in ids]
    (tmp_path / "scores.csv").write_text("".join([scores[0], *rated]), encoding="utf-8")
    with Study.create(folder, source.joinpath("study.toml").read_text("utf-8")) as study:
        for name in ("responses.jsonl", "scores.csv"):
            import_file(study, tmp_path / name)
    return folder


def test_every_evaluation_has_a_value_or_a_reason_and_is_reported(
    example: Path, tmp_path: Path, encoder: ScriptedEncoder
) -> None:
    model_python()
    keys = [key for suite in PROMPTED_SUITES.values() for key in suite]
    with (
        Study.open(example) as study,
        running(build(tmp_path / "model"), tmp_path / "calls.jsonl") as endpoint,
    ):
        settings = OpenAISettings(base_url=endpoint.base_url, model=MODEL, concurrency=16)
        suites = {"metric": ",".join(PROMPTED_SUITES), "encoder": encoder.name}
        outcomes = judge_metrics(study, settings.model_copy(update=suites))
        # The ranking of WikiEval: which of two responses is better, in both orders.
        pairs = compare_pairs(study, settings.model_copy(update={"constructs": ("AC",)}))
        table = study.score_table()
    assert [outcome.run.split(" ")[-1] for outcome in outcomes] == keys
    assert not any(outcome.remaining or outcome.failed for outcome in outcomes)
    assert (pairs.remaining, pairs.failed) == (0, {})
    responses = set(table.loc[table["scorer_kind"] == "human", "response_id"])
    for outcome, key in zip(outcomes, keys, strict=True):
        rows = table[table["scorer"] == outcome.run]
        constructs = load_metric(key).constructs
        # A response that two systems gave has a row for each.
        given = rows[["response_id", "system"]].drop_duplicates()
        assert len(rows) == len(constructs) * len(given)
        assert responses <= set(rows["response_id"])
        assert (rows["value"].notna() ^ rows["missing_reason"].notna()).all()
    out = tmp_path / "out"
    words = ["report", str(example), "--out", str(out), "--resamples", "100", "--no-verify"]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    listed = {entry["scorer"] for entry in json.loads((out / "report.json").read_text())["scorers"]}
    assert {outcome.run for outcome in outcomes} <= listed
