"""A study's pages on gunicorn with two processes, as the documentation starts them."""

import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

_PATIENCE = 30.0
HOST = "rate.example.org"
OUTSIDE = f'[rating]\nbase_url = "https://{HOST}"\n'
"""What the pages need in study.toml."""
PASSED_ON = {"Host": HOST, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
"""What a reverse proxy adds to each request."""


class Gunicorn:
    """Two processes of gunicorn that can be killed without a word and started again."""

    def __init__(self, folder: Path, secret: Path, log: Path, port: int) -> None:
        self._command = [
            str(Path(sys.executable).with_name("gunicorn")),
            "--preload",
            "--workers=2",
            "--threads=4",
            f"--bind=127.0.0.1:{port}",
            f"annotate_ui.server.wsgi:application({str(folder)!r}, {str(secret)!r}, 1)",
        ]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.port = port

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as complaints:
            self._process = subprocess.Popen(
                self._command,
                stdout=complaints,
                stderr=complaints,
                env={**os.environ, "PYTHONWARNINGS": "default"},
                # Its processes can be killed as one.
                start_new_session=True,
            )
        until = time.monotonic() + _PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"gunicorn did not start: {self.complaints}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request("GET", "/", headers=PASSED_ON)
            connection.getresponse().read()
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        return True

    def kill(self) -> None:
        """End all its processes at one moment, as a power cut would."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """End it as its owner does."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=_PATIENCE)
            self._process = None

    @property
    def complaints(self) -> str:
        """What its processes wrote, over all its starts."""
        return self._log.read_text()
