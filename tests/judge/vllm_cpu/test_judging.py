"""The example study judged by vLLM itself: killed, gone on with, and the same to the last bit."""

import json
import subprocess
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from study import Study
from tests.judge.tiny_model.judged_study import judgments
from tests.judge.vllm_cpu.judged_example import (
    CCRS,
    RESPONSES,
    WHOLE,
    all_ended,
    killed_midway,
    stored_judgments,
)
from tests.judge.vllm_cpu.process import ENVIRONMENT, command, judge

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def twice(judged: Path, model: Path, tiny: list[tuple[Any, ...]]) -> Path:
    """Return the folder of a study, one construct of it also with the context first, twice."""
    del tiny
    folder = copytree(judged, judged.with_name("twice"))
    words = ("--prompts", "ccrs-context-first-v1", "--repeats", "2", "--constructs", "QR")
    done = judge(folder, model, *words, "--name", "first")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 * RESPONSES} judgments of the run 'first' were stored" in done.stdout
    return folder


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
    twice: Path, tiny: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    shares = [json.loads(row[8]) for row in tiny if row[8] and row[8] != "null"]
    assert len(shares) >= 0.95 * (WHOLE - 5)
    assert all(0.5 < sum(distribution.values()) <= 1 + 1e-6 for distribution in shares)
    study = Study.open(twice)
    scores = study.score_table()
    study.close()
    ours = scores[scores["scorer_kind"] == "judge"]
    names = {"tiny", "tiny (expected)", "first", "first (expected)"}
    assert names <= {*ours["scorer"]}
    of = {name: ours[ours["scorer"] == name]["value"] for name in names}
    assert of["tiny (expected)"].nunique() > of["tiny"].nunique()
    out = tmp_path / "report"
    done = subprocess.run(
        [CCRS, "report", str(twice), "--out", str(out), "--resamples", "200", "--no-verify"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert names <= {name for estimate in written["estimates"] for name in estimate["scorers"]}


def test_a_repeat_gives_the_same_judgments(twice: Path) -> None:
    rows = judgments(twice)
    assert len(rows) == WHOLE + 2 * RESPONSES
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


def test_a_killed_run_goes_on_to_the_same_bits(
    example: Path,
    model: Path,
    expected: list[tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As a user's call does, with the engine in separate processes.
    monkeypatch.setitem(ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    folder = copytree(example, tmp_path / "killed")
    words = ("--name", "tiny", "--deterministic")
    stored, _, began = killed_midway(command(folder, model, *words), folder, WHOLE // 3)
    assert 0 < stored < WHOLE
    # An engine that stayed would keep its memory from the next run.
    assert all_ended(began)
    resumed = judge(folder, model, *words)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert f"{WHOLE - stored} judgments of the run 'tiny' were stored" in resumed.stdout
    assert "--deterministic computed 100% of them; without it" in resumed.stdout
    assert stored_judgments(folder) == expected
    assert {row["attempt"] for row in judgments(folder)} == {1}


@pytest.mark.parametrize(
    ("window", "arguments", "missing", "cause", "remedy"),
    [
        ("8192", "", "*.safetensors", "Cannot find any model weights", "has no files of weights"),
        ("8192", "num_gpu_blocks_override = 4", "", "KV cache", "does not fit into this memory"),
        ("90000", "", "", "(90000) is greater", "--window 90000 is more than the 8192 tokens"),
    ],
    ids=["no weights", "too large", "window"],
)
def test_a_failure_in_the_engines_process_is_one_cause_and_one_remedy(
    window: str,
    arguments: str,
    missing: str,
    cause: str,
    remedy: str,
    example: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    other = copytree(model, tmp_path / "model")
    for path in other.glob(missing) if missing else ():
        path.unlink()
    folder = copytree(example, tmp_path / "study")
    with (folder / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"{arguments}\n")
    done = judge(folder, other, "--window", window)
    assert done.returncode == 2, done.stdout
    assert cause in done.stderr
    assert remedy in done.stderr
    assert len((done.stdout + done.stderr).splitlines()) <= 4, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "EngineCore" not in done.stdout + done.stderr
