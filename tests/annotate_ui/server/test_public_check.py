"""Pages on the internet: the checks before the start, and gunicorn with several processes."""

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from annotate_ui.participants.invitation import invite
from annotate_ui.server.application import serve
from annotate_ui.server.start_checks import check_public
from annotate_ui.server.wsgi import application
from study import Study, StudyError
from tests.annotate_ui.browser.server import free_port
from tests.annotate_ui.campaign_with_raters import assign, fill
from tests.annotate_ui.server.gunicorn import OUTSIDE, PASSED_ON, Gunicorn


@contextmanager
def public(study: Study) -> Iterator[Study]:
    """Give the study an address on the internet."""
    settings = study.folder / "study.toml"
    settings.write_text(f"{settings.read_text()}\n{OUTSIDE}")
    opened = Study.open(study.folder)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a secret file created with the command of the message."""
    file = tmp_path / "secret"
    command = f"(umask 077; head -c 32 /dev/urandom > {file})"
    subprocess.run(["sh", "-c", command], check=True)
    return file


def test_each_thing_that_is_missing_is_named_with_its_remedy(
    study: Study, tmp_path: Path, secret: Path
) -> None:
    with pytest.raises(StudyError) as refused:
        check_public(study, proxies=0, secret_file=None)
    message = str(refused.value)
    assert "rating.base_url" in message
    assert "--proxies 1" in message
    assert "--secret-file FILE" in message
    absent = tmp_path / "absent"
    with public(study) as outside:
        with pytest.raises(StudyError, match=r"head -c 32 /dev/urandom > .*absent"):
            check_public(outside, proxies=1, secret_file=absent)
        check_public(outside, proxies=1, secret_file=secret)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "rate.example.org"])
def test_no_server_is_reached_directly(study: Study, host: str) -> None:
    """300 connections that send a byte now and then would stop it."""
    with pytest.raises(StudyError, match="put a reverse proxy with https in front"):
        serve(study, host, 0)


@pytest.mark.server
@pytest.mark.parametrize(
    "words",
    [
        ("--public",),
        ("--public", "--proxies", "1"),
        ("--public", "--secret-file", "SECRET"),
    ],
    ids=["nothing", "no secret", "no proxy"],
)
def test_the_command_refuses_to_start(study: Study, secret: Path, words: tuple[str, ...]) -> None:
    options = [str(secret) if word == "SECRET" else word for word in words]
    command = [sys.executable, "-c", "from study.cli.root import main; main()", "serve"]
    with public(study):
        done = subprocess.run(
            [*command, str(study.folder), "--port", "0", *options],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert "Not ready for the internet" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_wsgi_server_gets_the_pages_under_the_same_conditions(
    study: Study, secret: Path
) -> None:
    with pytest.raises(StudyError, match="Not ready for the internet"):
        application(str(study.folder), str(secret))
    with public(study):
        pages = application(str(study.folder), str(secret))
    assert pages.config["SESSION_COOKIE_SECURE"]
    pages.config["STUDY"].close()


@contextmanager
def gunicorn(study: Study, secret: Path, log: Path) -> Iterator[int]:
    """Run two processes of gunicorn, and give the port they answer on."""
    server = Gunicorn(study.folder, secret, log, free_port())
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


def ask(
    port: int, method: str, path: str, cookie: str = "", **fields: str
) -> tuple[int, dict[str, str], str]:
    """Send a request as a reverse proxy passes it on."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {
        **PASSED_ON,
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": cookie,
    }
    connection.request(method, path, urlencode(fields) if fields else None, headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


@pytest.mark.server
def test_several_processes_share_sessions(any_study: Study, secret: Path, tmp_path: Path) -> None:
    fill(any_study)
    assign(any_study, "anna")
    with public(any_study) as study:
        (made,) = invite(study, ["anna"])
        with gunicorn(study, secret, tmp_path / "gunicorn.txt") as port:
            _, headers, page = ask(port, "GET", "/join")
            token = re.search(r'name="csrf_token" value="([^"]+)"', page)
            assert token
            cookie = headers["Set-Cookie"].split(";")[0]
            status, headers, _ = ask(
                port,
                "POST",
                "/join",
                cookie,
                csrf_token=token[1],
                token=made.link.partition("#")[2],
            )
            assert status == 303
            assert "Secure" in headers["Set-Cookie"]
            assert headers["Strict-Transport-Security"]
            cookie = headers["Set-Cookie"].split(";")[0]
            # Twenty connections meet both processes.
            assert {ask(port, "GET", "/rate", cookie)[0] for _ in range(20)} == {200}
