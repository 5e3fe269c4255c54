"""`ccrs serve`: the rating pages, on waitress."""

import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from waitress.server import create_server

from annotate_ui.server.capacity import Size, fitted, size_for
from annotate_ui.server.error_log import log_errors
from annotate_ui.server.filesystem_check import check_file_system
from annotate_ui.server.public_check import check_public
from annotate_ui.server.secret_key import secret_key
from annotate_ui.server.sockets import address_of, listen, reached
from annotate_ui.server.startup_message import opening
from annotate_ui.web.owner.password import where_told
from study.study import Study

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

Server = Any
"""A server of waitress. (The published types of its parts are wrong.)"""
BODY_LIMIT = 2**20
"""Bytes of a request. A comment of 5,000 characters is 20,000 at most."""
_HEADER_LIMIT = 2**15
_IDLE_SECONDS = 60
"""Until a connection without a request is closed; browsers open another when they need it."""


def serve(
    study: Study,
    host: str = "127.0.0.1",
    port: int = 8350,
    *,
    proxies: int = 0,
    secret_file: Path | None = None,
    public: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the rating pages until Ctrl-C, SIGTERM or a closed terminal.

    Requests that are being carried out then have five seconds to end. Their answers are not sent:
    a browser sends a save again, with the same key, when the server is back.

    Parameters
    ----------
    study
        On a local disk, or on PostgreSQL.
    host, port
        Where to listen. Port 0 takes a free one.
    proxies
        Number of reverse proxies of your own in front. Their X-Forwarded-For and
        X-Forwarded-Proto are believed; with 0, nobody's are.
    secret_file
        Where the secret that signs sessions is kept, instead of the user's state folder.
    public
        Strangers can reach the pages: nothing starts without https, a stated proxy and a secret
        that is there already.
    say
        Called with each line for the owner.

    Raises
    ------
    StudyError
        The study's place, the secret or the port can't be used; the message has the remedy.
    """
    check_file_system(study)
    if public:
        check_public(study, proxies=proxies, secret_file=secret_file)
    secret = secret_key(study.folder, secret_file)
    log_errors()
    listening = listen(host, port)
    try:
        from annotate_ui.server.warm_up import warm
        from annotate_ui.web.app import create_app

        application = create_app(study, secret, proxies=proxies)
        warm(application)
        found = opening(study)
        size = fitted(size_for(found.raters))
        server = waitress_server(application, listening, size, proxies)
    except BaseException:
        listening.close()
        raise
    with stopped_by_signals():
        say(f"Rating pages of {study.config.name}: {address_of(listening)}")
        for line in reached(listening, study.config.rating.base_url, proxies):
            say(line)
        if size.warning is not None:
            say(f"Warning: {size.warning}")
        for line in found.lines(study):
            say(line)
        say(where_told(study))
        say("Stop with Ctrl-C. What raters have saved is kept.")
        sys.stdout.flush()
        run(server)
    say("Stopped.")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Take SIGTERM and a closed terminal like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # With nohup, that signal is ignored on purpose.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(server: Server) -> None:
    """Answer requests until interrupted; interrupted twice, end at once."""
    try:
        server.run()
    except KeyboardInterrupt:
        return
    server.close()


def waitress_server(
    application: "WSGIApplication", listening: socket.socket, size: Size, proxies: int = 0
) -> Server:
    """Return a server of this size for `application`, not running yet."""
    return create_server(
        application,
        sockets=[listening],
        threads=size.threads,
        # select() can't see descriptors above 1023.
        asyncore_use_poll=hasattr(select, "poll"),
        # Waitress counts the listening socket and its own trigger among the connections.
        connection_limit=size.connections + 2,
        channel_timeout=_IDLE_SECONDS,
        max_request_body_size=BODY_LIMIT,
        max_request_header_size=_HEADER_LIMIT,
        # The pages themselves read the headers of as many proxies as are trusted.
        clear_untrusted_proxy_headers=not proxies,
        ident=None,
    )
