"""The files of `data/deploy`: their command lines start a server, and Caddy passes requests on."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
import yaml

from study import Study
from tests.annotate_ui.browser.server import CCRS, Server, free_port
from tests.annotate_ui.campaign_with_raters import fill
from tests.annotate_ui.server.gunicorn import HOST, OUTSIDE, PASSED_ON
from tests.annotate_ui.server.test_behind_nginx import connection_to
from tests.conftest import absent

DEPLOY = Path(__file__).parents[3] / "data" / "deploy"


def of_the_unit() -> list[str]:
    """The command line of the systemd unit."""
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "ccrs.service")
    return shlex.split(unit["Service"]["ExecStart"])


def of_the_container() -> list[str]:
    """The command line that the image starts with."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    return [
        word
        for instruction in ("ENTRYPOINT", "CMD")
        for word in json.loads(re.findall(rf"^{instruction} (\[.*\])$", text, re.M)[0])
    ]


@contextmanager
def started(command: list[str], folder: Path, state: Path) -> Iterator[Server]:
    """A server with that command line on this machine's paths."""
    with Study.open(folder) as study:
        fill(study)
    settings = folder / "study.toml"
    settings.write_text(f"{settings.read_text()}\n{OUTSIDE}")
    secret = state / "secret"
    state.mkdir(exist_ok=True)
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    here = {"/srv/ccrs/study": folder, "/study": folder, "ccrs": CCRS, "/opt/ccrs/bin/ccrs": CCRS}
    here |= dict.fromkeys(("/etc/ccrs/secret", "/run/secrets/ccrs"), secret)
    server = Server(folder, state, free_port())
    words = [str(here.get(word, word)) for word in command]
    server._command = [*words, "--port", str(server.port)]
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.server
def test_the_container_serves_the_study_that_is_mounted(study: Study, tmp_path: Path) -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    pages = compose["services"]["pages"]
    command = of_the_container()
    assert [volume.rpartition(":")[2] for volume in pages["volumes"]] == [command[2]]
    assert [f"/run/secrets/{name}" for name in pages["secrets"]] == [command[-1]]
    assert set(pages["secrets"]) == set(compose["secrets"])
    assert "reverse_proxy pages:8350" in (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    with started(command, study.folder, tmp_path / "state") as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", "/join", headers=PASSED_ON)
        assert connection.getresponse().status == 200
        connection.close()


@contextmanager
def caddy(folder: Path, behind: int) -> Iterator[int]:
    """Caddy with the Caddyfile, with a certificate of its own making."""
    if shutil.which("caddy") is None:
        absent("caddy is not installed")
    port = free_port()
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    assert "pages:8350" in text
    options = f"local_certs\nskip_install_trust\nauto_https disable_redirects\nadmin off\n\
        storage file_system {folder}/caddy\n"
    configuration = folder / "Caddyfile"
    configuration.write_text(
        f"{{\n{options}}}\n{text.replace('pages:8350', f'127.0.0.1:{behind}')}"
    )
    with (folder / "caddy.txt").open("w") as log:
        process = subprocess.Popen(
            ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)],
            env={**os.environ, "CCRS_HOST": f"{HOST}:{port}", "HOME": str(folder)},
            stderr=log,
        )
    try:
        until = time.monotonic() + 60
        root = folder / "caddy" / "pki/authorities/local/root.crt"
        while not root.exists():
            assert process.poll() is None, (folder / "caddy.txt").read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        while True:
            try:
                # Its port is open before it has the certificate.
                connection_to(port, root).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "caddy.txt").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.server
def test_caddy_passes_requests_on_to_the_server_of_the_unit(study: Study, tmp_path: Path) -> None:
    with (
        started(of_the_unit(), study.folder, tmp_path / "state") as server,
        caddy(tmp_path, server.port) as port,
    ):
        connection = connection_to(port, tmp_path / "caddy" / "pki/authorities/local/root.crt")
        connection.request("GET", "/join", headers={"X-Forwarded-For": "198.51.100.1"})
        answer = connection.getresponse()
        assert answer.status == 200
        # The server believes the proxy that the page was opened by https.
        assert "max-age" in (answer.getheader("Strict-Transport-Security") or "")
        assert "Secure" in (answer.getheader("Set-Cookie") or "")
        connection.close()
