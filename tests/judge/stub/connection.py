"""HTTP/1.1 with keep-alive on asyncio's bare protocol: fast enough not to be what is measured."""

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol

from tests.judge.stub.exchange import Reply

_REASON = {status.value: status.phrase for status in HTTPStatus}


class Taker(Protocol):
    """Who takes the requests of a connection."""

    def opened(self, connection: "Connection") -> None: ...

    def closed(self, connection: "Connection") -> None: ...

    def take(
        self, method: str, path: str, headers: dict[str, str], body: bytes, connection: "Connection"
    ) -> Callable[[], None] | None: ...


class Connection(asyncio.Protocol):
    """One client's connection: requests with a Content-Length, one after the other."""

    def __init__(self, taker: Taker) -> None:
        self._taker = taker
        self._received = bytearray()
        self._needed = 0
        self._busy = False
        self._gone: Callable[[], None] | None = None
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport
        self._taker.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop what was to be replied."""
        del exc
        self._taker.closed(self)
        if self._gone is not None:
            self._gone()

    def abort(self) -> None:
        """Drop the connection without a goodbye."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take the requests that are whole."""
        self._received += data
        while not self._busy and self._received and len(self._received) >= self._needed:
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                return
            first, headers = _head(self._received[:end])
            self._needed = end + 4 + int(headers.get("content-length", 0))
            if len(self._received) < self._needed:
                return
            body = bytes(self._received[end + 4 : self._needed])
            del self._received[: self._needed]
            self._needed = 0
            self._busy = True
            method, path, _ = first.split(" ")
            gone = self._taker.take(method, path, headers, body, self)
            self._gone = gone if self._busy else None

    def send(self, reply: Reply) -> None:
        """Send a reply, or do what replaces it."""
        late = self._gone is not None
        self._busy, self._gone = False, None
        if self._transport.is_closing():
            return
        if reply.closes:
            self._transport.abort()
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        lines = [
            f"HTTP/1.1 {reply.status} {_REASON.get(reply.status, 'Unknown')}",
            f"Content-Type: {reply.kind}",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode()
        if reply.sent_share < 1:
            # What is written goes out first; then the connection ends.
            self._transport.write(head + body[: int(len(body) * reply.sent_share)])
            self._transport.close()
            return
        self._transport.write(head + body)
        if late and self._received:
            self.data_received(b"")


def _head(raw: bytearray) -> tuple[str, dict[str, str]]:
    first, *lines = raw.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return first, headers
