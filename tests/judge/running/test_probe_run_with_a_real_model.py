"""Probes of a run of a real model, tiny and random: killed, gone on with, and in the report.

The model runs in a separate environment; see tests/judge/tiny_model.
"""

import json
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.ccrs_command import in_process
from tests.judge.short_example import build_short_example
from tests.judge.tiny_model.judged_study import CCRS, CONCURRENCY, FIRST_REFERENCE, judge
from tests.judge.tiny_model.process import MODEL, TinyModel, build, model_python, running

pytestmark = pytest.mark.model

KINDS = "again,injection,order"
SAMPLE = 6


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyModel]:
    model_python()
    model = build(tmp_path_factory.mktemp("model") / "tiny-random")
    with running(model, tmp_path_factory.mktemp("endpoint") / "calls.jsonl") as started:
        yield started


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, endpoint: TinyModel) -> Path:
    """Return a study of which 60 prompts were judged, with two rounds of drift."""
    folder = tmp_path_factory.mktemp("judged") / "study"
    build_short_example(folder)
    done = judge(folder, endpoint, "--limit", "60", "--drift", "5")
    assert (done.returncode, done.stderr) == (0, FIRST_REFERENCE)
    assert "Drift, round 1: 5 prompts were asked." in done.stdout
    return folder


def words(folder: Path, endpoint: TinyModel, *more: str) -> list[str]:
    where = ["--base-url", endpoint.base_url, "--model", MODEL]
    probe_options = ["--kinds", KINDS, "--sample", str(SAMPLE), "--concurrency", str(CONCURRENCY)]
    return [CCRS, "judge", "probe", str(folder), *where, *probe_options, *more]


def probed(folder: Path, endpoint: TinyModel, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(folder, endpoint, *more), check=False, capture_output=True, text=True, timeout=300
    )


def rows(folder: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(f"file:{folder}/study.db?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        cursor = database.execute(
            "SELECT * FROM judge_answer WHERE probe IS NOT NULL"
            " ORDER BY probe, response_id, construct_key, round"
        )
        return [dict(row) for row in cursor]


def stored_answers(folder: Path) -> list[tuple[Any, ...]]:
    names = ("probe", "round", "response_id", "construct_key", "value", "raw_answer", "prompt_hash")
    return [tuple(row[name] for name in names) for row in rows(folder)]


@pytest.fixture(scope="module")
def whole(judged: Path, endpoint: TinyModel) -> Path:
    """Return a study that was probed without interruption."""
    folder = copytree(judged, judged.with_name("whole"))
    done = probed(folder, endpoint)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_a_repeated_prompt_gets_an_equal_score_and_an_altered_one_need_not(whole: Path) -> None:
    asked = rows(whole)
    with closing(sqlite3.connect(f"file:{whole}/study.db?mode=ro", uri=True)) as database:
        judged = {
            row[:2]: row[2]
            for row in database.execute(
                "SELECT response_id, construct_key, value FROM judge_answer WHERE probe IS NULL"
            )
        }
    again = [row for row in asked if row["probe"] == "again"]
    assert again
    assert all(row["value"] == judged[row["response_id"], row["construct_key"]] for row in again)
    altered = [row for row in asked if row["kind"] == "injection" and row["value"] is not None]
    assert any(row["value"] != judged[row["response_id"], row["construct_key"]] for row in altered)
    drift = [row for row in asked if row["kind"] == "drift"]
    assert len(drift) == 10
    first, second = (
        {(r["response_id"], r["construct_key"]): r["value"] for r in drift if r["round"] == n}
        for n in (0, 1)
    )
    assert first == second
    # What the injections say is seen in the prompts.
    assert all("suspected_injection" in row["flags"] for row in asked if row["kind"] == "injection")


def test_a_killed_call_goes_on_to_the_same_end(
    judged: Path, whole: Path, endpoint: TinyModel
) -> None:
    folder = copytree(judged, judged.with_name("killed"))
    half = (len(rows(whole)) + len(rows(folder))) // 2
    with subprocess.Popen(
        words(folder, endpoint), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            until = time.monotonic() + 120
            while len(rows(folder)) < half:
                assert process.poll() is None, "it ended before it was killed"
                assert time.monotonic() < until, "half of the answers did not come in time"
                time.sleep(0.01)
        finally:
            process.kill()
    kept = len(rows(folder))
    resumed = probed(folder, endpoint)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert f"Asked before: {kept - 10}" in resumed.stdout
    assert stored_answers(folder) == stored_answers(whole)


def test_a_dry_run_says_what_it_would_cost(whole: Path, judged: Path, endpoint: TinyModel) -> None:
    calls = endpoint.calls_when_quiet()
    shown = probed(judged, endpoint, "--dry-run", "--price", "1", "1", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")
    previewed = json.loads(shown.stdout)
    assert sum(previewed["planned"]["prompts"].values()) == len(rows(whole)) - 10
    assert previewed["cost"] > 0
    assert endpoint.calls_when_quiet() == calls


@pytest.mark.usefixtures("without_drawing")
def test_the_report_has_a_section_of_probes(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    quick = ["--resamples", "200", "--no-verify"]
    done = in_process("report", whole, "--out", out, *quick)
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads((out / "report.json").read_text(encoding="utf-8"))
    shifts = [e for e in content["estimates"] if e["statistic"] == "probe_shift"]
    again = [e for e in shifts if e["params"]["probe"] == "again"]
    assert again
    assert all(e["value"] == 0 for e in again)
    assert {"probes.csv", "drift.csv", "figure-probe-shifts.csv"} <= set(content["tables"])
    assert "Bias and attack probes" in (out / "report.html").read_text(encoding="utf-8")
