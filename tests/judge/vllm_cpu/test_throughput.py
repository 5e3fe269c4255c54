"""The benchmark of the throughput on a GPU runs without one, on a tiny model."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.judge.tiny_model.process import ROOT
from tests.judge.vllm_cpu.process import environment, vllm_python

pytestmark = pytest.mark.model


def test_it_prints_speed_share_of_vllms_own_recomputed_share_and_storing(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    sizes = ["--queries", "1", "--context-words", "100", "--out", str(out)]
    done = subprocess.run(
        [vllm_python(), "-m", "tests.benchmarks.vllm_throughput", "--on-cpu", *sizes],
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
        cwd=ROOT,
        env=environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "prompts a second: ours",
        "vLLM's own",
        "computed of the prompts",
        "storing took",
    ):
        assert words in done.stdout
    result = json.loads(out.read_text(encoding="utf-8"))
    ours, own = result["ours"], result["vllm"]
    # Six responses on five constructs.
    assert ours["prompts"] == own["prompts"] == 30
    assert ours["prompt_tokens"] == own["prompt_tokens"]
    assert result["ratio"] > 0
    # The least is read from a sentence, to a tenth of a percent.
    assert 0 < ours["least"] < ours["computed"] + 0.001 < 1
    assert 0 < ours["storing_seconds"] < ours["seconds"]
