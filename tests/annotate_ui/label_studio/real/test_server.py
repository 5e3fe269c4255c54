"""What goes to a server and what is made of its answers, with label-studio-sdk and a stand-in."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from annotate_ui.cli.label_studio_server import VARIABLE, ServerPlace
from annotate_ui.label_studio import client as module
from annotate_ui.label_studio.client import Server, ServerError
from study import Study
from study.study import PinnedStudy

pytestmark = pytest.mark.usefixtures("sdk")


class Answering(ThreadingHTTPServer):
    """Answers everything alike, and keeps what it was asked."""

    answer: tuple[int, str, bytes] = (200, "application/json", b"{}")
    asked: list[tuple[str, bytes]]

    @property
    def url(self) -> str:
        """Where it listens, with a path."""
        return f"http://127.0.0.1:{self.server_port}/tools/ls"


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        """Answer."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.path, body))
        status, kind, answer = self.server.answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PATCH = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def answering() -> Iterator[Answering]:
    with Answering(("127.0.0.1", 0), _Handler) as server:
        server.asked = []
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def personal_token() -> str:
    """Return what a personal access token looks like."""

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    claims = {"token_type": "refresh", "exp": int(time.time()) + 999, "user_id": 1}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{'A' * 43}"


def test_a_personal_token_never_leaves_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.001)
    with answering() as there, Server(there.url, personal_token()) as server:
        there.answer = 401, "application/json", b'{"detail": "no"}'
        with pytest.raises(ServerError):
            server.check()
        assert {path for path, _ in there.asked} == {"/tools/ls/api/token/refresh/"}


@pytest.mark.parametrize("status", [200, 502])
def test_an_html_page_instead_of_values_is_reported_as_temporary(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.001)
    with answering() as there, Server(there.url, personal_token()) as server:
        there.answer = status, "text/html", b"<html>Bad Gateway</html>"
        with pytest.raises(ServerError, match="could not sign in") as raised:
            server.check()
        assert raised.value.is_temporary


def test_a_command_works_under_the_constructs_that_it_began_with(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "legacy")
    place = ServerPlace(study.folder, "http://127.0.0.1:1", None)
    with place.opened() as (opened, _):
        assert isinstance(opened, PinnedStudy)


def test_a_skip_holds_its_place() -> None:
    made = {"id": 7, "title": "x"}
    with answering() as there, Server(there.url, "legacy") as server:
        there.answer = 201, "application/json", json.dumps(made).encode()
        number = server.create_project(
            title="x", description="x", xml="x", instructions="x", overlap=2, in_order=True
        )
        assert number == 7
        ((path, body),) = there.asked
    assert path == "/tools/ls/api/projects/"
    sent = json.loads(body)
    assert (sent["skip_queue"], sent["sampling"]) == ("IGNORE_SKIPPED", "Sequential sampling")
