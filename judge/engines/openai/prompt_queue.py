"""The prompts that are still to be asked: fresh ones, and those that wait for a further try."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from time import monotonic

from judge.protocol.exchange import Request

# Prompts that wait are kept in memory: with so many, no fresh one is taken.
_MOST_WAITING = 1024


@dataclass
class OpenPrompt:
    """A prompt without an answer so far, and what its tries met."""

    request: Request
    failures: float = 0.0
    """Failures that concern this prompt; a complaint of the server counts in part."""
    refusals: int = 0
    """Errors that further tries may not mend."""
    waits: int = 0
    complained_at: float = float("-inf")
    """When the server last complained (429, 503) about it."""


class PromptQueue:
    """Gives out prompts: those whose wait is over, then fresh ones. Waiting occupies no slot."""

    def __init__(self, requests: AsyncIterator[Request]) -> None:
        self._requests = requests
        self._is_exhausted = False
        self._waiting: list[tuple[float, int, OpenPrompt]] = []
        self._numbers = count()
        self._under_way = 0
        self._choosing = asyncio.Lock()
        self._changed = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        """Whether no prompt is under way or waits."""
        return not self._under_way and not self._waiting

    async def next(self) -> OpenPrompt | None:
        """Wait for a prompt; return None when each has been completed."""
        async with self._choosing:
            while True:
                self._changed.clear()
                wait = self._waiting[0][0] - monotonic() if self._waiting else None
                if wait is not None and wait <= 0:
                    return self._given(heapq.heappop(self._waiting)[2])
                if not self._is_exhausted and len(self._waiting) < _MOST_WAITING:
                    request = await anext(self._requests, None)
                    if request is not None:
                        return self._given(OpenPrompt(request))
                    self._is_exhausted = True
                elif self.is_idle:
                    return None
                else:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), wait)

    def _given(self, prompt: OpenPrompt) -> OpenPrompt:
        self._under_way += 1
        return prompt

    def finished(self) -> None:
        """Count a prompt as completed."""
        self._under_way -= 1
        self._changed.set()

    def again(self, prompt: OpenPrompt, wait: float) -> None:
        """Give a prompt out again after `wait` seconds."""
        heapq.heappush(self._waiting, (monotonic() + wait, next(self._numbers), prompt))
        self.finished()
