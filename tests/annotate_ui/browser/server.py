"""`ccrs serve` as a process that can be killed without a word and started again."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

CCRS = str(Path(sys.executable).with_name("ccrs"))


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


class Server:
    """The server of a study, on the same port at each start."""

    def __init__(self, folder: Path, state: Path, port: int) -> None:
        self._command = [CCRS, "serve", str(folder), "--port", str(port)]
        self._environment = {**os.environ, "XDG_STATE_HOME": str(state), "COLUMNS": "200"}
        self._log = state / "server.txt"
        self._process: subprocess.Popen[str] | None = None
        self.port = port

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as complaints:
            self._process = subprocess.Popen(
                self._command,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                env=self._environment,
            )
        assert self._process.stdout is not None
        # Its first line is printed once it listens.
        if not self._process.stdout.readline():
            raise AssertionError(f"the server did not start: {self.complaints}")

    def kill(self) -> None:
        """End it as a power cut would: no signal that it could act upon."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()
        self._process = None

    def stop(self) -> None:
        """End it as its owner does."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=20)
            self._process = None

    @property
    def complaints(self) -> str:
        """What it wrote to standard error, over all its starts."""
        return self._log.read_text()
