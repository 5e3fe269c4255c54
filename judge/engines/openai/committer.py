"""Answers to disk: one transaction at a time, each with all the answers that wait for it."""

import asyncio
from collections.abc import Callable, Sequence

from judge.protocol.exchange import Answer, Request

Pair = tuple[Request, Answer]


class Committer:
    """Commits in another thread; whoever hands in an answer waits until it is on disk."""

    def __init__(self, commit: Callable[[Sequence[Pair]], None]) -> None:
        self._commit = commit
        self._waiting: list[tuple[Pair, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def commit(self, pair: Pair) -> None:
        """Return when the answer is committed; raise what the database says otherwise."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((pair, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await done

    async def finish(self) -> None:
        """Commit what still waits, also when the run is being stopped."""
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._waiting:
            some, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._commit, [pair for pair, _ in some])
            except Exception as error:  # noqa: BLE001  (told to everyone who waits)
                for _, done in some:
                    if not done.done():
                        done.set_exception(error)
            else:
                for _, done in some:
                    if not done.done():
                        done.set_result(None)
