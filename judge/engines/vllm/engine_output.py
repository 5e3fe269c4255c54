"""What vLLM's processes print: kept from the terminal, and searched for the cause of a failure.

With the engine in a process of its own, vLLM raises "Engine core initialization failed. See root
cause above": the cause is in the output of that process, under some seventy lines.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = re.compile(r"^(?:\([^)]*pid=\d+\) ?)?(?:[A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?)?")
_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b:? ?(.*)")
# What one process says of the failure of another.
_ELSEWHERE = re.compile(
    r"(?:see|check) (?:the )?(?:root cause|stack trace|error|log)|initialization failed|"
    r"died unexpectedly|EngineDeadError|EngineCore encountered",
    re.IGNORECASE,
)
_HEADLINE = re.compile(r"\d+ validation errors? for \w+$")
_MEMORY = (
    "The model does not fit into this memory: give a smaller --window, set gpu_memory_utilization, "
    "quantization or tensor_parallel_size under [judge.vllm] in study.toml, end other programs "
    "that use the GPU, or use a smaller model."
)
_REMEDIES = (
    (
        re.compile(r"max_model_len \((\d+)\) is greater than the derived max_model_len \(\D*(\d+)"),
        r"--window \1 is more than the \2 tokens of the model: give at most \2.",
    ),
    (
        re.compile(
            r"out of memory|memory for (?:the )?cache blocks|KV cache (?:memory )?is (?:needed|"
            r"larger)|available (?:KV cache )?memory|free memory on device|less than desired GPU",
            re.IGNORECASE,
        ),
        _MEMORY,
    ),
    (
        re.compile(r"cannot find any model weights|no (?:such )?(?:safetensors|weights) ", re.I),
        "The folder has no files of weights (*.safetensors): copy or download them completely.",
    ),
    (
        re.compile(
            r"Repo id must be|is not a local folder|Repository Not Found|offline mode", re.I
        ),
        "It is neither a folder on this machine nor a name that the hub has: check --model.",
    ),
)


class EngineOutput:
    """The output of processes that start while it is redirected."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the processes)

    @contextmanager
    def redirected(self) -> Iterator[None]:
        """Send what this process and those that it starts print to the file."""
        kept = [os.dup(number) for number in (1, 2)]
        _flush()
        try:
            for number in (1, 2):
                os.dup2(self._file.fileno(), number)
            yield
        finally:
            _flush()
            for number, own in zip((1, 2), kept, strict=True):
                os.dup2(own, number)
                os.close(own)

    def failure(self, error: BaseException) -> str:
        """Return the cause of a failure, with its remedy, or where all of the output is."""
        lines = self._lines()
        cause = _cause([*lines, *f"{type(error).__name__}: {error}".splitlines()])
        if remedy := _remedy("\n".join([str(error), cause])):
            return f"{_short(cause)} {remedy}"
        return f"{_short(cause)} All that vLLM printed is in {self._saved(lines)}."

    def close(self) -> None:
        """Forget the output; processes that still run print into nothing."""
        self._file.close()

    def _lines(self) -> list[str]:
        self._file.seek(0)
        return self._file.read().decode(errors="replace").splitlines()

    def _saved(self, lines: list[str]) -> Path:
        number, name = tempfile.mkstemp(prefix="ccrs-vllm-", suffix=".log")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return Path(name)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _cause(lines: list[str]) -> str:
    """Return the message of the last error that does not point to another process."""
    plain = [_PREFIX.sub("", line) for line in lines]
    causes = []
    for line, following in zip(plain, [*plain[1:], ""], strict=True):
        found = _ERROR.match(line)
        if found and not _ELSEWHERE.search(line):
            # The message of pydantic, and of an empty first line, is on the next one.
            on_next = not found[1] or _HEADLINE.search(line)
            causes.append(following.strip() if on_next else found[1].strip())
    return causes[-1] if causes else plain[-1].strip()


def _short(cause: str) -> str:
    text = re.sub(r"\s*\[type=\w+.*", "", cause)
    text = re.sub(r"^Value error, ", "", text)
    first = re.match(r".{20,400}?[.!?](?= [A-Z]|$)", text)
    shown = first[0] if first else text[:400]
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def _remedy(text: str) -> str:
    for pattern, remedy in _REMEDIES:
        if found := pattern.search(text):
            return found.expand(remedy) if "\\" in remedy else remedy
    return ""
