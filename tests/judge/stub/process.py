"""The endpoint in a process of its own, and how a test talks to it."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.judge.stub.completions import digest, score

ROOT = Path(__file__).resolve().parents[3]

# Whatever proxies the environment names: these calls stay on this machine.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True)
class Log:
    """What the endpoint saw."""

    requests: list[dict[str, Any]]
    """One entry for each request for a completion; see `Seen.kept`."""
    other_requests: list[str]
    """Method and path of every other request."""
    asked: int
    answered: int
    unanswered: int
    most_unanswered: int
    connections: int

    @property
    def judged(self) -> list[dict[str, Any]]:
        """The requests with a prompt of the paper, without the probes."""
        return [request for request in self.requests if request["construct"] is not None]

    def times_asked(self) -> dict[str, int]:
        """Return how often each prompt of the paper came, by its digest."""
        times: dict[str, int] = {}
        for request in self.judged:
            times[request["prompt"]] = times.get(request["prompt"], 0) + 1
        return times


@dataclass(frozen=True)
class Stub:
    """A running endpoint."""

    base_url: str
    control_url: str
    pid: int

    def behave(self, *rules: str | dict[str, Any], **options: Any) -> None:
        """Change what it does from now on: names of behaviours, or whole rules, in their order.

        `options` are those of the last one; `when` is one of them. Without rules it is healthy.

        Examples
        --------
        >>> stub.behave("throttled", wait=0.2, when={"first": 3})     # doctest: +SKIP
        >>> stub.behave("rejects_max_tokens", "reasoning", needs=400) # doctest: +SKIP
        """
        listed = [{"behaviour": rule} if isinstance(rule, str) else dict(rule) for rule in rules]
        if options:
            listed[-1].update(options)
        self._control("POST", "mode", {"rules": listed})

    def forget(self) -> None:
        """Begin a new log."""
        self._control("POST", "forget", {})

    def log(self) -> Log:
        """Return what it saw since its log began."""
        return Log(**self._control("GET", "log"))

    def wait_for(self, enough: Callable[[Log], bool], seconds: float = 60) -> Log:
        """Return the log as soon as it is as `enough` wants it.

        Raises
        ------
        TimeoutError
            It did not become so.
        """
        until = time.monotonic() + seconds
        while True:
            log = self.log()
            if enough(log):
                return log
            if time.monotonic() > until:
                raise TimeoutError(f"{log.asked} requests came, {log.answered} were answered")
            time.sleep(0.01)

    @staticmethod
    def score(prompt: str) -> int:
        """Return the score that it gives a prompt when it is healthy."""
        return score(digest(prompt))

    def _control(self, method: str, what: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"{self.control_url}/control/{what}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
        )
        try:
            with _open(request, timeout=30) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(error.read().decode()) from None


@contextmanager
def running_stub(
    *rules: str | dict[str, Any],
    model: str = "stub-judge",
    max_model_len: int | None = None,
    port: int = 0,
    keeps_log: bool = True,
) -> Iterator[Stub]:
    """Start an endpoint in a process of its own; it ends with the block."""
    command = [sys.executable, "-m", "tests.judge.stub", "--model", model, "--port", str(port)]
    if max_model_len is not None:
        command += ["--max-model-len", str(max_model_len)]
    if not keeps_log:
        command.append("--no-log")
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            asked, control = process.stdout.readline().split()
            stub = Stub(f"http://127.0.0.1:{asked}/v1", f"http://127.0.0.1:{control}", process.pid)
            if rules:
                stub.behave(*rules)
            yield stub
        finally:
            # It ends when its standard input does, also if this process is killed.
            process.stdin.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
