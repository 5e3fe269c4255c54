"""The server's life: requests are answered until it is told to end, and then finished."""

import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from waitress import wasyncore

GRACE_SECONDS = 8.0
"""For requests under way when the server is told to end. Containers are killed after 10."""
_TICK = 0.5

Server = Any
"""A server of waitress that listens on one socket. (The published types of its parts are wrong.)"""


class Shutdown:
    """How often the server was told to end. Told twice, it doesn't wait for requests."""

    def __init__(self) -> None:
        self.asked = 0

    @contextmanager
    def on_signals(self, server: Server) -> Iterator[None]:
        """Take Ctrl-C, SIGTERM and a closed terminal as the wish to end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(_number: int, _frame: FrameType | None) -> None:
            self.asked += 1
            # Wakes the loop, which waits for the network.
            server.pull_trigger()

        before: dict[int, Any] = {}
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # Who started it with nohup wants that signal ignored.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(server: Server, ending: Shutdown, grace: float = GRACE_SECONDS) -> int:
    """Answer requests until told to end; return how many could not be finished then.

    Waitress's own end cancels requests that wait for a thread and drops answers that are not
    sent yet.
    """
    while not ending.asked:
        _turn(server)
    # From now on browsers are refused at once, and send again when the server is back.
    wasyncore.dispatcher.close(server)
    until = time.monotonic() + grace
    while _close_idle(server) and ending.asked < 2 and time.monotonic() < until:
        _turn(server)
    left = _close_idle(server)
    server.task_dispatcher.shutdown(timeout=0.1 if left else 2)
    server.trigger.close()
    wasyncore.close_all(server._map)
    return left


def _turn(server: Server) -> None:
    # select() can't see descriptors above 1023.
    wasyncore.loop(_TICK, use_poll=hasattr(select, "poll"), map=server._map, count=1)


def _close_idle(server: Server) -> int:
    """Close connections that wait for nothing; return how many still have an answer to come."""
    busy = 0
    for channel in list(server.active_channels.values()):
        if channel.requests or channel.total_outbufs_len:
            busy += 1
        else:
            channel.will_close = True
    return busy
