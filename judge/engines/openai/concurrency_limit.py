"""How many prompts are under way at once: as many as the server takes without complaint."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

_START = 16


class Pace:
    """A bound on prompts under way that grows with answers and halves with complaints.

    It doubles with each round of answers until the first complaint, and grows by one a round
    afterwards. Complaints about prompts sent before the last halving do not count again.
    """

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self.most = most
        self.limit = float(min(_START, most))
        self.under_way = 0
        self._clock = clock
        self._cautious = False
        self._halved_at = float("-inf")
        self._closed_until = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self) -> float:
        """Wait for a place; return the moment from which the prompt is under way."""
        if not self._waiting and self._open():
            self.under_way += 1
            return self._clock()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # The turn was given just before: it goes to the next in line.
                self.leave()
            raise
        return self._clock()

    def leave(self) -> None:
        """Give a place back."""
        self.under_way -= 1
        self._admit()

    def answered(self) -> None:
        """An answer came: the bound may grow."""
        step = 1 / self.limit if self._cautious else 1.0
        self.limit = min(float(self.most), self.limit + step)

    def complained(self, sent_at: float, wait: float | None = None) -> None:
        """The server asked for less: halve the bound, and send nothing for `wait` seconds."""
        if sent_at > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = self._clock()
            self._cautious = True
        if wait:
            self.close_for(wait)

    def close_for(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def _open(self) -> bool:
        return self.under_way + 1 <= self.limit and self._clock() >= self._closed_until

    def _admit(self) -> None:
        while self._waiting and self._open():
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
        left = self._closed_until - self._clock()
        if self._waiting and left > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(left, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._admit()
