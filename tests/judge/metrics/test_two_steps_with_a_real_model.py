"""A metric of two steps on a real model, tiny and random: real tokens, limits and answers.

The model runs in a separate environment (tests/judge/tiny_model/requirements.txt), whose Python
is named by CCRS_TEST_MODEL_PYTHON. Its words mean nothing; what is stored of them is exact.
"""

import json
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from study import Study
from tests.judge.metrics.test_two_steps import FILE
from tests.judge.small_studies import fill
from tests.judge.tiny_model.judged_study import command, judge, judgments
from tests.judge.tiny_model.process import build, model_python, running

pytestmark = pytest.mark.model

METRIC = ("--metric", str(FILE), "--name", "faithful", "--json")


def step_answers(folder: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(f"file:{folder}/study.db?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM step_answer ORDER BY id")]


def stored_answers(folder: Path) -> set[tuple[Any, ...]]:
    """Return what was answered, and what was made of it."""
    answers = {
        (row["prompt_hash"], row["step"], row["number"], row["raw_answer"], row["prompt_tokens"])
        for row in step_answers(folder)
    }
    values = {
        (row["response_key"], row["value"], row["missing_reason"], row["parts"])
        for row in judgments(folder)
    }
    return answers | values


def test_a_killed_run_gives_what_an_uninterrupted_one_gives(tmp_path: Path) -> None:
    model_python()
    folder = tmp_path / "study"
    with closing(Study.create(folder)) as study:
        fill(study, queries=12)
    straight = copytree(folder, tmp_path / "straight")
    with running(build(tmp_path / "model"), tmp_path / "calls.jsonl") as endpoint:
        done = judge(straight, endpoint, *METRIC)
        assert done.returncode in {0, 1}, done.stderr
        whole = step_answers(straight)
        assert len({row["prompt_hash"] for row in whole}) == len(whole)
        steps = Counter(row["step"] for row in whole)
        # Of four responses to a query two give one text.
        assert steps["statements"] == 12 * 3
        assert all(row["completion_tokens"] <= 200 for row in whole)
        limits = [row["completion_tokens"] for row in whole if row["step"] == "verdict"]
        assert all(limit <= 8 for limit in limits)
        with subprocess.Popen(
            command(folder, endpoint, *METRIC),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            until = time.monotonic() + 120
            while len(step_answers(folder)) < len(whole) // 2:
                assert process.poll() is None, "it ended before it was killed"
                assert time.monotonic() < until, "half of the answers did not come in time"
                time.sleep(0.01)
            process.kill()
        endpoint.calls_when_quiet()
        stored = len(step_answers(folder))
        resumed = judge(folder, endpoint, *METRIC)
    assert resumed.returncode == done.returncode, resumed.stderr
    assert json.loads(resumed.stdout)["answered"] == len(whole) - stored
    assert json.loads(resumed.stdout)["remaining"] == 0
    assert stored_answers(folder) == stored_answers(straight)
    assert len(judgments(folder)) == 12 * 4
