"""The line between browser and server: it keeps every byte, and can be cut.

A relay of the tests' own instead of the browser's switches: what passed is read as bytes, a cut
takes answers that are under way with it, and the server may come and go behind it.
"""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 2**16
_KEY = re.compile(rb'"key":\s*"([A-Za-z0-9-]+)"')


class Wire:
    """A relay on a port of its own, from the browser to the server's port."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._lock = threading.Lock()
        self._received = bytearray()
        self._sent = bytearray()
        self._open: set[socket.socket] = set()
        self._cut = threading.Event()
        self._deaf = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def received(self) -> bytes:
        """Everything that the browser was sent so far, headers included."""
        with self._lock:
            return bytes(self._received)

    @property
    def sent(self) -> bytes:
        """Everything that the browser sent so far and the line took."""
        with self._lock:
            return bytes(self._sent)

    @property
    def keys(self) -> list[str]:
        """Idempotency keys of the saves that passed, in their order, repeats included."""
        return [key.decode() for key in _KEY.findall(self.sent)]

    def cut(self) -> None:
        """End every connection and refuse new ones, until `mend`."""
        self._cut.set()
        self._hang_up()

    def mend(self) -> None:
        """Let everything through again."""
        self._deaf.clear()
        self._cut.clear()

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Let requests through, and lose every answer: the server acts, the browser can't know."""
        self._hang_up()
        self._deaf.set()
        try:
            yield
        finally:
            self._hang_up()
            self._deaf.clear()

    def close(self) -> None:
        """Stop listening, and end what is open."""
        self._listening.close()
        self._hang_up()

    def _hang_up(self) -> None:
        with self._lock:
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if self._cut.is_set():
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._to_port), timeout=10)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._open |= {near, far}
            left = [2]
            for source, target, kept in (
                (near, far, self._sent),
                (far, near, self._received),
            ):
                threading.Thread(
                    target=self._carry, args=(source, target, kept, left), daemon=True
                ).start()

    def _carry(
        self, source: socket.socket, target: socket.socket, kept: bytearray, left: list[int]
    ) -> None:
        with suppress(OSError):
            while part := source.recv(_CHUNK):
                if kept is self._received and self._deaf.is_set():
                    break
                # Kept before it is passed on, so that it is here when the other side acts.
                with self._lock:
                    kept += part
                target.sendall(part)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            left[0] -= 1
            if not left[0]:
                self._open -= {source, target}
                source.close()
                target.close()
