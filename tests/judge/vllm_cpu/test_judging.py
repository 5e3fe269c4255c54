"""The example study judged by vLLM itself: killed, gone on with, and the same to the last bit."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

import psutil
import pytest

from study import Study
from study.example import build_example
from tests.judge.tiny_model.judged_study import count, judgments
from tests.judge.vllm_cpu.process import (
    SETTINGS,
    command,
    environment,
    judge,
    tiny as tiny_model,
    vllm_python,
)

pytestmark = pytest.mark.model

WHOLE = 116 * 5
"""Judgments of the example study."""
CCRS = str(Path(sys.executable).with_name("ccrs"))
SHARD = Path(__file__).parents[3] / "data" / "deploy" / "judge_batch.sh"


def stored_judgments(folder: Path) -> list[tuple[Any, ...]]:
    """Return the content of each judgment, the probabilities to the last bit, in a stable order."""
    names = (
        "response_key",
        "construct_key",
        "repeat",
        "value",
        "missing_reason",
        "rule",
        "raw_answer",
        "finish_reason",
        "distribution",
    )
    return [tuple(row[name] for name in names) for row in judgments(folder)]


def killed_midway(
    words: list[str], folder: Path, enough: int, victim: str = ""
) -> tuple[int, str, list[int]]:
    """Run a command until enough is judged, and kill it, or one of its processes.

    Returns the judgments then on disk, what it printed, and the processes that it had begun.
    """
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment()
    ) as process:
        try:
            until = time.monotonic() + 300
            while count(folder) < enough:
                assert process.poll() is None, process.stdout.read() if process.stdout else ""
                assert time.monotonic() < until, "judgments did not come in time"
                time.sleep(0.05)
            began = psutil.Process(process.pid).children(recursive=True)
        finally:
            if not victim:
                process.kill()
        if victim:
            direct = psutil.Process(process.pid).children()
            next(child for child in direct if victim in " ".join(child.cmdline())).kill()
        output = process.communicate(timeout=120)[0] if victim else ""
    return count(folder), output, [child.pid for child in began]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tiny model."""
    return tiny_model(tmp_path_factory.mktemp("model") / "tiny-random")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the example study with the engine's arguments, which tests copy."""
    folder = tmp_path_factory.mktemp("example") / "study"
    build_example(folder).close()
    settings = folder / "study.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + SETTINGS, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Twice:
    """A study that was judged by two prompt versions."""

    folder: Path
    stored: int
    """Judgments on disk when a process of the second run had been killed."""
    output: str
    """What the run printed then."""


@pytest.fixture(scope="module")
def judged(example: Path, model: Path) -> Path:
    """Return the folder of a study that was judged without interruption, in one process."""
    folder = copytree(example, example.with_name("judged"))
    done = judge(folder, model, "--name", "tiny", "--drift", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Drift, round 1: 5 prompts were asked." in done.stdout
    assert "the least possible for these prompts in blocks of 32" in done.stdout
    return folder


@pytest.fixture(scope="module")
def tiny(judged: Path) -> list[tuple[Any, ...]]:
    """Return the judgments of that run."""
    return stored_judgments(judged)


@pytest.fixture(scope="module")
def twice(judged: Path, model: Path, tiny: list[tuple[Any, ...]]) -> Twice:
    """Return a study that was judged with the context first, too, and twice.

    Of the two processes that did it one was killed; one process went on.
    """
    del tiny
    folder = copytree(judged, judged.with_name("twice"))
    words = ("--prompts", "ccrs-context-first-v1", "--repeats", "2", "--name", "first")
    both = command(folder, model, *words, "--processes", "2")
    stored, output, _ = killed_midway(both, folder, WHOLE + WHOLE // 3, "spawn_main")
    done = judge(folder, model, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{3 * WHOLE - stored} judgments of the run 'first' were stored" in done.stdout
    return Twice(folder, stored, output)


def test_every_response_is_judged_and_the_run_records_its_conditions(
    judged: Path, tiny: list[tuple[Any, ...]]
) -> None:
    assert len(tiny) == WHOLE
    asked = [row for row in tiny if row[6] is not None]
    values = [row[3] for row in asked if row[3] is not None]
    assert len(values) >= 0.95 * len(asked)
    assert len(set(values)) >= 5
    assert {row[7] for row in asked} == {"stop"}
    shown = subprocess.run(
        [CCRS, "judge", "show", str(judged), "tiny", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    run = json.loads(shown.stdout)
    assert run["engine"] == "vllm"
    assert run["decoding"]["vllm.enforce_eager"] is True
    # The number of simultaneous prompts does not make another judge.
    assert "vllm.max_num_seqs" not in run["decoding"]
    assert len(run["decoding"]["chat_template_sha256"]) == 64
    observed = run["observed"]
    assert observed["vllm"] == "0.32.0"
    assert observed["vllm.max_num_seqs"] == 16
    assert observed["distribution"] == "one token each"
    assert observed["batch_invariant"] is False
    assert run["cached_share"] > 0.1


def test_scores_from_the_distribution_are_a_scorer_of_their_own(
    twice: Twice, tiny: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    shares = [json.loads(row[8]) for row in tiny if row[8] and row[8] != "null"]
    assert len(shares) >= 0.95 * (WHOLE - 5)
    assert all(0.5 < sum(distribution.values()) <= 1 + 1e-6 for distribution in shares)
    study = Study.open(twice.folder)
    scores = study.score_table()
    study.close()
    ours = scores[scores["scorer_kind"] == "judge"]
    names = {"tiny", "tiny (expected)", "first", "first (expected)"}
    assert names <= {*ours["scorer"]}
    of = {name: ours[ours["scorer"] == name]["value"] for name in names}
    assert of["tiny (expected)"].nunique() > of["tiny"].nunique()
    out = tmp_path / "report"
    done = subprocess.run(
        [CCRS, "report", str(twice.folder), "--out", str(out), "--resamples", "200", "--no-verify"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert names <= {name for estimate in written["estimates"] for name in estimate["scorers"]}


def test_a_repeat_gives_the_same_judgments(twice: Twice) -> None:
    rows = judgments(twice.folder)
    assert len(rows) == 3 * WHOLE
    (run,) = {row["run_id"] for row in rows if row["repeat"] == 1}
    repeats = [
        {
            (row["response_key"], row["construct_key"]): (row["raw_answer"], row["distribution"])
            for row in rows
            if row["run_id"] == run and row["repeat"] == repeat
        }
        for repeat in (0, 1)
    ]
    assert repeats[0] == repeats[1]


def test_the_end_of_one_of_two_processes_is_reported_and_loses_nothing(twice: Twice) -> None:
    assert "of 2 has ended by signal 9. All answers so far are stored" in twice.output
    assert WHOLE < twice.stored < 3 * WHOLE
    assert {row["attempt"] for row in judgments(twice.folder)} == {1}


def test_a_killed_run_goes_on_in_two_processes_to_the_same_bits(
    example: Path, model: Path, tiny: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "killed")
    words = ("--name", "tiny")
    stored, _, began = killed_midway(command(folder, model, *words), folder, WHOLE // 3)
    assert 0 < stored < WHOLE
    until = time.monotonic() + 30
    # An engine that stayed would keep its memory from the next run.
    while any(map(psutil.pid_exists, began)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, began))
    resumed = judge(folder, model, *words, "--processes", "2", "--drift", "5")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert f"{WHOLE - stored} judgments of the run 'tiny' were stored" in resumed.stdout
    assert "Drift, round 1: 5 prompts were asked." in resumed.stdout
    assert stored_judgments(folder) == tiny
    assert {row["attempt"] for row in judgments(folder)} == {1}


def test_a_batch_answered_by_run_batch_has_the_same_values(
    example: Path, model: Path, tiny: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(example, tmp_path / "study")
    batch = [CCRS, "judge", str(folder), "--engine", "batch", "--model", str(model)]
    batch += ["--window", "8192", "--logprobs", "on", "--name", "tiny", "--constructs", "QR"]
    requests, results = tmp_path / "requests", tmp_path / "results"
    subprocess.run([*batch, "--requests", str(requests)], check=True, capture_output=True)
    program = str(Path(vllm_python()).parent)
    options = "--enforce-eager --dtype float32 --block-size 32 --max-num-seqs 16"
    shard = [str(SHARD), str(requests), str(results), str(model), *options.split()]
    answered = subprocess.run(
        [*shard, "--max-model-len", "8192"],
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
    again, of_engine = stored_judgments(folder), [row for row in tiny if row[1] == "QR"]
    assert [row[:7] for row in again] == [row[:7] for row in of_engine]
    for one, other in zip(again, of_engine, strict=True):
        assert json.loads(one[8]) == pytest.approx(json.loads(other[8]), abs=1e-9)
