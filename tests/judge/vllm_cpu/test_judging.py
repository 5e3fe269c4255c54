"""The example study judged by vLLM itself: killed, gone on with, and the same to the last bit."""

import json
import subprocess
import time
from pathlib import Path
from shutil import copytree

import pytest

from study.example import build_example
from tests.judge.tiny_model.judged_study import answers, count, judgments
from tests.judge.tiny_model.process import build
from tests.judge.vllm_cpu.process import SETTINGS, command, environment, judge, vllm_python

WHOLE = 116 * 5
"""Judgments of the example study."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model."""
    vllm_python()
    return build(tmp_path_factory.mktemp("model") / "tiny-random")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the example study with the engine's arguments, which tests copy."""
    folder = tmp_path_factory.mktemp("example") / "study"
    build_example(folder).close()
    settings = folder / "study.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + SETTINGS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def judged(example: Path, model: Path) -> Path:
    """Return the folder of a study that was judged without interruption."""
    folder = copytree(example, example.with_name("judged"))
    done = judge(folder, model, "--name", "tiny")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the least possible for these prompts in blocks of" in done.stdout
    return folder


def test_every_response_is_judged_and_the_run_says_under_what(judged: Path) -> None:
    rows = judgments(judged)
    assert len(rows) == WHOLE
    asked = [row for row in rows if row["raw_answer"] is not None]
    values = [row["value"] for row in asked if row["value"] is not None]
    assert len(values) >= 0.95 * len(asked)
    assert len(set(values)) >= 5
    assert {row["finish_reason"] for row in asked} == {"stop"}
    assert all(row["prompt_tokens"] and row["cached_tokens"] is not None for row in asked)
    shown = subprocess.run(
        [*command(judged, Path("tiny"))[:4], "show", str(judged), "tiny", "--json"],
        check=False,
        capture_output=True,
        text=True,
        env=environment(),
    )
    run = json.loads(shown.stdout)
    assert run["engine"] == "vllm"
    assert run["decoding"]["vllm.enforce_eager"] is True
    assert len(run["decoding"]["chat_template_sha256"]) == 64
    assert run["observed"]["vllm"] == "0.32.0"
    assert run["cached_share"] > 0.1


def test_a_killed_run_goes_on_to_the_same_bits(
    example: Path, model: Path, judged: Path, tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "killed")
    with subprocess.Popen(
        command(folder, model, "--name", "tiny"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        try:
            until = time.monotonic() + 300
            while count(folder) < WHOLE // 3:
                assert process.poll() is None, "it ended before it was killed"
                assert time.monotonic() < until, "a third of the judgments did not come in time"
                time.sleep(0.05)
        finally:
            process.kill()
    assert 0 < count(folder) < WHOLE
    resumed = judge(folder, model, "--name", "tiny")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert answers(folder) == answers(judged)
    assert {row["attempt"] for row in judgments(folder)} == {1}


def test_another_order_of_fields_and_repeats_are_a_run_of_their_own(
    judged: Path, model: Path, tmp_path: Path
) -> None:
    folder = copytree(judged, tmp_path / "study")
    words = ("--prompts", "ccrs-context-first-v1", "--repeats", "2", "--name", "first")
    done = judge(folder, model, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = judgments(folder)
    assert len(rows) == 3 * WHOLE
    (run,) = {row["run_id"] for row in rows if row["repeat"] == 1}
    said = [
        {
            (row["response_key"], row["construct_key"]): row["raw_answer"]
            for row in rows
            if row["run_id"] == run and row["repeat"] == repeat
        }
        for repeat in (0, 1)
    ]
    assert said[0] == said[1]


def test_what_does_not_fit_is_said_before_anything_is_asked(
    example: Path, model: Path, tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "study")
    done = judge(folder, model, "--window", "400")
    assert done.returncode == 2, done.stdout
    assert "beyond the window of 400 tokens; nothing was asked" in done.stderr
    assert count(folder) == 0


def test_an_argument_that_the_engine_does_not_know_is_named(
    example: Path, model: Path, tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "study")
    settings = folder / "study.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + "max_num_seq = 3\n")
    done = judge(folder, model)
    assert done.returncode == 2
    assert "judge.vllm in study.toml" in done.stderr
    assert "max_num_seq" in done.stderr
