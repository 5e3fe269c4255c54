"""A server of ours in front of pages that take their time; run as a program by the tests.

Prints its address, then answers: /slow after a second, /large with 30 MB, /echo with the headers
it saw, anything else at once. Says how many requests were cut off when it was told to end.
"""

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from annotate_ui.server.application import waitress_server
from annotate_ui.server.capacity import fitted, size_for
from annotate_ui.server.error_log import log_errors
from annotate_ui.server.lifecycle import Shutdown, run
from annotate_ui.server.sockets import address_of, listen

LARGE = 30_000_000


def pages(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer as the path says."""
    path = environ["PATH_INFO"]
    body = b"here"
    if path.startswith("/slow"):
        time.sleep(float(path.removeprefix("/slow") or 1))
    elif path == "/large":
        body = b"x" * LARGE
    elif path == "/echo":
        body = repr(environ.get("HTTP_X_FORWARDED_FOR")).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


if __name__ == "__main__":
    raters, proxies, grace = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    log_errors()
    listening = listen("127.0.0.1", 0)
    server = waitress_server(pages, listening, fitted(size_for(raters)), proxies)
    ending = Shutdown()
    with ending.on_signals(server):
        print(address_of(listening), flush=True)
        print(f"{run(server, ending, grace)} cut off", flush=True)
