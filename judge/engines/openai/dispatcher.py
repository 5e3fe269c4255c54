"""One run over all requests: each goes to an endpoint, and to another where that one ends.

Prompts of one query and context go to one endpoint, whose cache then holds what they share.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

from judge.engines.openai.committer import Committer
from judge.engines.openai.endpoint_worker import HandedBackError, Lane, LaneEndedError
from judge.engines.openai.warm_up import Leading
from judge.protocol.request import Request
from study.errors import StudyError

# Requests are made in another thread, some at a time, while others are under way.
_AHEAD = 32
# So many prompts for each one under way may wait for the first one with their beginning: texts of
# 26 kB each, and enough other beginnings to keep an endpoint busy.
_HELD = 16


class _Queue:
    """What waits for one endpoint."""

    def __init__(self, lane: Lane, at_once: int) -> None:
        self.lane = lane
        self.under_way = 0
        self._at_once = at_once
        self._leading = Leading() if lane.leads else None
        self._ready: deque[Request] = deque()

    @property
    def has_room(self) -> bool:
        """Whether more may be given to it without keeping others waiting for nothing."""
        held = 0 if self._leading is None else self._leading.waiting
        return len(self._ready) < self._at_once and held < _HELD * self._at_once

    def add(self, request: Request) -> None:
        """Take a request in."""
        if self._leading is None or self._leading.admit(request):
            self._ready.append(request)

    def next(self) -> Request | None:
        """Return a request to be sent now; None where there is none, or no slot."""
        if self.lane.ended or not self._ready or self.under_way >= self._at_once:
            return None
        if not self.under_way:
            self.lane.wake()
        self.under_way += 1
        return self._ready.popleft()

    def done(self, request: Request, *, answered: bool) -> None:
        """Take note of a request's end, which may let others go."""
        self.under_way -= 1
        if self._leading is not None:
            # Before any others: a cache does not hold a beginning for long.
            self._ready.extendleft(reversed(self._leading.ended(request, answered=answered)))

    def give_back(self) -> list[Request]:
        """Return all that waits, which is no longer here."""
        left = [*self._ready, *(self._leading.give_back() if self._leading else ())]
        self._ready.clear()
        return left


class Asking:
    """Divides requests among endpoints, and keeps each of them busy."""

    def __init__(self, lanes: Sequence[Lane], committer: Committer, at_once: int) -> None:
        self._queues = [_Queue(lane, at_once) for lane in lanes]
        self._committer = committer
        self._room = asyncio.Event()
        self._tasks: asyncio.TaskGroup
        self._group: tuple[str, _Queue] | None = None
        """The group at hand, whose prompts follow each other, and where it goes."""
        self.notes: list[str] = []

    async def all(self, requests: Iterator[Request]) -> None:
        """Ask every request.

        Each task holds a slot from before its request is sent until its judgment is on disk, so no
        more than so many answers are ever at risk.

        Raises
        ------
        StudyError
            No endpoint can be asked any more, or going on makes no sense.
        """
        try:
            async with asyncio.TaskGroup() as self._tasks:
                async for request in _made_ahead(requests):
                    while (queue := self._place(request)) is None:
                        self._room.clear()
                        await self._room.wait()
                    queue.add(request)
                    self._send(queue)
        except BaseExceptionGroup as group:
            # Tasks fail together when one stops the run: the first word is the cause.
            said = [error for error in group.exceptions if isinstance(error, StudyError)]
            raise (said or group.exceptions)[0] from None
        finally:
            # What was answered is stored, whatever else happened.
            await self._committer.finish()

    def _place(self, request: Request) -> _Queue | None:
        """Return where a request goes; None while there is no room.

        A group goes to the first in its own order of endpoints that has room as its first prompt
        comes, and stays there: a slow endpoint gets fewer groups, and keeps no other waiting.
        """
        if self._group is not None:
            group, queue = self._group
            if group == request.group and not queue.lane.ended:
                return queue if queue.has_room else None
        for queue in self._ranked(request.group):
            if queue.has_room:
                self._group = (request.group, queue)
                return queue
        return None

    def _ranked(self, group: str) -> list[_Queue]:
        """Return the endpoints that can be asked, in the order of this group.

        By highest random weight (Thaler and Ravishankar 1998): where an endpoint is gone or new,
        only its own groups move.
        """
        return sorted(
            (queue for queue in self._queues if not queue.lane.ended),
            key=lambda queue: blake2b(f"{group}\0{queue.lane.url}".encode()).digest(),
            reverse=True,
        )

    def _send(self, queue: _Queue) -> None:
        while (request := queue.next()) is not None:
            self._tasks.create_task(self._one(queue, request))
            self._room.set()

    async def _one(self, queue: _Queue, request: Request) -> None:
        answered, back = False, False
        try:
            answered = await queue.lane.ask(request)
        except LaneEndedError as ended:
            back = True
            self._end(queue, ended)
        except HandedBackError:
            back = True
        queue.done(request, answered=answered)
        if answered and queue.lane.exhausted is not None:
            self._end(queue, queue.lane.exhausted)
        self._hand_on([*([request] if back else []), *self._left(queue)])
        self._send(queue)
        self._room.set()

    def _end(self, queue: _Queue, why: LaneEndedError) -> None:
        """Ask an endpoint no more; the last one's end is the end of the run."""
        if queue.lane.ended:
            return
        queue.lane.end()
        if all(other.lane.ended for other in self._queues):
            raise why
        self.notes.append(f"{queue.lane.url} was given up; others took its part. {why.why}")

    def _left(self, queue: _Queue) -> list[Request]:
        return queue.give_back() if queue.lane.ended else []

    def _hand_on(self, requests: Sequence[Request]) -> None:
        """Give requests of an ended endpoint to others, room or none: there are only so many."""
        for request in requests:
            other = self._ranked(request.group)[0]
            other.add(request)
            self._send(other)


async def _made_ahead(requests: Iterator[Request]) -> AsyncIterator[Request]:
    """Yield requests that another thread makes, so that the loop goes on meanwhile."""

    def some() -> list[Request]:
        return list(islice(requests, _AHEAD))

    upcoming = asyncio.create_task(asyncio.to_thread(some))
    try:
        while made := await upcoming:
            upcoming = asyncio.create_task(asyncio.to_thread(some))
            for request in made:
                yield request
    finally:
        upcoming.cancel()
