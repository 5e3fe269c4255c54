"""The port that clients ask, which may refuse them for a while, and the tests' own."""

import asyncio
import socket

from tests.judge.stub.connection import Connection
from tests.judge.stub.endpoint import Controls, Endpoint

_HOST = "127.0.0.1"


class Ports:
    """Listens according to the endpoint's mode."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._listening: socket.socket | None = None
        self._serving: asyncio.Task[asyncio.Server] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def open(self, port: int) -> tuple[int, int]:
        """Listen; return the clients' port and the port of the controls."""
        # Bound and never listening, this one keeps the port ours while nobody may connect to it.
        self._placeholder = _bound(port)
        self._port = int(self._placeholder.getsockname()[1])
        self.follow()
        controls = Controls(self._endpoint, self.follow)
        self._control = await asyncio.get_running_loop().create_server(
            lambda: Connection(controls), _HOST, 0
        )
        return self._port, int(self._control.sockets[0].getsockname()[1])

    def follow(self) -> None:
        """Be up, down, or by turns, according to the mode; called when the mode has changed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        mode = self._endpoint.mode
        if mode.flaps is not None:
            self._flap(mode.flaps, up=False)
        elif mode.is_down:
            self._down()
        else:
            self._up()

    def _flap(self, period: float, *, up: bool) -> None:
        if up:
            self._up()
        else:
            self._down()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(period, lambda: self._flap(period, up=not up))

    def _up(self) -> None:
        if self._listening is not None:
            return
        self._listening = _bound(self._port)
        # From here on the kernel takes connections; they wait until they are served.
        self._listening.listen(4096)
        loop = asyncio.get_running_loop()
        self._serving = loop.create_task(
            loop.create_server(
                lambda: Connection(self._endpoint), sock=self._listening, backlog=4096
            )
        )

    def _down(self) -> None:
        if self._serving is not None and self._listening is not None:
            if self._serving.done():
                self._serving.result().close()
            self._serving.cancel()
            self._listening.close()
        self._listening = self._serving = None
        for connection in list(self._endpoint.connections):
            connection.abort()


def _bound(port: int) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((_HOST, port))
    return made
