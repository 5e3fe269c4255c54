"""The example study, what is stored of it, and a command on it that is killed midway."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from tests.judge.tiny_model.judged_study import count, judgments
from tests.judge.vllm_cpu.process import environment

RESPONSES = 116
"""Responses of the example study."""
WHOLE = RESPONSES * 5
"""Judgments on all constructs of them."""
CCRS = str(Path(sys.executable).with_name("ccrs"))


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
) -> tuple[int, str, list[psutil.Process]]:
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
            stored = count(folder)
            if victim:
                next(child for child in began if victim in " ".join(child.cmdline())).kill()
        finally:
            if not victim:
                process.kill()
        output = process.communicate(timeout=300)[0] if victim else ""
    return stored if victim else count(folder), output, began


def all_ended(processes: list[psutil.Process]) -> bool:
    """Wait until none of the processes is left; return whether that is so in time."""
    until = time.monotonic() + 60
    while any(map(_is_left, processes)) and time.monotonic() < until:
        time.sleep(0.1)
    return not any(map(_is_left, processes))


def _is_left(process: psutil.Process) -> bool:
    try:
        # The first process of a container may leave the remains of others.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
