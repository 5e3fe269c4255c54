"""Sends the requests of a run to an endpoint, as many at once as there are slots."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice

from judge.engines.openai.committer import Committer
from judge.engines.openai.endpoint_worker import EndpointWorker
from judge.protocol.exchange import Request
from study.errors import StudyError

# Requests are prepared in another thread, some at a time, while others are under way.
_AHEAD = 32


async def ask_all(
    worker: EndpointWorker, requests: Iterator[Request], committer: Committer, slots: int
) -> None:
    """Ask every request.

    A slot is held from before a request is sent until its judgment is on disk, so at most `slots`
    answers are ever at risk.

    Raises
    ------
    StudyError
        The endpoint cannot be asked any more, or continuing makes no sense.
    """
    free = asyncio.Semaphore(slots)
    under_way = 0

    async def ask(request: Request) -> None:
        nonlocal under_way
        try:
            await worker.ask(request)
        finally:
            under_way -= 1
            free.release()

    try:
        async with asyncio.TaskGroup() as tasks:
            async for request in _prepared_ahead(requests):
                await free.acquire()
                if not under_way:
                    worker.restart_silence()
                under_way += 1
                tasks.create_task(ask(request))
    except BaseExceptionGroup as group:
        # Tasks fail together when one of them stops the run: the first error is the cause.
        errors = [error for error in group.exceptions if isinstance(error, StudyError)]
        raise (errors or group.exceptions)[0] from None
    finally:
        # What was answered is stored, whatever else happened.
        await committer.finish()


async def _prepared_ahead(requests: Iterator[Request]) -> AsyncIterator[Request]:
    """Yield requests that another thread prepares, so that the event loop goes on meanwhile."""

    def some() -> list[Request]:
        return list(islice(requests, _AHEAD))

    upcoming = asyncio.create_task(asyncio.to_thread(some))
    try:
        while prepared := await upcoming:
            upcoming = asyncio.create_task(asyncio.to_thread(some))
            for request in prepared:
                yield request
    finally:
        upcoming.cancel()
