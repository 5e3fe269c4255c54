"""Model runner V2, which every GPU uses for dense models, with interpreted kernels of Triton.

The interpreter lacks the kernel of structured answers; these are tested with runner V1 alone.
"""

import json
import subprocess
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.judge.vllm_cpu.judged_example import stored_judgments
from tests.judge.vllm_cpu.process import MODEL_RUNNER_V2, command, environment

pytestmark = pytest.mark.model

LIMIT = 60
"""Prompts, of which the interpreted kernels take some eight a second."""


def test_runner_v2_gives_the_answers_and_probabilities_of_runner_v1(
    uncached: Path, model: Path, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    folder = copytree(uncached, tmp_path / "study")
    done = subprocess.run(
        command(folder, model, "--name", "tiny", "--limit", str(LIMIT)),
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
        env={**environment(), **MODEL_RUNNER_V2, "CCRS_TEST_LOADED": str(tmp_path / "loaded")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    loaded = (tmp_path / "loaded").read_text(encoding="utf-8").splitlines()
    assert "vllm.v1.worker.cpu.model_runner" in loaded, "runner V1 answered"
    assert f"{LIMIT} prompts were answered" in done.stdout
    by_runner_v1 = {row[:3]: row for row in expected}
    stored = stored_judgments(folder)
    assert len(stored) >= LIMIT
    for row in stored:
        other = by_runner_v1[row[:3]]
        assert row[:8] == other[:8]
        assert json.loads(row[8] or "{}") == pytest.approx(json.loads(other[8] or "{}"), abs=1e-5)
