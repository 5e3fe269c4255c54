"""The paper's experiment with a real model, tiny and random, as reader and as judge.

The model runs in a separate environment (tests/judge/tiny_model/requirements.txt), whose Python
is named by CCRS_TEST_MODEL_PYTHON. The vectors of dense retrieval are those of the stub.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from study import Study
from tests.judge.responding.example_corpus import ROOT
from tests.judge.stub.process import running_stub
from tests.judge.tiny_model.process import MODEL, build, running

pytestmark = [pytest.mark.model, pytest.mark.server]

QUERIES = 4


def ccrs(folder: Path, *words: str) -> None:
    """Start a command as a user does."""
    main = "from study.cli.root import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", main, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_six_systems_answer_and_are_judged_and_compared(tmp_path: Path) -> None:
    corpus = ROOT / "data" / "example" / "corpus"
    lines = (corpus / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "queries.jsonl").write_text("\n".join(lines[:QUERIES]) + "\n", encoding="utf-8")
    model = build(tmp_path / "model")
    with running_stub() as stub, running(model, tmp_path / "calls.jsonl") as reader:
        asked = ("--base-url", reader.base_url, "--model", MODEL)
        encoder = ("--encoder", "stub-judge", "--encoder-url", stub.base_url)
        ccrs(tmp_path, "init", "paper")
        inputs = ("--corpus", str(corpus), "--queries", "queries.jsonl", "--systems", "A-F")
        limits = ("--max-tokens", "12")
        ccrs(tmp_path, "respond", "paper", *inputs, *asked, *encoder, *limits)
        calls = len(reader.calls_when_quiet())
        ccrs(tmp_path, "respond", "paper", *inputs, *asked, *encoder, *limits)
        again = len(reader.calls_when_quiet()) - calls
        ccrs(tmp_path, "judge", "paper", *asked, *limits, "--constructs", "QR")
    ccrs(tmp_path, "measure", "paper", "--metrics", "lexical,RR,hit@1",
         "--qrels", str(corpus / "qrels" / "test.tsv"))  # fmt: skip
    ccrs(tmp_path, "report", "paper", "--published", "--resamples", "100", "--no-verify")
    with Study.open(tmp_path / "paper") as study:
        table = study.score_table()
    judged = table[table["scorer_kind"] == "judge"]
    measured = table[table["scorer"] == "F1"]
    for rows in (judged, measured):
        counts = rows.groupby("system")["query_id"].nunique()
        assert counts.to_dict() == dict.fromkeys("ABCDEF", QUERIES)
    # Systems of one retriever have the same prompts here. Only the questions with which an engine
    # starts come again.
    assert again == calls - 2 * QUERIES
    report = json.loads((tmp_path / "paper" / "report" / "report.json").read_text())
    assert any(e["scorers"] == ["F1"] for e in report["estimates"])
