"""How many prompts are under way at once: as many as the server accepts without complaint."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

_START = 16


class ConcurrencyLimit:
    """A limit on prompts under way that grows with answers and halves with complaints.

    It doubles with each round of answers until the first complaint, and grows by one a round
    afterwards. Complaints about prompts sent before the last halving do not count again.
    """

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self.most = most
        self.limit = float(min(_START, most))
        self.under_way = 0
        self._clock = clock
        self._has_complaints = False
        self._halved_at = float("-inf")
        self._closed_until = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self) -> float:
        """Wait for a place; return the time from which the prompt is under way."""
        if not self._waiting and self._is_open(self._clock()):
            self.under_way += 1
            return self._clock()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # The place was assigned just before: the next in line gets it.
                self.release()
            raise
        return self._clock()

    def release(self) -> None:
        """Give a place back."""
        self.under_way -= 1
        self._admit()

    def grow(self) -> None:
        """Raise the limit, after an answer."""
        step = 1 / self.limit if self._has_complaints else 1.0
        self.limit = min(float(self.most), self.limit + step)

    def halve(self, sent_at: float, wait: float | None = None) -> None:
        """Halve the limit, after a complaint; send nothing for `wait` seconds."""
        if sent_at > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = self._clock()
            self._has_complaints = True
        if wait:
            self.pause(wait)

    def pause(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def _is_open(self, now: float) -> bool:
        return self.under_way + 1 <= self.limit and now >= self._closed_until

    def _admit(self) -> None:
        # One look at the clock: if a pause ended between two, nothing would reopen the limit.
        now = self._clock()
        while self._waiting and self._is_open(now):
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
        seconds = self._closed_until - now
        if self._waiting and seconds > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._reopen)

    def _reopen(self) -> None:
        self._timer = None
        self._admit()
