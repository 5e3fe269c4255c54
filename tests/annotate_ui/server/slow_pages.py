"""A server of ours in front of pages that take their time; run as a program by the tests.

Prints its address, then answers: /slow after a second, /echo with the headers
it saw, anything else at once. Each request that was carried out adds a line to the file DONE.
"""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from annotate_ui.server.application import (
    fitted,
    run,
    size_for,
    stopped_by_signals,
    waitress_server,
)
from annotate_ui.server.error_log import log_errors
from annotate_ui.server.sockets import address_of, listen


def pages(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer as the path requests."""
    path = environ["PATH_INFO"]
    body = b"here"
    if path.startswith("/slow"):
        time.sleep(float(path.removeprefix("/slow") or 1))
    elif path == "/echo":
        body = repr(environ.get("HTTP_X_FORWARDED_FOR")).encode()
    if len(sys.argv) > 3:
        with Path(sys.argv[3]).open("a") as done:
            done.write(f"{path}\n")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


if __name__ == "__main__":
    raters, proxies = int(sys.argv[1]), int(sys.argv[2])
    log_errors()
    listening = listen("127.0.0.1", 0)
    server = waitress_server(pages, listening, fitted(size_for(raters)), proxies)
    with stopped_by_signals():
        print(address_of(listening), flush=True)
        run(server)
