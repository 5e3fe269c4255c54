"""A suite over HTTP that is killed 13 times: each answer on disk once, and equal values."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from sqlalchemy import select

from judge import judge_metrics
from study import Study
from study.schema.tables import step_answers
from tests.judge.faults.conftest import _running_stub, stub
from tests.judge.metrics.killed_suite import suite
from tests.judge.metrics.test_suite_is_resumed import missing, values
from tests.judge.small_studies import fill
from tests.judge.stub.process import ROOT, Stub

__all__ = ["_running_stub", "stub"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_database")]

KILLS = 13
RULES: list[dict[str, Any]] = [
    {"behaviour": "slow", "delay": 0.02},
    {"behaviour": "answers", "text": '["One.", "Two."]', "when": {"containing": "JSON array"}},
    {"behaviour": "answers", "text": '{"1": "entailed", "2": "neutral"}',
     "when": {"containing": "JSON object"}},
]  # fmt: skip


def prompts(study: Study) -> Counter[str]:
    with study.read() as connection:
        hashes = connection.execute(select(step_answers.c.prompt_hash)).scalars()
        return Counter(hashes)


def test_thirteen_kills_cost_at_most_the_prompt_under_way(tmp_path: Path, stub: Stub) -> None:
    folder = tmp_path / "study"
    with Study.create(folder) as made:
        fill(made, queries=4)
    copytree(folder, tmp_path / "straight")
    stub.behave(*RULES)
    with Study.open(tmp_path / "straight") as straight:
        outcomes = judge_metrics(straight, suite(stub.base_url))
        expected, wanted = values(straight), prompts(straight)
        assert missing(straight) == []
    overhead = sum(outcome.overhead.get("calls", 0) for outcome in outcomes)
    assert stub.log().asked == wanted.total() + overhead
    stub.forget()
    command = [sys.executable, "-m", "tests.judge.metrics.killed_suite"]
    words = [*command, str(folder), stub.base_url, str(KILLS)]
    killed = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert killed.returncode == 0, killed.stdout + killed.stderr
    on_disk = list(map(int, killed.stdout.split()))
    assert len(on_disk) == KILLS
    assert on_disk[-1] < wanted.total()
    with Study.open(folder) as study:
        judge_metrics(study, suite(stub.base_url))
        assert prompts(study) == wanted
        assert set(wanted.values()) == {1}
        assert values(study) == expected
        assert missing(study) == []
    most = wanted.total() + KILLS + overhead * (KILLS + 1)
    assert wanted.total() < stub.log().asked <= most
