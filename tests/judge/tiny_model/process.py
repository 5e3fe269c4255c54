"""The model and its endpoint in processes of their own, and what the endpoint saw."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.conftest import absent

ROOT = Path(__file__).resolve().parents[3]
VARIABLE = "CCRS_TEST_MODEL_PYTHON"
MODEL = "tiny-random"

# Nothing is looked for on the network, and progress bars stay out of what a failing test shows.
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}


class Call(NamedTuple):
    """A request that the endpoint got."""

    request: str
    """Method and path."""
    prompt: str | None
    """Digest of the prompt, for a completion; see `tests.judge.stub.completions.digest`."""
    status: int | None
    """Of the answer; None where none is ready yet."""


@dataclass(frozen=True)
class TinyModel:
    """A running endpoint."""

    base_url: str
    _log: Path

    def calls(self) -> list[Call]:
        """Return all requests so far, in the order in which they came."""
        entries = [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]
        ends = {entry["number"]: entry["status"] for entry in entries if entry["event"] == "end"}
        return [
            Call(entry["request"], entry["prompt"], ends.get(entry["number"]))
            for entry in entries
            if entry["event"] == "begin"
        ]

    def calls_when_quiet(self, seconds: float = 0.5) -> list[Call]:
        """Return all requests, once all are answered and none has come for so long."""
        until = time.monotonic() + 60
        seen, since = self.calls(), time.monotonic()
        while any(call.status is None for call in seen) or time.monotonic() - since < seconds:
            if time.monotonic() > until:
                raise TimeoutError("the endpoint does not come to rest")
            time.sleep(0.05)
            if (now := self.calls()) != seen:
                seen, since = now, time.monotonic()
        return seen


def model_python() -> str:
    """Return the interpreter that has torch and transformers; without one the test is skipped."""
    python = os.environ.get(VARIABLE)
    if not python:
        absent(f"{VARIABLE} names no Python with tests/judge/tiny_model/requirements.txt")
    return str(python)


def build(folder: Path, *more: str, python: str | None = None) -> Path:
    """Make the model in `folder`, which is returned."""
    command = [python or model_python(), "-m", "tests.judge.tiny_model.make", str(folder), *more]
    made = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return folder


@contextmanager
def running(model: Path, log: Path, *more: str) -> Iterator[TinyModel]:
    """Serve the model; its endpoint ends with the block, or with this process."""
    command = [model_python(), "-m", "tests.judge.tiny_model.server", str(model)]
    errors = log.with_suffix(".err")
    with (
        errors.open("w", encoding="utf-8") as error_file,
        subprocess.Popen(
            [*command, "--name", MODEL, "--log", str(log), "--end-with-input", *more],
            cwd=ROOT,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error_file,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, errors.read_text(encoding="utf-8")
            yield TinyModel(address, log)
        finally:
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
