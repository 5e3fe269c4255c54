"""The server as a process: how many it lets in, and how it ends."""

import http.client
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from annotate_ui.server.application import stopped_by_signals
from tests.conftest import ROOT, absent

pytestmark = pytest.mark.server

Start = Callable[..., tuple[subprocess.Popen[str], str, int]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return what starts a server: its process, host and port."""
    with ExitStack() as ends:

        def started(
            raters: int = 0, proxies: int = 0, done: str | None = None
        ) -> tuple[subprocess.Popen[str], str, int]:
            words = [sys.executable, "-m", "tests.annotate_ui.server.slow_pages"]
            process = subprocess.Popen(
                [*words, str(raters), str(proxies), *([done] if done else [])],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            ends.enter_context(process)
            ends.callback(process.kill)
            assert process.stdout is not None
            address = urlsplit(process.stdout.readline().strip())
            assert address.hostname
            assert address.port
            return process, address.hostname, address.port

        yield started


def get(host: str, port: int, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(host, port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def connected(host: str, port: int) -> socket.socket:
    return socket.create_connection((host, port), timeout=20)


def ask(connection: socket.socket, path: str = "/") -> None:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def status(connection: socket.socket) -> str:
    """Read a whole answer and return its first line."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return f"{answer.status} {answer.reason}"


def test_the_server_does_not_reveal_its_software(start: Start) -> None:
    _, host, port = start()
    code, body, headers = get(host, port, "/")
    assert (code, body) == (200, b"here")
    assert "Server" not in headers


@pytest.mark.parametrize(("proxies", "seen"), [(0, b"None"), (1, b"'203.0.113.9'")])
def test_a_forwarded_address_is_believed_of_trusted_proxies_only(
    start: Start, proxies: int, seen: bytes
) -> None:
    _, host, port = start(proxies=proxies)
    assert get(host, port, "/echo", **{"X-Forwarded-For": "203.0.113.9"})[1] == seen


def test_a_body_beyond_the_limit_is_refused(start: Start) -> None:
    _, host, port = start()
    with connected(host, port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n")
        assert status(connection) == "413 Request Entity Too Large"


def test_more_connections_than_select_can_see_are_open_at_once(start: Start) -> None:
    # Waitress by itself stops at 100, and select() can't see descriptors above 1023.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        absent("a limit of 2,048 open files or more")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    _, host, port = start(raters=200)
    with ExitStack() as open_ones:
        connections = [open_ones.enter_context(connected(host, port)) for _ in range(1200)]
        for connection in connections:
            ask(connection)
        assert {status(connection) for connection in connections} == {"200 OK"}
        for connection in reversed(connections):
            ask(connection)
        assert {status(connection) for connection in connections} == {"200 OK"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_requests_under_way_are_carried_out_at_the_end(
    start: Start, tmp_path: Path, number: int
) -> None:
    done = tmp_path / "done"
    process, host, port = start(done=str(done))
    with ExitStack() as connections:
        # As many as there are threads.
        for _ in range(4):
            ask(connections.enter_context(connected(host, port)), "/slow")
        time.sleep(0.5)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert done.read_text().splitlines() == ["/slow"] * 4
    assert (output, errors) == ("", "")
    with pytest.raises(ConnectionRefusedError):
        connected(host, port)


def test_the_end_does_not_wait_for_a_request_that_takes_long(start: Start, tmp_path: Path) -> None:
    done = tmp_path / "done"
    process, host, port = start(done=str(done))
    with connected(host, port) as connection:
        ask(connection, "/slow3600")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate()
    assert not done.exists()
    assert "1 thread(s) still running" in complained
    assert process.returncode == 0


def test_a_second_ctrl_c_ends_at_once(start: Start) -> None:
    process, host, port = start()
    with connected(host, port) as connection:
        ask(connection, "/slow20")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_the_server_ends_without_requests(start: Start) -> None:
    process, _, _ = start()
    process.terminate()
    assert process.wait(10) == 0


def test_a_signal_ends_the_block_that_it_meets() -> None:
    # Also before the server's loop begins, and after it ends.
    reached = []
    with stopped_by_signals():
        reached.append("before")
        signal.raise_signal(signal.SIGTERM)
        reached.append("after")
    assert reached == ["before"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
