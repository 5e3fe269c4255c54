"""`ccrs serve` as a person runs it: a process, real connections, real signals."""

import http.client
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest

from annotate_ui.participants.invitation import invite, revoke
from study import Study
from tests.annotate_ui.campaign_with_raters import assign, fill

pytestmark = pytest.mark.server

CCRS = [sys.executable, "-c", "from study.cli.root import main; main()"]


@dataclass
class Served:
    """A running `ccrs serve`."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    port: int = 0

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=20)
        return self.process.returncode, output, errors


Start = Callable[..., Served]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return what starts `ccrs serve` on a free port and waits until it is open."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ExitStack() as ends:

        def started(study: Study, *words: str) -> Served:
            process = subprocess.Popen(
                [*CCRS, "serve", str(study.folder), "--port", "0", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            ends.enter_context(process)
            ends.callback(process.kill)
            served = Served(process)
            assert process.stdout is not None
            for line in process.stdout:
                served.lines.append(line.rstrip())
                if line.startswith("Stop with"):
                    break
            else:
                pytest.fail(process.communicate()[1])
            match = re.search(r": http://\S+:(\d+)$", served.lines[0])
            assert match
            served.port = int(match[1])
            return served

        yield started


def refused(study: Study, *words: str) -> str:
    """Run a `ccrs serve` that must not start; return what it complains of."""
    done = subprocess.run(
        [*CCRS, "serve", str(study.folder), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    return done.stderr


class Browser:
    """Keeps cookies and nothing else."""

    def __init__(self, port: int, **headers: str) -> None:
        self.port = port
        self.headers = headers
        self.cookies: dict[str, str] = {}
        self.sent_to: str | None = None

    def ask(self, method: str, path: str, **form: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {**self.headers, "Cookie": cookies}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, urlencode(form) or None, headers)
            answer = connection.getresponse()
            self.sent_to = answer.getheader("Location")
            for name, value in answer.getheaders():
                if name == "Set-Cookie":
                    cookie = value.partition(";")[0].partition("=")
                    self.cookies[cookie[0]] = cookie[2]
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def join(self, link: str) -> int:
        _, page = self.ask("GET", "/join")
        match = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
        assert match, page
        token = link.partition("#")[2]
        status = self.ask("POST", "/join", csrf_token=match[1], token=token)[0]
        refused = self.sent_to == "/join/refused"
        return self.ask("GET", "/join/refused")[0] if refused else status

    def rate(self) -> int:
        return self.ask("GET", "/rate")[0]


def test_a_rater_comes_in_stays_over_a_restart_and_is_sent_away(
    any_study: Study, start: Start
) -> None:
    fill(any_study)
    assign(any_study, "anna", "ben")
    anna, ben = invite(any_study)
    served = start(any_study)
    assert served.lines[0].startswith("Rating pages of ")
    assert "2 raters have a live link; 4 of 4 assignments are left." in served.lines
    assert f"Next: ccrs status {any_study.folder}   (in another terminal)" in served.lines
    browser = Browser(served.port)
    assert browser.rate() == 401
    assert browser.join("http://x/join#wrong") == 403
    assert browser.join(anna.link) == 303
    assert browser.rate() == 200
    code, output, errors = served.end()
    assert (code, output, errors) == (0, "Stopped.\n", "")

    again = start(any_study)
    browser.port = again.port
    assert browser.rate() == 200, "the secret is the same, so the session continues"
    revoke(any_study, "anna")
    assert browser.rate() == 401, "at once"
    assert browser.join(anna.link) == 403
    assert browser.join(ben.link) == 303
    code, output, errors = again.end(signal.SIGINT)
    assert (code, output, errors) == (0, "Stopped.\n", "")


def test_a_hundred_and_fifty_connections_for_forty_raters_are_all_answered(
    study: Study, start: Start
) -> None:
    invite(study, new=40)
    served = start(study)
    with ExitStack() as open_ones:
        connections = [
            open_ones.enter_context(socket.create_connection(("127.0.0.1", served.port), 20))
            for _ in range(150)
        ]
        for connection in connections:
            connection.sendall(b"GET /join HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        for connection in connections:
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert answer.status == 200
            assert "Server" not in answer.headers
            assert answer.read()
    assert served.end()[0] == 0


def test_the_next_command_is_the_one_that_is_missing(study: Study, start: Start) -> None:
    folder = study.folder
    served = start(study)
    assert f"Next: ccrs assign {folder}   (who rates what)" in served.lines
    served.end()
    fill(study)
    assign(study, "anna")
    served = start(study)
    assert "0 raters have a live link; 2 of 2 assignments are left." in served.lines
    assert f"Next: ccrs invite {folder}   (links for raters)" in served.lines
    served.end()


@pytest.mark.parametrize(("proxies", "elsewhere"), [("0", 429), ("1", 403)])
def test_failed_links_are_counted_by_the_address_that_trusted_proxies_name(
    study: Study, start: Start, proxies: str, elsewhere: int
) -> None:
    port = start(study, "--proxies", proxies).port
    guesser = Browser(port, **{"X-Forwarded-For": "203.0.113.1"})
    assert [guesser.join("#wrong") for _ in range(11)] == [403] * 10 + [429]
    # Without a trusted proxy, an address in a header is ignored.
    other = Browser(port, **{"X-Forwarded-For": "203.0.113.2"})
    assert other.join("#wrong") == elsewhere


def test_a_request_under_another_name_is_refused(study: Study, start: Start) -> None:
    port = start(study).port
    assert Browser(port, Host="evil.example.org").ask("GET", "/join")[0] == 400
    assert Browser(port, Host=f"127.0.0.1:{port}").ask("GET", "/join")[0] == 200


def test_a_taken_port_is_named(study: Study, start: Start) -> None:
    port = start(study).port
    complaint = refused(study, "--port", str(port))
    assert f"Port {port} of 127.0.0.1 is in use" in complaint
    assert "--port" in complaint


def test_an_address_that_others_reach_is_warned_of(study: Study, start: Start) -> None:
    lines = start(study, "--host", "0.0.0.0", "--proxies", "1").lines
    assert any("anyone on the network can reach" in line for line in lines)
    assert not any("anyone" in line for line in start(study).lines)
    elsewhere = refused(study, "--host", "192.0.2.1", "--proxies", "1")
    assert "not an address of this computer" in elsewhere


def test_the_secret_file_may_be_named(study: Study, start: Start, tmp_path: Path) -> None:
    named = tmp_path / "secret"
    start(study, "--secret-file", str(named)).end()
    assert len(named.read_bytes()) == 32
    assert not (tmp_path / "state").exists()
    named.chmod(0o644)
    assert "mode 0644" in refused(study, "--secret-file", str(named))


def test_the_commands_cost_nothing_until_they_run() -> None:
    code = (
        "import sys, annotate_ui.cli.invite, annotate_ui.cli.serve; "
        "heavy = {'flask', 'waitress', 'sqlmodel', 'pydantic', 'rich'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
