"""The benchmark of the throughput on a GPU runs without one, on a tiny model."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.judge.tiny_model.process import ROOT
from tests.judge.vllm_cpu.process import environment, vllm_python

pytestmark = pytest.mark.model


def test_the_benchmark_prints_speed_share_of_vllms_own_processor_time_and_storing(
    tmp_path: Path,
) -> None:
    out = tmp_path / "result.json"
    sizes = ["--queries", "1", "--context-words", "100", "--repeats", "1", "--out", str(out)]
    done = subprocess.run(
        [vllm_python(), "-m", "tests.benchmarks.vllm_throughput", "--on-cpu", *sizes],
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
        cwd=ROOT,
        # As a user's call: the processor time of the command is without that of the engine.
        env={**environment(), "VLLM_ENABLE_V1_MULTIPROCESSING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("prompts a second: ours", "processor time", "storing took", "own was finished"):
        assert words in done.stdout
    measured = json.loads(out.read_text(encoding="utf-8"))["measured"]
    assert [entry["answer_tokens"] for entry in measured] == [2, 16, 2, 16]
    for entry in measured:
        ours, own, logprobs = entry["ours"], entry["vllm"], entry["vllm_logprobs"]
        # Six responses on five constructs.
        assert ours["prompts"] == own["prompts"] == logprobs["prompts"] == 30
        assert ours["prompt_tokens"] == own["prompt_tokens"]
        assert ours["completion_tokens"] == own["completion_tokens"] == 30 * entry["answer_tokens"]
        assert entry["ratio"] > 0
        # The least is read from a sentence, to a tenth of a percent.
        assert 0 < ours["least"] < ours["computed"] + 0.001 < 1
        assert 0 < ours["storing_seconds"] < ours["seconds"]
        assert 0 < ours["first_stored_seconds"] < ours["seconds"]
        assert 0 < own["first_finished_seconds"] < own["seconds"]
