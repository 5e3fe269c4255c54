"""A proxy of the tests' own in front of the server: a path, TLS, and faults when asked for."""

import http.client
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

Fault = Callable[[str, str, int], int | None]
"""Method, path and how often it was asked for: a status to answer with; negative: the request is
sent on and its answer is lost; None: no fault."""


@dataclass
class Proxy:
    """A running proxy."""

    url: str
    asked: dict[tuple[str, str], int] = field(default_factory=dict)


@contextmanager
def proxied(
    server: str, *, prefix: str = "", certificate: Path | None = None, fault: Fault | None = None
) -> Iterator[Proxy]:
    """Stand in front of a server. `certificate` holds key and certificate in one file."""
    target = urlsplit(server)
    proxy = Proxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._pass_on()

        do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def _pass_on(self) -> None:
            assert self.path.startswith(prefix)
            path = self.path.removeprefix(prefix)
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            key = self.command, urlsplit(path).path
            proxy.asked[key] = proxy.asked.get(key, 0) + 1
            status = None if fault is None else fault(*key, proxy.asked[key])
            if status is not None and status > 0:
                self._answer(status, b'{"detail": "database is locked"}')
                return
            link = http.client.HTTPConnection(str(target.hostname), target.port, timeout=300)
            names = ("Authorization", "Content-Type")
            headers = {name: self.headers[name] for name in names if self.headers[name]}
            link.request(self.command, path, body, headers)
            answer = link.getresponse()
            content = answer.read()
            link.close()
            if status is not None:
                self._answer(502, b"lost")
                return
            self._answer(answer.status, content, answer.getheader("Content-Type"))

        def _answer(self, status: int, content: bytes, kind: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind or "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            # A client that is killed, or has given up, does not read its answer.
            with suppress(ConnectionError):
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
        scheme = "https"
    proxy.url = f"{scheme}://127.0.0.1:{httpd.server_port}{prefix}"
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def private_certificate(folder: Path) -> Path:
    """Make a certificate for 127.0.0.1 that no authority has signed but itself."""
    path = folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", str(path), "-out", str(folder / "own.pem")]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    with path.open("a") as file:
        file.write((folder / "own.pem").read_text())
    return path
