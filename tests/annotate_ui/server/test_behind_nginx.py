"""The nginx configuration of the documentation, run by a real nginx with a certificate."""

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest

from annotate_ui.participants.invitation import invite
from study import Study
from tests.annotate_ui.browser.server import Server, free_port
from tests.annotate_ui.campaign_with_raters import assign, fill
from tests.conftest import absent

pytestmark = pytest.mark.server

GUIDE = Path(__file__).parents[3] / "data" / "manual" / "reference" / "serving.md"
HOST = "rate.example.org"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Return a self-signed certificate for the example's host, and its key."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        absent("nginx or openssl is not installed")
    place = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-out", str(place[0]), "-keyout", str(place[1])]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return place


@contextmanager
def nginx(folder: Path, certificate: tuple[Path, Path], behind: int) -> Iterator[int]:
    """Run nginx with the guide's server block; only ports and files are this test's own."""
    (block,) = re.findall(r"```nginx\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    port = free_port()
    replaced = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "127.0.0.1:8350": f"127.0.0.1:{behind}",
        f"/etc/letsencrypt/live/{HOST}/fullchain.pem": str(certificate[0]),
        f"/etc/letsencrypt/live/{HOST}/privkey.pem": str(certificate[1]),
    }
    for here, there in replaced.items():
        assert here in block
        block = block.replace(here, there)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors.txt;\n"
        f"events {{}}\nhttp {{ access_log {folder}/access.txt;\n{temporary}{block}}}\n"
    )
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(configuration)])
    try:
        for _ in range(100):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=20):
                    break
            except OSError:
                assert process.poll() is None
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def connection_to(port: int, certificate: Path) -> HTTPSConnection:
    """Return a connection under the example's name to a port of this machine."""
    context = ssl.create_default_context(cafile=str(certificate))
    connection = HTTPSConnection(HOST, timeout=20, context=context)
    plain = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sock = context.wrap_socket(plain, server_hostname=HOST)
    return connection


def test_the_guides_proxy_carries_a_rater_in(
    study: Study, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    fill(study)
    assign(study, "anna")
    settings = study.folder / "study.toml"
    settings.write_text(f'{settings.read_text()}\n[rating]\nbase_url = "https://{HOST}"\n')
    study.close()
    study = Study.open(study.folder)
    (made,) = invite(study, ["anna"])
    study.close()
    assert made.link.startswith(f"https://{HOST}/join#")
    secret = tmp_path / "secret"
    subprocess.run(["sh", "-c", f"(umask 077; head -c 32 /dev/urandom > {secret})"], check=True)
    served = Server(study.folder, tmp_path / "state", free_port())
    served._command += ["--public", "--proxies", "1", "--secret-file", str(secret)]
    served.start()
    try:
        with nginx(tmp_path, certificate, served.port) as port:
            connection = connection_to(port, certificate[0])
            connection.request("GET", "/join", headers={"X-Forwarded-For": "198.51.100.1"})
            answer = connection.getresponse()
            page = answer.read().decode()
            assert answer.status == 200
            assert "max-age" in (answer.getheader("Strict-Transport-Security") or "")
            cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
            token = re.search(r'name="csrf_token" value="([^"]+)"', page)
            assert token
            form = {"csrf_token": token[1], "token": made.link.partition("#")[2]}
            kind = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
            connection.request("POST", "/join", urlencode(form), kind)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 303
            assert answer.getheader("Location") == "/rate"
            assert "Secure" in (answer.getheader("Set-Cookie") or "")
            connection.close()
        assert (tmp_path / "access.txt").read_text().count(made.link.partition("#")[2]) == 0
    finally:
        served.stop()
