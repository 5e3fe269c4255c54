"""The example study judged through four engines: the same values and probabilities."""

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.judge.tiny_model.judged_study import judgments
from tests.judge.vllm_cpu.judged_example import (
    CCRS,
    WHOLE,
    all_ended,
    killed_midway,
    stored_judgments,
)
from tests.judge.vllm_cpu.process import command, environment, vllm_python

pytestmark = pytest.mark.model

SHARD = Path(__file__).parents[3] / "data" / "deploy" / "judge_batch.sh"
OPTIONS = (
    "--enforce-eager --dtype float32 --block-size 32 --max-num-seqs 16 "
    "--max-num-batched-tokens 16384 --max-model-len 8192 --no-enable-prefix-caching"
)
RAY = ("--replicas", "2", "--name", "tiny")


def assert_same(folder: Path, expected: list[tuple[Any, ...]]) -> None:
    """Compare values, raw answers and why they ended exactly, probabilities to 1e-12."""
    stored = stored_judgments(folder)
    assert [row[:8] for row in stored] == [row[:8] for row in expected]
    for row, other in zip(stored, expected, strict=True):
        assert json.loads(row[8]) == pytest.approx(json.loads(other[8]), abs=1e-12)
    assert {row["attempt"] for row in judgments(folder)} == {1}


@pytest.fixture
def server(model: Path) -> Iterator[str]:
    """Serve the model by vLLM's own server; return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [vllm_python(), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    options = [*OPTIONS.split(), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        [*program, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        try:
            answers = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
            until = time.monotonic() + 300
            while True:
                assert process.poll() is None
                assert time.monotonic() < until, "the server did not start in time"
                try:
                    with answers(f"http://127.0.0.1:{port}/health", timeout=5):
                        break
                except OSError:
                    time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def test_the_server_of_vllm_gives_the_same(
    server: str, uncached: Path, model: Path, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(uncached, tmp_path / "study")
    words = ["--base-url", server, "--model", str(model), "--name", "tiny"]
    done = subprocess.run(
        [CCRS, "judge", str(folder), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert_same(folder, expected)


def test_replicas_in_ray_give_the_same_though_the_call_and_a_replica_are_killed(
    uncached: Path, model: Path, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(uncached, tmp_path / "study")
    words = command(folder, model, *RAY, engine="ray")
    stored, _, began = killed_midway(words, folder, WHOLE // 4)
    assert 0 < stored < WHOLE
    assert all_ended(began)
    words += ["--drift", "5"]
    done, output, _ = killed_midway(words, folder, WHOLE // 2, "ray::Replica")
    assert stored < done < WHOLE
    assert f"{WHOLE - stored} judgments of the run 'tiny' were stored" in output, output
    assert "Drift, round 1: 5 prompts were asked." in output
    assert "raylet" not in output, "Ray's scheduler printed that a replica was lost"
    assert_same(folder, expected)
    rows = judgments(folder)
    asked = [row for row in rows if row["raw_answer"] is not None]
    assert all(row["prompt_tokens"] and row["cached_tokens"] == 0 for row in asked)


def test_a_batch_answered_by_run_batch_has_the_same_values(
    uncached: Path, model: Path, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(uncached, tmp_path / "study")
    batch = [CCRS, "judge", str(folder), "--engine", "files", "--model", str(model)]
    batch += ["--window", "8192", "--logprobs", "on", "--name", "tiny"]
    requests, results = tmp_path / "requests", tmp_path / "results"
    subprocess.run([*batch, "--requests", str(requests)], check=True, capture_output=True)
    program = str(Path(vllm_python()).parent)
    shard = [str(SHARD), str(requests), str(results), str(model), *OPTIONS.split()]
    answered = subprocess.run(
        shard,
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
        env={**environment(), "PATH": f"{program}:{os.environ['PATH']}"},
    )
    assert answered.returncode == 0, answered.stdout + answered.stderr
    read = subprocess.run(
        [*batch, *(f"--answers={path}" for path in results.iterdir())],
        check=False,
        capture_output=True,
        text=True,
    )
    assert read.returncode == 0, read.stdout + read.stderr
    assert_same(folder, expected)
