"""`ccrs serve`: the rating pages on waitress, sized by the number of raters."""

import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sqlalchemy import select as select_rows
from waitress.server import create_server

from annotate_ui.monitoring.expected_material import lacking_warnings
from annotate_ui.participants.enrolment_links import LinkState, list_links as enrolment_links
from annotate_ui.participants.invitation import list_links
from annotate_ui.server.error_log import log_errors
from annotate_ui.server.secret_key import secret_key
from annotate_ui.server.sockets import address_of, listen, reachability
from annotate_ui.server.start_checks import check_behind_proxy, check_public
from annotate_ui.web.owner.password import owner_pages_line
from study.facts.ratings import finished_assignments
from study.facts.slots import OWN_CHANNEL, is_live
from study.lifecycle.file_system import check_file_system
from study.schema.tables import assignments
from study.study import Study
from study.text import counted

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

Server = Any
"""A server of waitress. (The published types of its parts are wrong.)"""
BODY_LIMIT = 2**20
"""Bytes of a request. A comment of 5,000 characters is 20,000 at most."""
_HEADER_LIMIT = 2**15
_IDLE_SECONDS = 60
"""Until a connection without a request is closed; browsers open another when needed."""
THREADS = 4
"""Python runs one thread at a time, and each further waiting thread slows the others: after a
restart, when all raters return at once, 12 threads take twice as long."""
CONNECTIONS_OF_A_BROWSER = 6
"""Connections that today's browsers open to one host."""
SPARE_CONNECTIONS = 100
"""For the owner, a rater's second device, raters who are invited while the server runs."""
FEWEST_CONNECTIONS = 200
_OTHER_DESCRIPTORS = 128
"""The database's files and connections, standard streams, libraries, uploads on disk."""


@dataclass(frozen=True)
class Size:
    """Threads and connections of the server."""

    threads: int
    """Requests that run at once; others wait."""
    connections: int
    """Connections open at once; further ones wait until one ends."""
    warning: str | None = None


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

    Running requests then have five seconds to end. Their answers are not sent: a browser sends a
    save again, with the same key, when the server is back.

    Parameters
    ----------
    study
        On a local disk, or on PostgreSQL.
    host, port
        Where to listen. With port 0 the system chooses a free one. A host that other computers
        reach requires a proxy.
    proxies
        Number of your own reverse proxies in front. X-Forwarded-For and X-Forwarded-Proto are
        trusted for as many proxies; with 0, not at all.
    secret_file
        Where the secret that signs sessions is kept, instead of the user's state folder.
    public
        For pages on the internet: the server starts only with https, a proxy and an existing
        secret.
    say
        Called with each line for the owner.

    Raises
    ------
    StudyError
        The study's file system, the secret or the port can't be used, or other computers could
        reach the server without a proxy.
    """
    check_file_system(study)
    check_behind_proxy(host, proxies=proxies)
    if public:
        check_public(study, proxies=proxies, secret_file=secret_file)
    secret = secret_key(study.folder, secret_file)
    log_errors()
    listening = listen(host, port)
    try:
        from annotate_ui.server.wsgi import warm
        from annotate_ui.web.app import create_app

        application = create_app(study, secret, proxies=proxies)
        warm(application)
        counts = campaign_counts(study)
        size = fitted(size_for(counts.raters))
        server = waitress_server(application, listening, size, proxies)
    except BaseException:
        listening.close()
        raise
    with stopped_by_signals():
        say(f"Rating pages of {study.config.name}: {address_of(listening)}")
        for line in reachability(listening, study.config.rating.base_url, proxies):
            say(line)
        if size.warning is not None:
            say(f"Warning: {size.warning}")
        for warning in lacking_warnings(study):
            say(f"Warning: {warning}")
        for line in counts.lines(study):
            say(line)
        say(owner_pages_line(study))
        say("Stop with Ctrl-C. What raters have saved is kept.")
        sys.stdout.flush()
        run(server)
    say("Stopped.")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """End the block quietly at Ctrl-C, SIGTERM or a closed terminal, whenever it comes."""
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
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(server: Server) -> None:
    """Answer requests until interrupted; interrupted twice, KeyboardInterrupt ends it at once."""
    # Waitress itself ends at the first interrupt, and waits for the requests under way.
    server.run()
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


@dataclass(frozen=True)
class CampaignCounts:
    """Raters and assignments of a campaign when the server starts."""

    raters: int
    """All known raters, with or without a link, and those who may still join by enrolment links."""
    with_link: int
    without_link: int
    """Raters with assignments and no live link."""
    assignments: int
    """Live ones."""
    left: int
    """Those with a construct that is not answered yet."""
    open_links: tuple[LinkState, ...] = ()
    """Enrolment links by which raters can still join."""

    def lines(self, study: Study) -> list[str]:
        """Return the counts as text, and the next command."""
        folder = study.folder
        have = "1 rater has" if self.with_link == 1 else f"{self.with_link} raters have"
        work = counted(self.assignments, "assignment")
        are = "is" if self.left == 1 else "are"
        lines = [f"{have} a live link; {self.left:,} of {work} {are} left."]
        for link in self.open_links:
            slots = counted(link.free_slots or 0, "open slot")
            joined = f"{link.counted:,} of {counted(link.quota, 'rater')} joined"
            lines.append(f"Enrolment link {link.name}: {joined}, {slots} left for them.")
        if not self.assignments:
            return [*lines, f"Next: ccrs assign {folder}   (who rates what)"]
        if self.without_link:
            return [*lines, f"Next: ccrs invite {folder}   (links for raters)"]
        if self.left and not self.with_link and not self.open_links:
            return [*lines, f"Next: ccrs invite {folder} --new N   (raters for the open slots)"]
        return [*lines, f"Next: ccrs status {folder}   (in another terminal)"]


def campaign_counts(study: Study) -> CampaignCounts:
    """Count raters, links and assignments of a study."""
    links = list_links(study)
    joins = tuple(link for link in enrolment_links(study) if link.open)
    places = [link.quota - link.counted for link in joins]
    with study.read() as connection:
        live = (assignments.c.channel == OWN_CHANNEL, is_live())
        assigned = set(connection.execute(select_rows(assignments.c.id).where(*live)).scalars())
        finished = finished_assignments(connection, study.config, *live)
    return CampaignCounts(
        raters=len(links) + sum(places),
        with_link=sum(link.live for link in links),
        without_link=sum(
            link.assignments > 0 and not link.live and not link.left for link in links
        ),
        open_links=joins,
        assignments=len(assigned),
        left=len(assigned - finished),
    )


def size_for(raters: int) -> Size:
    """Return threads and connections for a number of raters.

    Connections: 6 for each rater, as many as a browser opens, and 100 more; at least 200.
    Threads: 4, whatever the number of raters. A rater saves every few seconds, and a save takes
    milliseconds.
    """
    connections = CONNECTIONS_OF_A_BROWSER * raters + SPARE_CONNECTIONS
    return Size(THREADS, max(connections, FEWEST_CONNECTIONS))


def fitted(size: Size) -> Size:
    """Return a size that this process has descriptors for, after raising its limit if it can.

    Each connection is an open file. A server beyond the limit could not even refuse connections.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit.
        return size
    needed = size.connections + _OTHER_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return size
    limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    except (OSError, ValueError):
        limit = soft
    if limit >= needed:
        return size
    connections = max(limit - _OTHER_DESCRIPTORS, 16)
    return Size(
        size.threads,
        connections,
        f"The system allows this process {limit} open files, so {connections} connections at "
        f"once instead of {size.connections}. Raise the limit with `ulimit -n {needed}` first.",
    )
