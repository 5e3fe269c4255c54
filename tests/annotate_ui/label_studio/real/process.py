"""A real Label Studio on loopback, from a copy of a database that was migrated once."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    # Here and below it is imported late: it comes with the SDK, without which tests are skipped.
    import httpx

OWNER = "0123456789abcdef0123456789abcdef01234567"
# Migrating takes the longer part of a minute, on a busy machine several.
_STARTING = 600
_STOPPING = 30
_CALLS = "outside-calls.txt"
_PAGE = Path(__file__).parents[4] / "data/manual/reference/label_studio.md"


@dataclass(frozen=True)
class Member:
    """An account with a token of the legacy kind."""

    id: int
    email: str
    token: str


class LabelStudioServer:
    """A running server."""

    def __init__(self, url: str, data: Path) -> None:
        self.url = url
        self._data = data

    def outside_calls(self) -> list[str]:
        """Return what the server asked of other machines since it was started."""
        return (self._data / _CALLS).read_text().splitlines()

    def client(self, token: str = OWNER) -> "httpx.Client":
        """Return a client that speaks as the owner of a token."""
        import httpx

        headers = {"Authorization": f"Token {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=120)

    def member(self, email: str) -> Member:
        """Make an account by the invitation link, as a rater does."""
        import httpx

        with self.client() as owner:
            link = owner.get("/api/invite").json()["invite_url"]
        with httpx.Client(base_url=self.url, follow_redirects=True, timeout=120) as browser:
            page = browser.get(link).text
            hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
            assert hidden is not None
            form = {
                "email": email,
                "password": PASSWORD,
                "csrfmiddlewaretoken": hidden[1],
            }
            done = browser.post(link, data=form, headers={"Referer": self.url + link})
            assert done.status_code == 200, done.text[:500]
            number = browser.get("/api/current-user/whoami").json()["id"]
            token = browser.get("/api/current-user/token").json()["token"]
        return Member(number, email, token)


PASSWORD = "a-long-password-of-a-rater"


@contextmanager
def running(executable: Path) -> Iterator[LabelStudioServer]:
    """Start a server with a database of its own; it is stopped and removed at the end."""
    with tempfile.TemporaryDirectory(prefix="ccrs-label-studio-run-") as folder:
        data = Path(folder) / "data"
        shutil.copytree(_migrated(executable), data)
        with _started(executable, data) as server:
            yield server


def _migrated(executable: Path) -> Path:
    """Return a folder with a migrated database, made once for each set of installed versions."""
    installed = executable.resolve().parent.parent.glob("lib/python*/site-packages/*.dist-info")
    versions = sorted(f"{path.parts[-3]} {path.name}" for path in installed)
    assert versions, f"{executable} is not in a virtual environment"
    name = f"ccrs-label-studio-{sha256(repr(versions).encode()).hexdigest()[:12]}"
    folder = Path(tempfile.gettempdir()) / name
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            draft = Path(f"{folder}.part")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(mode=0o700)
            with _started(executable, draft):
                pass
            draft.rename(folder)
    return folder


@contextmanager
def _started(executable: Path, data: Path) -> Iterator[LabelStudioServer]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = LabelStudioServer(f"http://127.0.0.1:{port}", data)
    command = [str(executable), "start", "--no-browser"]
    command += ["--internal-host", "127.0.0.1", "--port", str(port)]
    with (data / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=_environment(data), stdout=log, stderr=log)
        try:
            _wait(server, process, data / "server.log")
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOPPING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment(data: Path) -> dict[str, str]:
    # It reads bare names such as HOST, PORT, DEBUG and CI, so it is given nothing else.
    return {
        **_documented_settings(),
        "PATH": os.environ["PATH"],
        "HOME": str(data),
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LABEL_STUDIO_USERNAME": "owner@example.org",
        "LABEL_STUDIO_PASSWORD": "a-long-password-of-the-owner",
        "LABEL_STUDIO_USER_TOKEN": OWNER,
        **recording(data / _CALLS),
    }


def _documented_settings() -> dict[str, str]:
    """Return the settings with which the manual starts a server."""
    block = next(part for part in _PAGE.read_text().split("```") if "label-studio start" in part)
    return dict(re.findall(r"\b(\w+)=(\S*)", block))


def recording(file: Path) -> dict[str, str]:
    """Return the environment in which Python records calls to other machines in a file."""
    folder = Path(__file__).parent / "recorder"
    return {"PYTHONPATH": str(folder), "CCRS_TEST_OUTSIDE_CALLS": str(file)}


def _wait(server: LabelStudioServer, process: "subprocess.Popen[bytes]", log: Path) -> None:
    import httpx

    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            with server.client() as owner:
                if owner.get("/api/projects/").status_code == 200:
                    return
        except httpx.TransportError:
            pass
        time.sleep(0.3)
    raise AssertionError(f"Label Studio did not start: {log.read_text()[-2000:]}")
