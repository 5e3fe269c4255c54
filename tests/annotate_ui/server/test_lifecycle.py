"""The server as a process: how many it lets in, and how it ends."""

import http.client
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.annotate_ui.server.slow_pages import LARGE
from tests.conftest import ROOT, absent

pytestmark = pytest.mark.server

Start = Callable[..., tuple[subprocess.Popen[str], str, int]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return what starts a server: its process, host and port."""
    with ExitStack() as ends:

        def started(
            raters: int = 0, proxies: int = 0, grace: float = 8
        ) -> tuple[subprocess.Popen[str], str, int]:
            words = [sys.executable, "-m", "tests.annotate_ui.server.slow_pages"]
            process = subprocess.Popen(
                [*words, str(raters), str(proxies), str(grace)],
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


def test_it_does_not_say_what_it_is(start: Start) -> None:
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
def test_requests_under_way_are_finished_at_the_end(start: Start, number: int) -> None:
    process, host, port = start()
    with ThreadPoolExecutor(20) as pool, connected(host, port) as idle:
        ask(idle)
        assert status(idle) == "200 OK"
        # 4 threads: the others wait for one, and are finished too.
        slow = [pool.submit(get, host, port, "/slow") for _ in range(20)]
        time.sleep(0.5)
        process.send_signal(number)
        time.sleep(0.3)
        with pytest.raises(ConnectionRefusedError):
            connected(host, port)
        assert idle.recv(1) == b"", "a connection that waits for nothing is closed"
        assert [answer.result()[:2] for answer in slow] == [(200, b"here")] * 20
    said, complained = process.communicate(timeout=10)
    assert process.returncode == 0
    assert said == "0 cut off\n"
    assert complained == ""


def test_an_answer_that_is_being_sent_is_sent_to_its_end(start: Start) -> None:
    process, host, port = start()
    with connected(host, port) as connection:
        ask(connection, "/large")
        received = len(connection.recv(1000))
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        while part := connection.recv(2**20):
            received += len(part)
    assert received > LARGE
    assert process.wait(10) == 0


def test_the_end_waits_no_longer_than_its_grace(start: Start) -> None:
    process, host, port = start(grace=0.5)
    with connected(host, port) as connection:
        ask(connection, "/slow20")
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=15)
    assert time.monotonic() - began < 5
    assert said == "1 cut off\n"


def test_a_second_ctrl_c_ends_at_once(start: Start) -> None:
    process, host, port = start(grace=60)
    with connected(host, port) as connection:
        ask(connection, "/slow20")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_it_ends_while_nobody_is_there(start: Start) -> None:
    process, _, _ = start()
    began = time.monotonic()
    process.terminate()
    assert process.wait(10) == 0
    assert time.monotonic() - began < 2
